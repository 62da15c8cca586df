#pragma once
#include <microhttpd.h>
#include <stdbool.h>

// MHD_start_daemon is variadic, which Swift does not import.

// Leaves the escapes in paths and queries: only the program knows which slash is a separator.
static inline size_t bandferry_mhd_keep_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
    size_t length = 0;
    (void) cls;
    (void) connection;
    while (0 != text[length])
        length++;
    return length;
}

static inline struct MHD_Daemon *bandferry_mhd_start(
    int listen_socket, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed, void *cls,
    size_t connection_memory, unsigned int connections, unsigned int connections_per_address,
    unsigned int idle_seconds)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME, 0, NULL, NULL, handler, cls,
        MHD_OPTION_LISTEN_SOCKET, listen_socket,
        MHD_OPTION_NOTIFY_COMPLETED, completed, cls,
        MHD_OPTION_UNESCAPE_CALLBACK, &bandferry_mhd_keep_escaped, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections_per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_END);
}

// Versions differ in whether Swift sees these enumerations as closed, and so in the names of their cases.

static inline enum MHD_Result bandferry_mhd_result(bool go_on)
{
    return go_on ? MHD_YES : MHD_NO;
}

static inline int bandferry_mhd_each_header(
    struct MHD_Connection *connection, MHD_KeyValueIterator iterator, void *cls)
{
    return MHD_get_connection_values(connection, MHD_HEADER_KIND, iterator, cls);
}

static inline int bandferry_mhd_each_argument(
    struct MHD_Connection *connection, MHD_KeyValueIterator iterator, void *cls)
{
    return MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, iterator, cls);
}

static inline struct MHD_Response *bandferry_mhd_response(size_t size, const void *bytes)
{
    return MHD_create_response_from_buffer(size, (void *) bytes, MHD_RESPMEM_MUST_COPY);
}
