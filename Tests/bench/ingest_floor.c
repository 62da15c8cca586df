/* The floor of `make bench-ingest`, and the layouts that it was chosen among: uploads of 300 samples into PostgreSQL by
 * a bare loop over libpq, which is given the samples and checks, answers and counts nothing.
 *
 *   ingest_floor CONNINFO [--layout rows|days|chunks] [--seconds N | --uploads N] [--connections N] [--group N]
 *                [--devices N] [--first N] [--time-index] [--fresh]
 *
 *   rows    a row a sample, INSERT … SELECT * FROM unnest(…) ON CONFLICT DO NOTHING: the floor
 *   days    a packed value a device, type and day, read and written anew by each upload
 *   chunks  a packed value an upload, after a look at the one before it
 *
 * A transaction takes `--group` uploads. Uploads are numbered: `--first` goes on where another run ended. `--fresh`
 * makes the table anew. Prints "uploads N seconds S next N".
 */
#include <endian.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ingest_life.h"

enum { columns = 15, group_most = 64, day_minutes = 1440 };

static const char *conninfo, *layout = "rows";
static double seconds = 5;
static long uploads_most = -1, first, devices = 20000;
static int connections = 8, group = 1, per_device;
static atomic_long next_upload, done_uploads;
static double end_time;
static struct sample *lives;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "ingest_floor: %s: %s\n", what, why);
    exit(1);
}

static PGconn *open_connection(void) {
    PGconn *connection = PQconnectdb(conninfo);
    if (PQstatus(connection) != CONNECTION_OK) fail("connect", PQerrorMessage(connection));
    return connection;
}

static void script(PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(sql, PQerrorMessage(connection));
    PQclear(result);
}

/* MARK: bytes */

struct bytes {
    unsigned char *at;
    size_t count, room;
};

static void add(struct bytes *to, const void *from, size_t count) {
    if (to->count + count > to->room) {
        to->room = 2 * (to->count + count);
        to->at = realloc(to->at, to->room);
        if (!to->at) fail("memory", "none left");
    }
    memcpy(to->at + to->count, from, count);
    to->count += count;
}

static void add_integer(struct bytes *to, int64_t value, int size) {
    uint64_t big = htobe64((uint64_t)value);
    add(to, (char *)&big + 8 - size, (size_t)size);
}

static void add_varint(struct bytes *to, uint64_t value) {
    unsigned char bytes[10];
    int count = 0;
    for (; value >= 0x80; value >>= 7) bytes[count++] = (unsigned char)(value | 0x80);
    bytes[count++] = (unsigned char)value;
    add(to, bytes, (size_t)count);
}

static uint64_t varint(const unsigned char **from) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char byte = *(*from)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
}

static uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ (uint64_t)(value >> 63); }
static int64_t unzigzag(uint64_t value) { return (int64_t)(value >> 1) ^ -(int64_t)(value & 1); }
static size_t length_of(uint64_t value) { return value ? (size_t)(70 - __builtin_clzll(value)) / 7 : 1; }

/* MARK: packing, as ChunkCoder does it */

static int64_t field(const struct sample *sample, int column) {
    switch (column) {
        case 0: return sample->type;
        case 1: return sample->seq;
        case 2: return sample->value;
        case 3: return sample->band_time_ms;
        case 4: return life_clock;
        case 5: return sample->flags;
        case 6: case 7: return 1;
        case 8: return sample->recorded_ms - sample->band_time_ms;
        case 9: return life_offset_min;
        case 10: return sample->bound_ms;
        default: return 0;
    }
}

static void set_field(struct sample *sample, int column, int64_t value) {
    switch (column) {
        case 0: sample->type = (uint8_t)value; break;
        case 1: sample->seq = (uint32_t)value; break;
        case 2: sample->value = (int16_t)value; break;
        case 3: sample->band_time_ms = value; break;
        case 5: sample->flags = (uint8_t)value; break;
        case 8: sample->recorded_ms = sample->band_time_ms + value; break;
        case 10: sample->bound_ms = (int32_t)value; break;
        default: break;
    }
}

