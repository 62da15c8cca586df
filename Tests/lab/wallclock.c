// Gives a program another wall clock, loaded with LD_PRELOAD: CLOCK_REALTIME is off by so many ms, and the kernel says that it
// is synchronised or not. WALLCLOCK_FILE holds "OFFSET_MS 0|1" and is read at each call, so that a test can set the clock of a
// running program. With WALLCLOCK_BOOTTIME set CLOCK_BOOTTIME is off by as much, as if the machine had slept. Other clocks are
// left alone.
//
//   cc -shared -fPIC -O2 -o wallclock.so wallclock.c
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static int setting(long long *offset) {
    char text[64] = {0};
    const char *path = getenv("WALLCLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    *offset = 0;
    if (file < 0) return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return 0;
    char *end = text;
    *offset = strtoll(text, &end, 10);
    return (int)strtol(end, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || !(clock == CLOCK_REALTIME || (clock == CLOCK_BOOTTIME && getenv("WALLCLOCK_BOOTTIME")))) return result;
    long long offset;
    setting(&offset);
    long long now = time->tv_sec * 1000LL + time->tv_nsec / 1000000 + offset;
    time->tv_sec = now / 1000;
    time->tv_nsec = now % 1000 * 1000000 + time->tv_nsec % 1000000;
    return 0;
}

int adjtimex(struct timex *state) {
    long long offset;
    int synchronised = setting(&offset);
    int result = (int)syscall(SYS_adjtimex, state);
    if (result < 0) return result;
    state->maxerror = 20000;
    state->status = synchronised ? state->status & ~STA_UNSYNC : state->status | STA_UNSYNC;
    return synchronised ? TIME_OK : TIME_ERROR;
}
