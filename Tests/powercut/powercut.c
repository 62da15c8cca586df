// See include/powercut.h. The environment of a preloaded program:
//   POWERCUT_MATCH=TEXT           only files whose path contains TEXT; others are left to SQLite's own VFS
//   POWERCUT_SEED=N               some unsynced writes reach the file early, whole or torn, at random from N
//   POWERCUT_SYNC_DELAY_MS=N      every sync takes N ms longer: a slow SD card
//   POWERCUT_FAULT_FILE=PATH      while this file exists, writes fail as its content says: full, ioerr, readonly
//   POWERCUT_SYNCHRONOUS=OFF      `PRAGMA synchronous = …` sets OFF, and reads back as if it had obeyed
//   POWERCUT_BUFFER=0             nothing is held back: only delays and faults
//
// What is not synced lives in this process only, shared by its connections. Another process sees the files without
// it, so no other process may have the database open meanwhile. At a normal exit everything is written, as a
// kernel would in the end.
#include "powercut.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096
#define BUCKETS 4096

// ---- Settings, from the environment, read once ----

static struct {
    const char *match;
    const char *fault_file;
    long sync_delay_ms;
    int has_seed;
    int buffers;
    int forces_off;
} settings = {.match = "", .buffers = 1};

static uint64_t random_state;
static pid_t owner;
static int is_preloaded;

static uint64_t next_random(void) {  // xorshift64*
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717ULL;
}

// ---- What is not synced, by file ----

typedef struct block {
    int64_t index;
    struct block *next;
    int is_lost;          // a sync failed on it: seen until the cut, never written unless it is written to again
    unsigned char bytes[BLOCK];
} block;

typedef struct pending {
    dev_t device;
    ino_t inode;
    char *path;
    int references;
    int descriptor;       // of our own, to write with
    int64_t size;         // as the program sees it
    int64_t valid;        // bytes of the file on disk that still count; what lies above was truncated away
    long dirty;           // blocks held back
    block *blocks[BUCKETS];
    struct pending *next;
} pending;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pending *files;
// Held by whoever changes files on the disk. Taken before `mutex`.
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t resumed = PTHREAD_COND_INITIALIZER;

typedef struct stop {
    char *match;
    struct stop *next;
} stop;

static stop *stops;

static int is_stopped(const char *path) {
    for (stop *each = stops; each; each = each->next)
        if (path && strstr(path, each->match)) return 1;
    return 0;
}

// Returns once the files with this name may be changed, with `disk` held.
static void enter_disk(const char *path) {
    pthread_mutex_lock(&disk);
    while (is_stopped(path)) pthread_cond_wait(&resumed, &disk);
}

static void leave_disk(void) { pthread_mutex_unlock(&disk); }

static block *find_block(pending *file, int64_t index) {
    for (block *each = file->blocks[index % BUCKETS]; each; each = each->next)
        if (each->index == index) return each;
    return NULL;
}