static void pack(struct bytes *to, const struct sample *const *samples, int count) {
    to->count = 0;
    add_integer(to, 1, 1);
    add_varint(to, (uint64_t)count);
    add_integer(to, 0, 1);
    for (int column = 0; column < 13; column++) {
        size_t plain = 0, runs = 0;
        int64_t last = 0, difference = 0;
        int run = 0;
        for (int index = 0; index < count; index++) {
            int64_t value = field(samples[index], column), next = value - last;
            last = value;
            plain += length_of(zigzag(next));
            if (run && next != difference) runs += length_of(zigzag(difference)) + length_of((uint64_t)run), run = 0;
            difference = next, run++;
        }
        if (run) runs += length_of(zigzag(difference)) + length_of((uint64_t)run);
        bool in_runs = runs < plain;
        add_integer(to, in_runs, 1);
        last = 0, run = 0;
        for (int index = 0; index < count; index++) {
            int64_t value = field(samples[index], column), next = value - last;
            last = value;
            if (!in_runs) {
                add_varint(to, zigzag(next));
                continue;
            }
            if (run && next != difference) add_varint(to, zigzag(difference)), add_varint(to, (uint64_t)run), run = 0;
            difference = next, run++;
        }
        if (in_runs && run) add_varint(to, zigzag(difference)), add_varint(to, (uint64_t)run);
    }
}

static int unpack(const unsigned char *from, struct sample *samples) {
    from++;
    int count = (int)varint(&from);
    from++;
    for (int column = 0; column < 13; column++) {
        bool in_runs = *from++;
        int64_t value = 0;
        for (int index = 0; index < count;) {
            int64_t difference = unzigzag(varint(&from));
            int run = in_runs ? (int)varint(&from) : 1;
            for (; run > 0; run--) value += difference, set_field(&samples[index++], column, value);
        }
    }
    return count;
}

