// libcurl's setters and getters are variadic, which Swift does not import: one typed wrapper for each kind of value.
#pragma once
#include <curl/curl.h>

static inline CURLcode bandferry_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

/// libcurl copies the string, except for CURLOPT_POSTFIELDS.
static inline CURLcode bandferry_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

/// The bytes are not copied: they must outlive the transfer.
static inline CURLcode bandferry_curl_set_body(CURL *handle, const void *bytes, curl_off_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, count);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_POSTFIELDS, (const char *)bytes) : code;
}

static inline CURLcode bandferry_curl_set_headers(CURL *handle, struct curl_slist *headers) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

/// `buffer` holds CURL_ERROR_SIZE bytes and outlives the handle's use.
static inline CURLcode bandferry_curl_set_error_buffer(CURL *handle, char *buffer) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

typedef size_t (*bandferry_curl_write)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode bandferry_curl_set_write(CURL *handle, bandferry_curl_write write, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) : code;
}

typedef int (*bandferry_curl_watch)(CURL *handle, curl_infotype type, char *bytes, size_t count, void *context);

/// Lets the transfer's own traffic be seen; with OpenSSL also the handshake's messages.
static inline CURLcode bandferry_curl_set_watch(CURL *handle, bandferry_curl_watch watch, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, watch);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_DEBUGDATA, context);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L) : code;
}

static inline CURLcode bandferry_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