// Bytes as on the disk, zeros where nothing counts.
static int read_base(pending *file, unsigned char *to, int64_t offset, int64_t count) {
    memset(to, 0, (size_t)count);
    int64_t end = offset + count < file->valid ? offset + count : file->valid;
    while (offset < end) {
        ssize_t got = pread(file->descriptor, to, (size_t)(end - offset), offset);
        if (got < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        if (got == 0) break;
        to += got;
        offset += got;
    }
    return 0;
}

static block *make_block(pending *file, int64_t index) {
    block *found = find_block(file, index);
    if (found) {
        found->is_lost = 0;
        return found;
    }
    block *fresh = malloc(sizeof *fresh);
    if (!fresh) return NULL;
    fresh->index = index;
    fresh->is_lost = 0;
    if (read_base(file, fresh->bytes, index * BLOCK, BLOCK)) {
        free(fresh);
        return NULL;
    }
    fresh->next = file->blocks[index % BUCKETS];
    file->blocks[index % BUCKETS] = fresh;
    file->dirty++;
    return fresh;
}

static int write_all(int descriptor, const unsigned char *from, int64_t offset, int64_t count) {
    while (count > 0) {
        ssize_t put = pwrite(descriptor, from, (size_t)count, offset);
        if (put < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        from += put;
        offset += put;
        count -= put;
    }
    return 0;
}

static int hold_write(pending *file, const unsigned char *from, int64_t offset, int64_t count) {
    // A kernel may write any of this at any time, in any order, and a cut may tear it.
    if (settings.has_seed && next_random() % 8 == 0) {
        int64_t early = next_random() % 4 == 0 ? count / 2 / 512 * 512 : count;
        if (write_all(file->descriptor, from, offset, early)) return -1;
    }
    int64_t end = offset + count;
    while (offset < end) {
        block *into = make_block(file, offset / BLOCK);
        if (!into) return -1;
        int64_t start = offset % BLOCK;
        int64_t part = BLOCK - start < end - offset ? BLOCK - start : end - offset;
        memcpy(into->bytes + start, from, (size_t)part);
        from += part;
        offset += part;
    }
    if (end > file->size) file->size = end;
    return 0;
}

static int64_t read_held(pending *file, unsigned char *to, int64_t offset, int64_t count) {
    int64_t end = offset + count < file->size ? offset + count : file->size;
    int64_t got = end > offset ? end - offset : 0;
    memset(to + got, 0, (size_t)(count - got));
    while (offset < end) {
        int64_t start = offset % BLOCK;
        int64_t part = BLOCK - start < end - offset ? BLOCK - start : end - offset;
        block *from = find_block(file, offset / BLOCK);
        if (from)
            memcpy(to, from->bytes + start, (size_t)part);
        else if (read_base(file, to, offset, part))
            return -1;
        to += part;
        offset += part;
    }
    return got;
}

// With `lost_too` 0, those that a sync failed on stay.
static void drop_blocks(pending *file, int64_t from_index, int lost_too) {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        block **link = &file->blocks[bucket];
        while (*link) {
            block *each = *link;
            if (each->index < from_index || (each->is_lost && !lost_too)) {
                link = &each->next;
                continue;
            }
            *link = each->next;
            free(each);
            file->dirty--;
        }
    }
}

static int hold_truncate(pending *file, int64_t size) {
    if (size < file->size) {
        drop_blocks(file, (size + BLOCK - 1) / BLOCK, 1);
        if (size % BLOCK) {
            block *last = make_block(file, size / BLOCK);
            if (!last) return -1;
            memset(last->bytes + size % BLOCK, 0, (size_t)(BLOCK - size % BLOCK));
        }
        if (size < file->valid) file->valid = size;
    }
    file->size = size;
    return 0;
}

// Everything held back reaches the file.
static int flush(pending *file) {
    struct stat facts;
    if (fstat(file->descriptor, &facts)) return -1;
    if (facts.st_size > file->valid && ftruncate(file->descriptor, file->valid)) return -1;
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        for (block *each = file->blocks[bucket]; each; each = each->next) {
            int64_t offset = each->index * BLOCK;
            int64_t count = file->size - offset < BLOCK ? file->size - offset : BLOCK;
            if (each->is_lost) continue;
            if (count > 0 && write_all(file->descriptor, each->bytes, offset, count)) return -1;
        }
    if (ftruncate(file->descriptor, file->size)) return -1;
    file->valid = file->size;
    drop_blocks(file, 0, 0);
    return 0;
}

// Linux takes pages for clean whose write-back failed: a later sync succeeds without them.
static void fail_sync(pending *file) {
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        for (block *each = file->blocks[bucket]; each; each = each->next) each->is_lost = 1;
}

static int is_clean(const pending *file) { return file->dirty == 0 && file->size == file->valid; }

static void forget(pending *file) {
    for (pending **link = &files; *link; link = &(*link)->next)
        if (*link == file) {
            *link = file->next;
            break;
        }
    drop_blocks(file, 0, 1);
    close(file->descriptor);
    free(file->path);
    free(file);
}

static pending *find_pending(const struct stat *facts) {
    for (pending *each = files; each; each = each->next)
        if (each->device == facts->st_dev && each->inode == facts->st_ino) return each;
    return NULL;
}

static pending *open_pending(const char *path) {
    struct stat facts;
    if (stat(path, &facts) || !S_ISREG(facts.st_mode)) return NULL;
    pending *found = find_pending(&facts);
    // An inode number is used again once its file is gone.
    if (found && strcmp(found->path, path)) {
        if (found->references == 0) {
            forget(found);
        } else {
            // Somebody has the file that is gone still open.
            found->device = 0;
            found->inode = 0;
        }
        found = NULL;
    }
    if (!found) {
        int descriptor = open(path, O_RDWR | O_CLOEXEC);
        if (descriptor < 0) return NULL;
        found = calloc(1, sizeof *found);
        if (!found || !(found->path = strdup(path))) {
            free(found);
            close(descriptor);
            return NULL;
        }
        found->device = facts.st_dev;
        found->inode = facts.st_ino;
        found->descriptor = descriptor;
        found->size = found->valid = facts.st_size;
        found->next = files;
        files = found;
    }
    found->references++;
    return found;
}

// ---- Faults ----

static struct {
    char match[512];
    enum powercut_fault fault;
    long nth;
    long calls;
    int forever;
} armed;

enum call { OPEN, READ, WRITE, TRUNCATE, SYNC, SIZE, LOCK, DELETE, ACCESS, SHM_MAP, SHM_LOCK };

static int io_code(enum call call) {
    switch (call) {
        case OPEN: return SQLITE_CANTOPEN;
        case READ: return SQLITE_IOERR_READ;
        case WRITE: return SQLITE_IOERR_WRITE;
        case TRUNCATE: return SQLITE_IOERR_TRUNCATE;
        case SYNC: return SQLITE_IOERR_FSYNC;
        case SIZE: return SQLITE_IOERR_FSTAT;
        case LOCK: return SQLITE_IOERR_LOCK;
        case DELETE: return SQLITE_IOERR_DELETE;
        case ACCESS: return SQLITE_IOERR_ACCESS;
        case SHM_MAP: return SQLITE_IOERR_SHMMAP;
        case SHM_LOCK: return SQLITE_IOERR_SHMLOCK;
    }
    return SQLITE_IOERR;
}

static int fault_code(enum powercut_fault fault, enum call call) {
    if (fault == POWERCUT_IOERR) return io_code(call);
    if (fault == POWERCUT_CORRUPT) return call == READ ? SQLITE_CORRUPT : SQLITE_OK;
    if (call != WRITE && call != TRUNCATE) return SQLITE_OK;
    return fault == POWERCUT_FULL ? SQLITE_FULL : SQLITE_READONLY;
}

// What the control file asks for; only for calls that write.
static int controlled_fault(enum call call) {
    if (!settings.fault_file || (call != WRITE && call != TRUNCATE && call != SYNC)) return SQLITE_OK;
    int descriptor = open(settings.fault_file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return SQLITE_OK;
    char text[16] = {0};
    ssize_t count = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    if (count <= 0) return SQLITE_OK;
    if (!strncmp(text, "full", 4)) return fault_code(POWERCUT_FULL, call);
    if (!strncmp(text, "readonly", 8)) return fault_code(POWERCUT_READONLY, call);
    if (!strncmp(text, "ioerr", 5)) return io_code(call);
    return SQLITE_OK;
}

// Called with the mutex held. SQLITE_OK = go on.
static int should_fail(const char *path, enum call call) {
    if (armed.nth > 0 && path && strstr(path, armed.match)) {
        int code = fault_code(armed.fault, call);
        if (code != SQLITE_OK) {
            armed.calls++;
            if (armed.calls == armed.nth || (armed.forever && armed.calls > armed.nth)) return code;
        }
    }
    return controlled_fault(call);
}

// ---- The file of one connection ----

typedef struct shim {
    sqlite3_file base;
    pending *file;       // NULL: nothing is held back
    const char *path;    // SQLite keeps it until xClose
    char asked[2];       // the `synchronous` that the program believes in
    sqlite3_file *real;
} shim;

static sqlite3_vfs *real_vfs;

static int failing(shim *self, enum call call) {
    pthread_mutex_lock(&mutex);
    int code = should_fail(self->path, call);
    pthread_mutex_unlock(&mutex);
    return code;
}

static int shim_close(sqlite3_file *handle) {
    shim *self = (shim *)handle;
    pthread_mutex_lock(&mutex);
    if (self->file && --self->file->references == 0 && is_clean(self->file)) forget(self->file);
    self->file = NULL;
    pthread_mutex_unlock(&mutex);
    return self->real->pMethods ? self->real->pMethods->xClose(self->real) : SQLITE_OK;
}

static int shim_read(sqlite3_file *handle, void *to, int count, sqlite3_int64 offset) {
    shim *self = (shim *)handle;
    int code = failing(self, READ);
    if (code) return code;
    if (!self->file) return self->real->pMethods->xRead(self->real, to, count, offset);
    pthread_mutex_lock(&mutex);
    int64_t got = read_held(self->file, to, offset, count);
    pthread_mutex_unlock(&mutex);
    if (got < 0) return SQLITE_IOERR_READ;
    return got == count ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int shim_write(sqlite3_file *handle, const void *from, int count, sqlite3_int64 offset) {
    shim *self = (shim *)handle;
    int code = failing(self, WRITE);
    if (code) return code;
    if (!self->file) return self->real->pMethods->xWrite(self->real, from, count, offset);
    enter_disk(self->path);
    pthread_mutex_lock(&mutex);
    int failed = hold_write(self->file, from, offset, count);
    pthread_mutex_unlock(&mutex);
    leave_disk();
    return failed ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int shim_truncate(sqlite3_file *handle, sqlite3_int64 size) {
    shim *self = (shim *)handle;
    int code = failing(self, TRUNCATE);
    if (code) return code;
    if (!self->file) return self->real->pMethods->xTruncate(self->real, size);
    pthread_mutex_lock(&mutex);
    int failed = hold_truncate(self->file, size);
    pthread_mutex_unlock(&mutex);
    return failed ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int shim_sync(sqlite3_file *handle, int flags) {
    shim *self = (shim *)handle;
    int code = failing(self, SYNC);
    if (code) {
        pthread_mutex_lock(&mutex);
        if (self->file) fail_sync(self->file);
        pthread_mutex_unlock(&mutex);
        return code;
    }
    if (settings.sync_delay_ms > 0) {
        struct timespec delay = {settings.sync_delay_ms / 1000, settings.sync_delay_ms % 1000 * 1000000};
        while (nanosleep(&delay, &delay) && errno == EINTR) {}
    }
    if (self->file) {
        enter_disk(self->path);
        pthread_mutex_lock(&mutex);
        int failed = flush(self->file);
        pthread_mutex_unlock(&mutex);
        leave_disk();
        if (failed) return SQLITE_IOERR_FSYNC;
        // In a test the copy of the files is the disk: waiting for the real one would prove nothing.
        if (!is_preloaded) return SQLITE_OK;
    }
    return self->real->pMethods->xSync(self->real, flags);
}

static int shim_size(sqlite3_file *handle, sqlite3_int64 *size) {
    shim *self = (shim *)handle;
    int code = failing(self, SIZE);
    if (code) return code;
    if (!self->file) return self->real->pMethods->xFileSize(self->real, size);
    pthread_mutex_lock(&mutex);
    *size = self->file->size;
    pthread_mutex_unlock(&mutex);
    return SQLITE_OK;
}

static int shim_lock(sqlite3_file *handle, int level) {
    shim *self = (shim *)handle;
    int code = failing(self, LOCK);
    return code ? code : self->real->pMethods->xLock(self->real, level);
}

static int shim_unlock(sqlite3_file *handle, int level) {
    shim *self = (shim *)handle;
    return self->real->pMethods->xUnlock(self->real, level);
}

static int shim_check_reserved(sqlite3_file *handle, int *is_reserved) {
    shim *self = (shim *)handle;
    return self->real->pMethods->xCheckReservedLock(self->real, is_reserved);
}

// Turns `PRAGMA synchronous = FULL` into `= 0` and answers the read-back with what was asked for.
static int lie_about_synchronous(shim *self, char **pragma) {
    if (sqlite3_stricmp(pragma[1], "synchronous")) return SQLITE_NOTFOUND;
    if (pragma[2] && pragma[2][0]) {
        char first = pragma[2][0];
        self->asked[0] = first == 'F' || first == 'f' || first == '2' ? '2'
                         : first == 'N' || first == 'n' || first == '1' ? '1'
                                                                       : '0';
        pragma[2][0] = '0';
        pragma[2][1] = 0;
        return SQLITE_NOTFOUND;
    }
    if (!self->asked[0]) return SQLITE_NOTFOUND;
    pragma[0] = sqlite3_mprintf("%s", self->asked);
    return SQLITE_OK;
}

static char off_match[512];

static int shim_control(sqlite3_file *handle, int operation, void *argument) {
    shim *self = (shim *)handle;
    int lies = settings.forces_off || (off_match[0] && self->path && strstr(self->path, off_match));
    if (operation == SQLITE_FCNTL_PRAGMA && lies) {
        int code = lie_about_synchronous(self, argument);
        if (code != SQLITE_NOTFOUND) return code;
    }
    // Both would touch the file behind what is held back.
    if (self->file && (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE)) return SQLITE_OK;
    return self->real->pMethods->xFileControl(self->real, operation, argument);
}

static int shim_sector(sqlite3_file *handle) {
    shim *self = (shim *)handle;
    return self->real->pMethods->xSectorSize(self->real);
}

static int shim_characteristics(sqlite3_file *handle) {
    shim *self = (shim *)handle;
    // No promise of atomic or ordered writes: an SD card makes none.
    return self->real->pMethods->xDeviceCharacteristics(self->real) & ~(SQLITE_IOCAP_BATCH_ATOMIC);
}

static int shim_shm_map(sqlite3_file *handle, int page, int size, int extend, void volatile **memory) {
    shim *self = (shim *)handle;
    int code = failing(self, SHM_MAP);
    return code ? code : self->real->pMethods->xShmMap(self->real, page, size, extend, memory);
}

static int shim_shm_lock(sqlite3_file *handle, int offset, int count, int flags) {
    shim *self = (shim *)handle;
    int code = flags & SQLITE_SHM_LOCK ? failing(self, SHM_LOCK) : SQLITE_OK;
    return code ? code : self->real->pMethods->xShmLock(self->real, offset, count, flags);
}

static void shim_shm_barrier(sqlite3_file *handle) {
    shim *self = (shim *)handle;
    self->real->pMethods->xShmBarrier(self->real);
}

static int shim_shm_unmap(sqlite3_file *handle, int delete_it) {
    shim *self = (shim *)handle;
    return self->real->pMethods->xShmUnmap(self->real, delete_it);
}

// Version 2: without xFetch, so that no memory map reads past what is held back.
static const sqlite3_io_methods methods = {
    2, shim_close, shim_read, shim_write, shim_truncate, shim_sync, shim_size, shim_lock, shim_unlock,
    shim_check_reserved, shim_control, shim_sector, shim_characteristics, shim_shm_map, shim_shm_lock,
    shim_shm_barrier, shim_shm_unmap, NULL, NULL,
};

// ---- The VFS ----

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *handle, int flags, int *out_flags) {
    (void)vfs;
    shim *self = (shim *)handle;
    memset(self, 0, sizeof *self);
    self->real = (sqlite3_file *)(self + 1);
    self->path = path;
    int matches = path && strstr(path, settings.match);
    if (matches) {
        int code = failing(self, OPEN);
        if (code) return code;
    }
    int code = real_vfs->xOpen(real_vfs, path, self->real, flags, out_flags);
    if (code != SQLITE_OK) return code;
    if (!matches) self->path = NULL;
    int is_kept = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL);
    if (matches && is_kept && settings.buffers) {
        pthread_mutex_lock(&mutex);
        self->file = open_pending(path);  // NULL for a file that may only be read
        pthread_mutex_unlock(&mutex);
    }
    self->base.pMethods = &methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
    (void)vfs;
    enter_disk(path);
    pthread_mutex_lock(&mutex);
    int code = should_fail(path, DELETE);
    struct stat facts;
    pending *file = code == SQLITE_OK && stat(path, &facts) == 0 ? find_pending(&facts) : NULL;
    if (file) {
        // Its inode number may be used again at once.
        file->device = 0;
        file->inode = 0;
        drop_blocks(file, 0, 1);
        file->size = file->valid = 0;
        if (file->references == 0) forget(file);
    }
    pthread_mutex_unlock(&mutex);
    if (code == SQLITE_OK) code = real_vfs->xDelete(real_vfs, path, sync_directory);
    leave_disk();
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    (void)vfs;
    pthread_mutex_lock(&mutex);
    int code = should_fail(path, ACCESS);
    // SQLite takes an empty journal for none; what is held back makes it more than empty.
    pending *file = NULL;
    struct stat facts;
    if (code == SQLITE_OK && flags == SQLITE_ACCESS_EXISTS && stat(path, &facts) == 0) file = find_pending(&facts);
    int64_t held = file ? file->size : 0;
    pthread_mutex_unlock(&mutex);
    if (code) return code;
    code = real_vfs->xAccess(real_vfs, path, flags, result);
    if (code == SQLITE_OK && held > 0) *result = 1;
    return code;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *out) {
    (void)vfs;
    return real_vfs->xFullPathname(real_vfs, path, size, out);
}

static sqlite3_vfs powercut_vfs;

static int register_vfs(int is_default) {
    if (real_vfs) return SQLITE_OK;
    real_vfs = sqlite3_vfs_find("unix");
    if (!real_vfs) return SQLITE_ERROR;
    owner = getpid();
    // What is not wrapped (random numbers, sleep, time, dynamic loading) is the real one's, called with our pointer;
    // the unix VFS does not look at it in those.
    powercut_vfs = *real_vfs;
    powercut_vfs.zName = "powercut";
    powercut_vfs.pNext = NULL;
    powercut_vfs.szOsFile = (int)sizeof(shim) + real_vfs->szOsFile;
    powercut_vfs.xOpen = vfs_open;
    powercut_vfs.xDelete = vfs_delete;
    powercut_vfs.xAccess = vfs_access;
    powercut_vfs.xFullPathname = vfs_full_path;
    return sqlite3_vfs_register(&powercut_vfs, is_default);
}

int powercut_register(void) {
    // Tests run at the same time.
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    int code = register_vfs(0);
    pthread_mutex_unlock(&once);
    return code;
}

void powercut_arm(const char *match, enum powercut_fault fault, long nth, int forever) {
    pthread_mutex_lock(&mutex);
    strncpy(armed.match, match, sizeof armed.match - 1);
    armed.fault = fault;
    armed.nth = nth;
    armed.calls = 0;
    armed.forever = forever;
    pthread_mutex_unlock(&mutex);
}

long powercut_disarm(void) {
    pthread_mutex_lock(&mutex);
    armed.nth = 0;
    long calls = armed.calls;
    pthread_mutex_unlock(&mutex);
    return calls;
}

void powercut_stop_disk(const char *match) {
    stop *fresh = malloc(sizeof *fresh);
    if (!fresh || !(fresh->match = strdup(match))) abort();
    pthread_mutex_lock(&disk);
    fresh->next = stops;
    stops = fresh;
    pthread_mutex_unlock(&disk);
}

void powercut_resume_disk(const char *match) {
    pthread_mutex_lock(&disk);
    for (stop **link = &stops; *link; link = &(*link)->next) {
        stop *each = *link;
        if (strcmp(each->match, match)) continue;
        *link = each->next;
        free(each->match);
        free(each);
        break;
    }
    pthread_cond_broadcast(&resumed);
    pthread_mutex_unlock(&disk);
}

void powercut_force_off(const char *match) {
    strncpy(off_match, match, sizeof off_match - 1);
}

long powercut_unsynced(const char *match) {
    long count = 0;
    pthread_mutex_lock(&mutex);
    for (pending *each = files; each; each = each->next)
        if (strstr(each->path, match)) count += each->dirty * BLOCK;
    pthread_mutex_unlock(&mutex);
    return count;
}

#ifdef POWERCUT_PRELOAD
__attribute__((constructor)) static void preload(void) {
    const char *text;
    if ((text = getenv("POWERCUT_MATCH"))) settings.match = text;
    settings.fault_file = getenv("POWERCUT_FAULT_FILE");
    if ((text = getenv("POWERCUT_SYNC_DELAY_MS"))) settings.sync_delay_ms = atol(text);
    if ((text = getenv("POWERCUT_BUFFER"))) settings.buffers = strcmp(text, "0") != 0;
    if ((text = getenv("POWERCUT_SYNCHRONOUS"))) settings.forces_off = sqlite3_stricmp(text, "OFF") == 0;
    if ((text = getenv("POWERCUT_SEED"))) {
        settings.has_seed = 1;
        random_state = strtoull(text, NULL, 10) * 2654435769ULL + 88172645463325252ULL;
    }
    is_preloaded = 1;
    register_vfs(1);
}
#endif

__attribute__((destructor)) static void write_everything(void) {
    if (getpid() != owner) return;
    pthread_mutex_lock(&mutex);
    for (pending *each = files; each; each = each->next) {
        for (int bucket = 0; bucket < BUCKETS; bucket++)
            for (block *held = each->blocks[bucket]; held; held = held->next) held->is_lost = 0;
        flush(each);
    }
    pthread_mutex_unlock(&mutex);
}
