// libcurl, loaded when the first client is made: a gateway that uploads nothing does without it, and linking it costs 5.5 MiB
// of memory from the start, most of it for the thirty libraries that Debian's libcurl is linked to. Its header gives the
// types; nothing here refers to a function of the library but by name.
//
// libcurl's setters and getters are variadic, which Swift does not import: one typed wrapper for each kind of value.
#pragma once
#include <curl/curl.h>
#include <dlfcn.h>

typedef struct {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_reset) *easy_reset;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_easy_nextheader) *easy_nextheader;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_multi_init) *multi_init;
    __typeof__(curl_multi_cleanup) *multi_cleanup;
    __typeof__(curl_multi_add_handle) *multi_add_handle;
    __typeof__(curl_multi_remove_handle) *multi_remove_handle;
    __typeof__(curl_multi_perform) *multi_perform;
    __typeof__(curl_multi_poll) *multi_poll;
    __typeof__(curl_multi_info_read) *multi_info_read;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
} curl_functions;

// True when the library of this name is installed, and knows all of them.
static inline _Bool bandferry_curl_load(const char *name, curl_functions *functions) {
    // Lazily, as the linker does it: of those thirty libraries most functions are never called.
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return 0;
#define BANDFERRY_CURL_FIND(function) \
    if (!(*(void **)&functions->function = dlsym(library, "curl_" #function))) return 0
    BANDFERRY_CURL_FIND(global_init);
    BANDFERRY_CURL_FIND(easy_init);
    BANDFERRY_CURL_FIND(easy_cleanup);
    BANDFERRY_CURL_FIND(easy_reset);
    BANDFERRY_CURL_FIND(easy_setopt);
    BANDFERRY_CURL_FIND(easy_getinfo);
    BANDFERRY_CURL_FIND(easy_nextheader);
    BANDFERRY_CURL_FIND(easy_strerror);
    BANDFERRY_CURL_FIND(multi_init);
    BANDFERRY_CURL_FIND(multi_cleanup);
    BANDFERRY_CURL_FIND(multi_add_handle);
    BANDFERRY_CURL_FIND(multi_remove_handle);
    BANDFERRY_CURL_FIND(multi_perform);
    BANDFERRY_CURL_FIND(multi_poll);
    BANDFERRY_CURL_FIND(multi_info_read);
    BANDFERRY_CURL_FIND(slist_append);
    BANDFERRY_CURL_FIND(slist_free_all);
#undef BANDFERRY_CURL_FIND
    return 1;
}

static inline CURLcode bandferry_curl_set_long(curl_functions curl, CURL *handle, CURLoption option, long value) {
    return curl.easy_setopt(handle, option, value);
}

/// libcurl copies the string, except for CURLOPT_POSTFIELDS.
static inline CURLcode bandferry_curl_set_string(
    curl_functions curl, CURL *handle, CURLoption option, const char *value) {
    return curl.easy_setopt(handle, option, value);
}

/// The bytes are not copied: they must outlive the transfer.
static inline CURLcode bandferry_curl_set_body(
    curl_functions curl, CURL *handle, const void *bytes, curl_off_t count) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, count);
    return code == CURLE_OK ? curl.easy_setopt(handle, CURLOPT_POSTFIELDS, (const char *)bytes) : code;
}

static inline CURLcode bandferry_curl_set_headers(
    curl_functions curl, CURL *handle, struct curl_slist *headers) {
    return curl.easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

/// `buffer` holds CURL_ERROR_SIZE bytes and outlives the handle's use.
static inline CURLcode bandferry_curl_set_error_buffer(curl_functions curl, CURL *handle, char *buffer) {
    return curl.easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

typedef size_t (*bandferry_curl_write)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode bandferry_curl_set_write(
    curl_functions curl, CURL *handle, bandferry_curl_write write, void *context) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    return code == CURLE_OK ? curl.easy_setopt(handle, CURLOPT_WRITEDATA, context) : code;
}

typedef int (*bandferry_curl_watch)(CURL *handle, curl_infotype type, char *bytes, size_t count, void *context);

/// Lets the transfer's own traffic be seen; with OpenSSL also the handshake's messages.
static inline CURLcode bandferry_curl_set_watch(
    curl_functions curl, CURL *handle, bandferry_curl_watch watch, void *context) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_DEBUGFUNCTION, watch);
    if (code == CURLE_OK) code = curl.easy_setopt(handle, CURLOPT_DEBUGDATA, context);
    return code == CURLE_OK ? curl.easy_setopt(handle, CURLOPT_VERBOSE, 1L) : code;
}

static inline CURLcode bandferry_curl_get_long(curl_functions curl, CURL *handle, CURLINFO info, long *value) {
    return curl.easy_getinfo(handle, info, value);
}
