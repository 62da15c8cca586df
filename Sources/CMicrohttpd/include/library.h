// libmicrohttpd and the GnuTLS that it stands on, loaded when the first server or identity is made: a gateway that shows no
// metrics does without them. Their headers give the types; nothing here refers to a function of theirs but by name.
#pragma once
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdbool.h>

#define BANDFERRY_MHD_FUNCTIONS(EACH) \
    EACH(MHD_add_response_header) \
    EACH(MHD_create_response_from_buffer) \
    EACH(MHD_destroy_response) \
    EACH(MHD_get_connection_info) \
    EACH(MHD_get_connection_values_n) \
    EACH(MHD_get_version) \
    EACH(MHD_queue_response) \
    EACH(MHD_quiesce_daemon) \
    EACH(MHD_resume_connection) \
    EACH(MHD_start_daemon) \
    EACH(MHD_stop_daemon) \
    EACH(MHD_suspend_connection) \
    EACH(gnutls_certificate_allocate_credentials) \
    EACH(gnutls_certificate_free_credentials) \
    EACH(gnutls_certificate_set_x509_key_mem) \
    EACH(gnutls_pcert_deinit) \
    EACH(gnutls_pcert_export_x509) \
    EACH(gnutls_pcert_list_import_x509_raw) \
    EACH(gnutls_privkey_deinit) \
    EACH(gnutls_privkey_import_x509_raw) \
    EACH(gnutls_privkey_init) \
    EACH(gnutls_session_get_ptr) \
    EACH(gnutls_strerror) \
    EACH(gnutls_x509_crt_deinit) \
    EACH(gnutls_x509_crt_get_expiration_time)

struct bandferry_mhd_library {
#define BANDFERRY_MHD_FIELD(function) __typeof__(function) *function;
    BANDFERRY_MHD_FUNCTIONS(BANDFERRY_MHD_FIELD)
#undef BANDFERRY_MHD_FIELD
};

// Written once, by the first `bandferry_mhd_load`.
extern struct bandferry_mhd_library bandferry_mhd;

// True when the library is installed and knows all of them. Any thread may call it, any number of times; before it no other
// function here.
bool bandferry_mhd_load(void);
