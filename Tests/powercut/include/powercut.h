// A VFS for SQLite that can lose what was not synced, as a power cut does, and that can fail on demand.
//
// Two ways to use it:
//  - compiled with -DPOWERCUT_PRELOAD to a shared library and loaded with LD_PRELOAD, it becomes the default VFS of
//    any program; environment variables steer it (see powercut.c). `kill -9` is then a power cut.
//  - linked into a test, `powercut_register` adds it under the name "powercut". A copy of the files on the
//    disk is then what a power cut at that moment would leave.
#pragma once

// Registers the VFS "powercut" once, without making it the default. 0 = done.
int powercut_register(void);

enum powercut_fault {
    POWERCUT_IOERR = 1,     // every kind of call, with the SQLITE_IOERR_… of its kind
    POWERCUT_FULL = 2,      // writes only, with SQLITE_FULL
    POWERCUT_READONLY = 3,  // writes only, with SQLITE_READONLY
    POWERCUT_CORRUPT = 4    // reads only, with SQLITE_CORRUPT, as of a page that is not what it should be
};

// Lets the `nth` call (from 1) on a file whose path contains `match` fail, and with `forever` every one after it.
// One fault at a time in a process; arming a new one replaces it.
void powercut_arm(const char *match, enum powercut_fault fault, long nth, int forever);
// Ends the fault. Returns how many calls were counted since `powercut_arm`.
long powercut_disarm(void);

// In between no file whose path contains `match` changes on the disk, and whoever would change one waits: what a copy of several
// files needs that is to be one moment's.
void powercut_stop_disk(const char *match);
void powercut_resume_disk(const char *match);

// Databases whose path contains `match` are from now on opened with `synchronous = OFF`, whatever is asked for, and
// read back what was asked for.
void powercut_force_off(const char *match);

// Bytes written and not synced yet on files whose path contains `match`.
long powercut_unsynced(const char *match);
