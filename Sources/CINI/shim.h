#pragma once
#include <ini.h>

// Debian's library takes its limits from variables. Swift can't write a C variable safely; this writes the
// same value each time. The buffer is on the parser's stack.
static inline void bandferry_ini_set_line_limit(int bytes) {
    ini_max_line = bytes;
}