/* In the order of (type, seq). */
static int compare(const void *left, const void *right) {
    const struct sample *a = *(const struct sample *const *)left, *b = *(const struct sample *const *)right;
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* MARK: a row a sample */

/* Narrow types, no index but the key, no collation: generous. */
static const char *const rows_table =
    "CREATE TABLE floor_rows (device_id BIGINT NOT NULL, band_time_ms BIGINT NOT NULL, recorded_ms BIGINT NOT NULL,"
    " seq INTEGER NOT NULL, ring INTEGER NOT NULL, version INTEGER NOT NULL, bound_ms INTEGER, person INTEGER,"
    " type SMALLINT NOT NULL, value SMALLINT NOT NULL, clock_id SMALLINT NOT NULL, offset_min SMALLINT,"
    " flags SMALLINT NOT NULL, provenance SMALLINT NOT NULL, uncertain SMALLINT NOT NULL,"
    " PRIMARY KEY (device_id, ring, type, seq))";
static const char *const rows_insert =
    "INSERT INTO floor_rows SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::integer[],"
    " $6::integer[], $7::integer[], $8::integer[], $9::smallint[], $10::smallint[], $11::smallint[], $12::smallint[],"
    " $13::smallint[], $14::smallint[], $15::smallint[]) ON CONFLICT DO NOTHING";

static int64_t cell(const struct sample *sample, int64_t device, int column) {
    switch (column) {
        case 0: return device;
        case 1: return sample->band_time_ms;
        case 2: return sample->recorded_ms;
        case 3: return sample->seq;
        case 4: return device * 7919 & 0x7fffffff;
        case 5: return 1;
        case 6: return sample->bound_ms;
        case 7: return device;
        case 8: return sample->type;
        case 9: return sample->value;
        case 10: return life_clock;
        case 11: return life_offset_min;
        case 12: return sample->flags;
        case 13: return 1;
        default: return 0;
    }
}

static void store_rows(PGconn *connection, const long *numbers, int count, struct bytes *scratch) {
    static const int sizes[columns] = {8, 8, 8, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2};
    const char *values[columns];
    int lengths[columns], formats[columns];
    for (int column = 0; column < columns; column++) {
        struct bytes *array = &scratch[column];
        int size = sizes[column];
        array->count = 0;
        /* Dimensions, no NULL, type, length, first index: array_recv of PostgreSQL. */
        add_integer(array, 1, 4);
        add_integer(array, 0, 4);
        add_integer(array, size == 8 ? 20 : size == 4 ? 23 : 21, 4);
        add_integer(array, count * life_samples, 4);
        add_integer(array, 1, 4);
        for (int upload = 0; upload < count; upload++) {
            int64_t device = numbers[upload] % devices;
            const struct sample *samples = life_upload(lives, per_device, device, (int)(numbers[upload] / devices));
            for (int index = 0; index < life_samples; index++) {
                add_integer(array, size, 4);
                add_integer(array, cell(&samples[index], device, column), size);
            }
        }
        values[column] = (char *)array->at;
        lengths[column] = (int)array->count;
        formats[column] = 1;
    }
    PGresult *result = PQexecPrepared(connection, "store", columns, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("insert", PQerrorMessage(connection));
    if (atoi(PQcmdTuples(result)) != count * life_samples) fail("insert", "rows were there already");
    PQclear(result);
}

/* MARK: packed values */

static const char *const packed_tables[] = {
    "CREATE TABLE floor_days (device_id BIGINT NOT NULL, type BIGINT NOT NULL, day BIGINT NOT NULL, content BYTEA NOT NULL,"
    " PRIMARY KEY (device_id, type, day)) WITH (toast_tuple_target = 8160);"
    "ALTER TABLE floor_days ALTER COLUMN content SET STORAGE EXTERNAL",
    "CREATE TABLE floor_chunks (device_id BIGINT NOT NULL, ring BIGINT NOT NULL, first_seq BIGINT NOT NULL,"
    " last_seq BIGINT NOT NULL, samples BIGINT NOT NULL, first_ms BIGINT NOT NULL, last_ms BIGINT NOT NULL,"
    " received_ms BIGINT NOT NULL, content BYTEA NOT NULL, PRIMARY KEY (device_id, ring, first_seq))"
    " WITH (toast_tuple_target = 8160);"
    "ALTER TABLE floor_chunks ALTER COLUMN content SET STORAGE EXTERNAL;"
    "CREATE INDEX floor_chunks_by_time ON floor_chunks (device_id, last_ms)"};
static const char *const days_read =
    "SELECT content FROM floor_days WHERE device_id = $1 AND type = $2 AND day = $3 FOR UPDATE";
static const char *const days_write =
    "INSERT INTO floor_days VALUES ($1, $2, $3, $4) ON CONFLICT (device_id, type, day) DO UPDATE SET content = excluded.content";
static const char *const chunks_read =
    "SELECT first_seq, last_seq, CASE WHEN last_seq >= $3 OR (last_seq >= $3 - $5 AND samples < $6) THEN content END"
    " FROM floor_chunks WHERE device_id = $1 AND ring = $2 AND first_seq <= $4 AND first_seq >= coalesce("
    "(SELECT max(first_seq) FROM floor_chunks WHERE device_id = $1 AND ring = $2 AND first_seq <= $3), 0)"
    " ORDER BY first_seq";
static const char *const chunks_write =
    "INSERT INTO floor_chunks VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (device_id, ring, first_seq)"
    " DO UPDATE SET content = excluded.content";

/* Integers first, then one value of bytes if there is any. */
static void send_call(PGconn *connection, const char *statement, const int64_t *integers, int count, const struct bytes *last) {
    const char *values[10];
    int lengths[10], formats[10];
    int64_t big[10];
    for (int index = 0; index < count; index++) {
        big[index] = (int64_t)htobe64((uint64_t)integers[index]);
        values[index] = (char *)&big[index], lengths[index] = 8, formats[index] = 1;
    }
    if (last) values[count] = (char *)last->at, lengths[count] = (int)last->count, formats[count++] = 1;
    if (!PQsendQueryPrepared(connection, statement, count, values, lengths, formats, 1))
        fail(statement, PQerrorMessage(connection));
}

static void send_plain(PGconn *connection, const char *sql) {
    if (!PQsendQueryParams(connection, sql, 0, NULL, NULL, NULL, NULL, 1)) fail(sql, PQerrorMessage(connection));
}

/* Ends a pipeline; the results of its calls are kept in order. */
static int finish(PGconn *connection, PGresult **results) {
    int count = 0;
    if (!PQpipelineSync(connection)) fail("sync", PQerrorMessage(connection));
    for (;;) {
        PGresult *result = PQgetResult(connection);
        if (!result) continue;
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return count;
        }
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail("pipeline", PQresultErrorMessage(result));
        results[count++] = result;
    }
}

struct part {
    const struct sample *sorted[day_minutes * 2 + life_samples];
    struct sample known[day_minutes * 2];
    int64_t key[3];
    int count;
};

static void store_days(PGconn *connection, const long *numbers, int count, struct part *parts, struct bytes *scratch) {
    PGresult *results[group_most * 10];
    int used = 0;
    send_plain(connection, "BEGIN");
    for (int upload = 0; upload < count; upload++) {
        int64_t device = numbers[upload] % devices;
        const struct sample *samples = life_upload(lives, per_device, device, (int)(numbers[upload] / devices));
        int begin = used;
        for (int index = 0; index < life_samples; index++) {
            int64_t day = (samples[index].recorded_ms / 60000 + life_offset_min) / 1440;
            int part = begin;
            while (part < used && (parts[part].key[1] != samples[index].type || parts[part].key[2] != day)) part++;
            if (part == used) {
                parts[used++].count = 0;
                memcpy(parts[part].key, (int64_t[]){device, samples[index].type, day}, sizeof parts[part].key);
            }
            parts[part].sorted[parts[part].count++] = &samples[index];
        }
    }
    for (int part = 0; part < used; part++) send_call(connection, "read", parts[part].key, 3, NULL);
    finish(connection, results);
    for (int part = 0; part < used; part++) {
        PGresult *found = results[part + 1];
        if (PQntuples(found)) {
            int known = unpack((unsigned char *)PQgetvalue(found, 0, 0), parts[part].known);
            for (int index = 0; index < known; index++)
                parts[part].sorted[parts[part].count++] = &parts[part].known[index];
        }
        qsort(parts[part].sorted, (size_t)parts[part].count, sizeof parts[part].sorted[0], compare);
        pack(scratch, parts[part].sorted, parts[part].count);
        send_call(connection, "write", parts[part].key, 3, scratch);
    }
    for (int index = 0; index <= used; index++) PQclear(results[index]);
    send_plain(connection, "COMMIT");
    used = finish(connection, results);
    for (int index = 0; index < used; index++) PQclear(results[index]);
}

static void store_chunks(PGconn *connection, const long *numbers, int count, struct part *part, struct bytes *scratch) {
    PGresult *results[group_most + 2];
    send_plain(connection, "BEGIN");
    for (int step = 0; step < 2; step++) {
        for (int upload = 0; upload < count; upload++) {
            int64_t device = numbers[upload] % devices, ring = device * 7919;
            const struct sample *samples = life_upload(lives, per_device, device, (int)(numbers[upload] / devices));
            const struct sample *last = &samples[life_samples - 1];
            if (step == 0) {
                int64_t keys[] = {device, ring, samples->seq, last->seq, 512, 256};
                send_call(connection, "read", keys, 6, NULL);
                continue;
            }
            for (int index = 0; index < life_samples; index++) part->sorted[index] = &samples[index];
            qsort(part->sorted, life_samples, sizeof part->sorted[0], compare);
            pack(scratch, part->sorted, life_samples);
            int64_t keys[] = {device, ring, samples->seq, last->seq, life_samples, samples->recorded_ms, last->recorded_ms,
                              last->recorded_ms};
            send_call(connection, "write", keys, 8, scratch);
        }
        if (step == 1) send_plain(connection, "COMMIT");
        int used = finish(connection, results);
        for (int index = 0; index < used; index++) PQclear(results[index]);
    }
}

/* MARK: the loop */

static void *work(void *unused) {
    struct bytes scratch[columns] = {0};
    long numbers[group_most];
    bool rows = !strcmp(layout, "rows"), days = !strcmp(layout, "days");
    struct part *parts = rows ? NULL : malloc((days ? group_most * 10 : 1) * sizeof *parts);
    PGconn *connection = open_connection();
    (void)unused;
    script(connection, "SET synchronous_commit = on");
    const char *statements[] = {
        rows ? rows_insert : days ? days_write : chunks_write, rows ? NULL : days ? days_read : chunks_read};
    for (int index = 0; index < (rows ? 1 : 2); index++) {
        PGresult *result = PQprepare(
            connection, rows ? "store" : index ? "read" : "write", statements[index], 0, NULL);
        if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("prepare", PQerrorMessage(connection));
        PQclear(result);
    }
    if (!rows && !PQenterPipelineMode(connection)) fail("pipeline", PQerrorMessage(connection));
    while (now() < end_time) {
        long begin = atomic_fetch_add(&next_upload, group);
        if (uploads_most >= 0 && begin >= first + uploads_most) break;
        if (begin + group > devices * per_device) fail("uploads", "more than were made beforehand");
        for (int index = 0; index < group; index++) numbers[index] = begin + index;
        if (rows) store_rows(connection, numbers, group, scratch);
        else if (days) store_days(connection, numbers, group, parts, scratch);
        else store_chunks(connection, numbers, group, parts, scratch);
        atomic_fetch_add(&done_uploads, group);
    }
    PQfinish(connection);
    return NULL;
}

static void make_table(bool time_index) {
    PGconn *connection = open_connection();
    script(connection, "SET client_min_messages = warning; DROP TABLE IF EXISTS floor_rows, floor_days, floor_chunks");
    if (!strcmp(layout, "rows")) {
        script(connection, rows_table);
        if (time_index) script(connection, "CREATE INDEX ON floor_rows (device_id, recorded_ms)");
    } else {
        script(connection, packed_tables[!strcmp(layout, "chunks")]);
    }
    PQfinish(connection);
}

int main(int count, char **arguments) {
    bool fresh = false, time_index = false;
    if (count < 2) fail("usage", "CONNINFO is missing");
    conninfo = arguments[1];
    for (int index = 2; index < count; index++) {
        const char *name = arguments[index];
        if (!strcmp(name, "--fresh")) { fresh = true; continue; }
        if (!strcmp(name, "--time-index")) { time_index = true; continue; }
        if (++index == count) fail(name, "needs a value");
        const char *value = arguments[index];
        if (!strcmp(name, "--layout")) layout = value;
        else if (!strcmp(name, "--seconds")) seconds = atof(value);
        else if (!strcmp(name, "--uploads")) uploads_most = atol(value), seconds = 1e9;
        else if (!strcmp(name, "--connections")) connections = atoi(value);
        else if (!strcmp(name, "--group")) group = atoi(value);
        else if (!strcmp(name, "--devices")) devices = atol(value);
        else if (!strcmp(name, "--first")) first = atol(value);
        else fail(name, "not an option");
    }
    if (group < 1 || group > group_most || connections < 1 || connections > 256) fail("usage", "out of range");
    if (fresh) make_table(time_index);
    /* As many as any machine stores in that time. */
    long most = first + (uploads_most >= 0 ? uploads_most : (long)(seconds * 20000));
    per_device = (int)(most / devices) + 2;
    lives = life_all(per_device);
    if (!lives) fail("memory", "none left");
    next_upload = first;
    pthread_t threads[256];
    double begin = now();
    end_time = begin + seconds;
    for (int index = 0; index < connections; index++) pthread_create(&threads[index], NULL, work, NULL);
    for (int index = 0; index < connections; index++) pthread_join(threads[index], NULL);
    printf("uploads %ld seconds %.3f next %ld\n", done_uploads, now() - begin, next_upload);
}
