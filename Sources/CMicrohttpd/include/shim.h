#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "library.h"
#include "tls.h"

// MHD_start_daemon is variadic, which Swift does not import.

// Leaves the escapes in paths and queries: only the program knows which slash is a separator.
static inline size_t bandferry_mhd_keep_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
    (void) cls;
    (void) connection;
    return strlen(text);
}

// What stands where a request's own context would, when its query has more parameters than any request needs: the address of
// nothing.
#define BANDFERRY_MHD_CROWDED_QUERY ((void *) (uintptr_t) 1)

static inline bool bandferry_mhd_is_crowded_query(const void *context)
{
    return context == BANDFERRY_MHD_CROWDED_QUERY;
}

// The library makes a record of each parameter, in the memory of the connection, and where that ends it drops the connection
// or leaves it without an answer. It calls this before, with the text that it will read the parameters from: an array of its
// own that may be written to, whatever the type says.
static inline void *bandferry_mhd_count_parameters(void *cls, const char *target, struct MHD_Connection *connection)
{
    (void) connection;
    const char *query = strchr(target, '?');
    if (query == NULL)
        return NULL;
    size_t parameters = 1;
    for (const char *at = query; *at != 0; at++)
        parameters += *at == '&';
    if (parameters <= (size_t) (uintptr_t) cls)
        return NULL;
    ((char *) query)[1] = 0;
    return BANDFERRY_MHD_CROWDED_QUERY;
}

struct bandferry_mhd_options {
    int listen_socket;
    size_t connection_memory;
    unsigned int connections;
    unsigned int idle_seconds;
    // Of a query.
    unsigned int parameters;
    // NULL = plain HTTP.
    struct bandferry_tls_slot *tls;
    const char *tls_priorities;
    MHD_AcceptPolicyCallback accept;
    MHD_NotifyConnectionCallback notify;
    MHD_AccessHandlerCallback handler;
    MHD_RequestCompletedCallback completed;
    // Handed to every callback.
    void *cls;
};

static inline struct MHD_Daemon *bandferry_mhd_start(const struct bandferry_mhd_options *options)
{
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) options->tls_priorities},
        {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *) &bandferry_tls_retrieve},
        {MHD_OPTION_END, 0, NULL}};
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME;
    if (options->tls != NULL)
        flags |= MHD_USE_TLS;
    return bandferry_mhd.MHD_start_daemon(
        flags, 0, options->accept, options->cls, options->handler, options->cls,
        MHD_OPTION_LISTEN_SOCKET, options->listen_socket,
        MHD_OPTION_NOTIFY_CONNECTION, options->notify, options->cls,
        MHD_OPTION_NOTIFY_COMPLETED, options->completed, options->cls,
        MHD_OPTION_URI_LOG_CALLBACK, &bandferry_mhd_count_parameters, (void *) (uintptr_t) options->parameters,
        MHD_OPTION_UNESCAPE_CALLBACK, &bandferry_mhd_keep_escaped, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
        MHD_OPTION_CONNECTION_LIMIT, options->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
        // RFC 9112, 3 and 3.2: no space in a target, and a Host in every HTTP/1.1 request.
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_ARRAY, options->tls != NULL ? tls : none,
        MHD_OPTION_END);
}

// MHD_get_connection_info is variadic too.

static inline const struct sockaddr *bandferry_mhd_client_address(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        bandferry_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

// -1 when the library does not say.
static inline int bandferry_mhd_socket(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        bandferry_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

// From the first byte of a request's line to its body.
static inline size_t bandferry_mhd_head_size(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        bandferry_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

// Whether it takes a line feed alone, a folded line and a NUL, and says nothing of them. From 1.0 on it refuses
// them when it is strict.
static inline bool bandferry_mhd_is_lax(void)
{
    // 0.9.75 is "0.9.75".
    return strncmp(bandferry_mhd.MHD_get_version(), "0.", 2) == 0;
}

// Versions differ in whether Swift sees these enumerations as closed, and so in the names of their cases.

static inline enum MHD_Result bandferry_mhd_result(bool go_on)
{
    return go_on ? MHD_YES : MHD_NO;
}

static inline bool bandferry_mhd_is_start(enum MHD_ConnectionNotificationCode code)
{
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

static inline int bandferry_mhd_each_header(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *cls)
{
    return bandferry_mhd.MHD_get_connection_values_n(connection, MHD_HEADER_KIND, iterator, cls);
}

static inline int bandferry_mhd_each_argument(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN iterator, void *cls)
{
    return bandferry_mhd.MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, iterator, cls);
}

static inline struct MHD_Response *bandferry_mhd_response(size_t size, const void *bytes)
{
    return bandferry_mhd.MHD_create_response_from_buffer(size, (void *) bytes, MHD_RESPMEM_MUST_COPY);
}

// What Swift calls itself.

static inline const char *bandferry_tls_text(int code)
{
    return bandferry_mhd.gnutls_strerror(code);
}

static inline void bandferry_mhd_add_header(struct MHD_Response *response, const char *name, const char *value)
{
    bandferry_mhd.MHD_add_response_header(response, name, value);
}

static inline enum MHD_Result bandferry_mhd_queue(
    struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response)
{
    return bandferry_mhd.MHD_queue_response(connection, status, response);
}

static inline void bandferry_mhd_release(struct MHD_Response *response)
{
    bandferry_mhd.MHD_destroy_response(response);
}

static inline void bandferry_mhd_suspend(struct MHD_Connection *connection)
{
    bandferry_mhd.MHD_suspend_connection(connection);
}

static inline void bandferry_mhd_resume(struct MHD_Connection *connection)
{
    bandferry_mhd.MHD_resume_connection(connection);
}

static inline int bandferry_mhd_quiesce(struct MHD_Daemon *daemon)
{
    return bandferry_mhd.MHD_quiesce_daemon(daemon);
}

static inline void bandferry_mhd_stop(struct MHD_Daemon *daemon)
{
    bandferry_mhd.MHD_stop_daemon(daemon);
}
