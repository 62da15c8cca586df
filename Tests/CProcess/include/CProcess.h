// What Swift's Glibc module lacks for the programs that tests run. Header only; see CLinux.h for why it is not _GNU_SOURCE.
#pragma once
#include <linux/memfd.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc 2.34: the program inherits no descriptor from `from` on.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// A file in memory without a name, closed in programs that are started; -1 with errno.
static inline int test_memory_file(void) { return (int)syscall(SYS_memfd_create, "spool", MFD_CLOEXEC); }
