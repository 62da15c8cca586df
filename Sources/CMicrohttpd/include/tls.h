#pragma once
#include "library.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// A certificate chain and its key, as GnuTLS wants them for a handshake.
struct bandferry_tls_identity {
    gnutls_pcert_st *chain;
    unsigned int count;
    gnutls_privkey_t key;
    // When the leaf expires.
    time_t expires;
};

// What the handshakes of one server use. Replaced while they go on.
struct bandferry_tls_slot {
    struct bandferry_tls_identity *current;
};

static inline void bandferry_tls_store(struct bandferry_tls_slot *slot, struct bandferry_tls_identity *identity)
{
    __atomic_store_n(&slot->current, identity, __ATOMIC_RELEASE);
}

static inline void bandferry_tls_free(struct bandferry_tls_identity *identity)
{
    if (identity == NULL)
        return;
    for (unsigned int index = 0; index < identity->count; index++)
        bandferry_mhd.gnutls_pcert_deinit(&identity->chain[index]);
    free(identity->chain);
    if (identity->key != NULL)
        bandferry_mhd.gnutls_privkey_deinit(identity->key);
    free(identity);
}

// The most certificates that a chain may have.
#define BANDFERRY_TLS_CHAIN 16

static inline int bandferry_tls_import(
    struct bandferry_tls_identity *identity, const gnutls_datum_t *certificate, const gnutls_datum_t *key)
{
    identity->chain = calloc(BANDFERRY_TLS_CHAIN, sizeof(gnutls_pcert_st));
    if (identity->chain == NULL)
        return GNUTLS_E_MEMORY_ERROR;
    unsigned int count = BANDFERRY_TLS_CHAIN;
    int code = bandferry_mhd.gnutls_pcert_list_import_x509_raw(
        identity->chain, &count, certificate, GNUTLS_X509_FMT_PEM, GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED);
    if (code < 0)
        return code;
    identity->count = count;
    gnutls_x509_crt_t leaf;
    code = bandferry_mhd.gnutls_pcert_export_x509(&identity->chain[0], &leaf);
    if (code < 0)
        return code;
    identity->expires = bandferry_mhd.gnutls_x509_crt_get_expiration_time(leaf);
    bandferry_mhd.gnutls_x509_crt_deinit(leaf);
    code = bandferry_mhd.gnutls_privkey_init(&identity->key);
    if (code < 0)
        return code;
    return bandferry_mhd.gnutls_privkey_import_x509_raw(identity->key, key, GNUTLS_X509_FMT_PEM, NULL, 0);
}

// The key must be the certificate's, and both of a kind that this GnuTLS takes: it checks that itself.
static inline int bandferry_tls_match(const gnutls_datum_t *certificate, const gnutls_datum_t *key)
{
    gnutls_certificate_credentials_t credentials;
    int code = bandferry_mhd.gnutls_certificate_allocate_credentials(&credentials);
    if (code < 0)
        return code;
    code = bandferry_mhd.gnutls_certificate_set_x509_key_mem(credentials, certificate, key, GNUTLS_X509_FMT_PEM);
    bandferry_mhd.gnutls_certificate_free_credentials(credentials);
    return code;
}

// Reads both from PEM. NULL and GnuTLS's code when they are no pair.
static inline struct bandferry_tls_identity *bandferry_tls_load(
    const unsigned char *certificate, unsigned int certificate_size, const unsigned char *key,
    unsigned int key_size, int *code)
{
    gnutls_datum_t certificate_datum = {(unsigned char *) certificate, certificate_size};
    gnutls_datum_t key_datum = {(unsigned char *) key, key_size};
    *code = bandferry_tls_match(&certificate_datum, &key_datum);
    if (*code < 0)
        return NULL;
    struct bandferry_tls_identity *identity = calloc(1, sizeof(*identity));
    if (identity == NULL) {
        *code = GNUTLS_E_MEMORY_ERROR;
        return NULL;
    }
    *code = bandferry_tls_import(identity, &certificate_datum, &key_datum);
    if (*code < 0) {
        bandferry_tls_free(identity);
        return NULL;
    }
    return identity;
}

// gnutls_certificate_retrieve_function3. libmicrohttpd keeps the connection as the session's pointer, and the
// slot is the connection's socket context.
static inline int bandferry_tls_retrieve(
    gnutls_session_t session, const struct gnutls_cert_auth_info_st *info, gnutls_pcert_st **chain,
    unsigned int *count, gnutls_ocsp_data_st **ocsp, unsigned int *ocsp_count, gnutls_privkey_t *key,
    unsigned int *flags)
{
    (void) info;
    struct MHD_Connection *connection = bandferry_mhd.gnutls_session_get_ptr(session);
    const union MHD_ConnectionInfo *context =
        connection == NULL ? NULL : bandferry_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct bandferry_tls_slot *slot = context == NULL ? NULL : context->socket_context;
    struct bandferry_tls_identity *identity =
        slot == NULL ? NULL : __atomic_load_n(&slot->current, __ATOMIC_ACQUIRE);
    if (identity == NULL)
        return -1;
    *chain = identity->chain;
    *count = identity->count;
    *key = identity->key;
    *ocsp = NULL;
    *ocsp_count = 0;
    // No GNUTLS_CERT_RETR_DEINIT_ALL: they stay ours.
    *flags = 0;
    return 0;
}
