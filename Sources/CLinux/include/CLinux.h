// What Swift's Glibc module lacks.
//
// No _GNU_SOURCE here: it changes fd_set, and the two modules' definitions of it must agree. A GNU-only call is
// declared below by hand instead.
#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

// The kernel's struct mmsghdr, which glibc shows to GNU sources only.
struct linux_message {
    struct msghdr header;
    unsigned int length;
};

// recvmmsg(2) without waiting: the number of messages received, or -1 with errno.
static inline int linux_receive_messages(int socket, struct linux_message *messages, unsigned int count) {
    return (int)syscall(SYS_recvmmsg, socket, messages, count, MSG_DONTWAIT, (void *)0);
}

// Names the calling thread, at most 15 bytes, for ps and gdb.
static inline void linux_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Bytes that wait in a socket; SIOCINQ.
int ioctl(int descriptor, unsigned long request, ...);
static inline int linux_bytes_waiting(int socket) {
    int count = 0;
    return ioctl(socket, 0x541B, &count) == 0 ? count : 0;
}

// adjtimex(2), asking only: 1 = the kernel counts its wall clock as disciplined. `max_error` in microseconds.
static inline int linux_clock_is_synchronised(long *max_error) {
    struct timex state = {.modes = 0};
    int result = adjtimex(&state);
    *max_error = state.maxerror;
    return result >= 0 && result != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

// From now on each of these signals is a byte, its number, in the pipe whose reading end is returned; -1 with errno.
// To be called once.
int linux_listen_to_signals(const int *numbers, int count);

// Before the threads that allocate; mallopt(3). False when malloc will not have it.
static inline _Bool linux_limit_malloc_arenas(int count) { return mallopt(M_ARENA_MAX, count) == 1; }

// An exclusive lock on a whole open file, held until it is given back or the last copy of the descriptor is closed:
// F_OFD_SETLK of fcntl(2), which glibc shows to GNU sources only. 0, or -1 with errno (EAGAIN: another has it).
static inline int linux_lock_file(int descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, 37, &lock);
}

// Gives it back, for all copies of the descriptor.
static inline int linux_unlock_file(int descriptor) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, 37, &lock);
}

// Whether another open file has that lock; F_OFD_GETLK. It asks only: a lock taken to try would be in another's way.
static inline _Bool linux_is_file_locked(int descriptor) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, 36, &lock) == 0 && lock.l_type != F_UNLCK;
}
