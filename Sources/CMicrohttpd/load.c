#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>

struct bandferry_mhd_library bandferry_mhd;

static bool is_loaded;

static void load(void)
{
    // Lazily, as the linker does it: most functions of the libraries behind it are never called.
    void *library = dlopen("libmicrohttpd.so.12", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return;
    // GnuTLS is found through it: dlsym(3) looks at what a library depends on, too.
#define BANDFERRY_MHD_FIND(function) \
    *(void **) &bandferry_mhd.function = dlsym(library, #function); \
    if (bandferry_mhd.function == NULL) \
        return;
    BANDFERRY_MHD_FUNCTIONS(BANDFERRY_MHD_FIND)
#undef BANDFERRY_MHD_FIND
    is_loaded = true;
}

bool bandferry_mhd_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}
