// GLib's time zones, loaded when the first zone is looked up: most gateways never do, and linking GLib costs 0.7 MiB of
// memory from the start. Its headers would link it too, so the functions that are used are declared here; they
// are part of GLib's stable ABI since 2.68 (GTimeZone in its reference manual).
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef struct glib_time_zone *zone_handle;
enum { glib_time_type_universal = 2 };  // G_TIME_TYPE_UNIVERSAL

typedef struct {
    zone_handle (*new_identifier)(const char *identifier);
    void (*unref)(zone_handle zone);
    int (*find_interval)(zone_handle zone, int type, int64_t time);
    int32_t (*get_offset)(zone_handle zone, int interval);
} zone_functions;

// True when GLib is installed, and knows all of them.
static inline _Bool zone_load(zone_functions *functions) {
    void *library = dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    *(void **)&functions->new_identifier = dlsym(library, "g_time_zone_new_identifier");
    *(void **)&functions->unref = dlsym(library, "g_time_zone_unref");
    *(void **)&functions->find_interval = dlsym(library, "g_time_zone_find_interval");
    *(void **)&functions->get_offset = dlsym(library, "g_time_zone_get_offset");
    return functions->new_identifier && functions->unref && functions->find_interval && functions->get_offset;
}
