// What Swift's Glibc module lacks. Header only.
//
// No _GNU_SOURCE here: it changes fd_set, and the two modules' definitions of it must agree. A GNU-only call is
// declared below by hand instead.
#pragma once
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
