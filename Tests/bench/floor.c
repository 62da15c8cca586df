/* The floor of `make bench`: the least that a gateway can do. It reads the same socket, commits the same chunks
 * with the same schema, columns, indexes and durability, and sends one ack a chunk. It checks nothing and heals
 * nothing.
 *
 *   floor BUS_ADDRESS DEVICE_PATH DATA CONTROL ACK DATABASE
 *
 * DATA, CONTROL and ACK are object paths of characteristics. DATABASE was made by bandferryd and is empty.
 * Prints "records N" when END came.
 */
#include <dbus/dbus.h>
#include <errno.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { chunk_most = 64, packet_most = 512, record_size = 16, header_size = 4 };

static void fail(const char *what, const char *why) {
    fprintf(stderr, "floor: %s: %s\n", what, why);
    exit(1);
}

static DBusMessage *write_value(const char *path, const char *type, const uint8_t *bytes, int count) {
    DBusMessage *message =
        dbus_message_new_method_call("org.bluez", path, "org.bluez.GattCharacteristic1", "WriteValue");
    DBusMessageIter arguments, array, options, entry, variant;
    const char *key = "type";
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, count);
    dbus_message_iter_close_container(&arguments, &array);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    dbus_message_iter_open_container(&options, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "s", &variant);
    dbus_message_iter_append_basic(&variant, DBUS_TYPE_STRING, &type);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(&options, &entry);
    dbus_message_iter_close_container(&arguments, &options);
    return message;
}

static DBusMessage *call(DBusConnection *bus, DBusMessage *message) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, 30000, &error);
    if (!reply) fail(error.name, error.message);
    dbus_message_unref(message);
    return reply;
}

/* AcquireNotify or AcquireWrite: a socket. */
static int acquire(DBusConnection *bus, const char *path, const char *method) {
    DBusMessage *message =
        dbus_message_new_method_call("org.bluez", path, "org.bluez.GattCharacteristic1", method);
    DBusMessageIter arguments, options;
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    dbus_message_iter_close_container(&arguments, &options);
    DBusMessage *reply = call(bus, message);
    int fd = -1;
    uint16_t mtu = 0;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_UNIX_FD, &fd, DBUS_TYPE_UINT16, &mtu, DBUS_TYPE_INVALID))
        fail(method, "no socket in the reply");
    dbus_message_unref(reply);
    return fd;
}

static uint32_t le32(const uint8_t *p) { return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24; }
static uint16_t le16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }

static sqlite3 *database;
static sqlite3_stmt *begin, *insert, *interval, *advance, *span, *day, *commit;

static sqlite3_stmt *prepare(const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        fail("sqlite", sqlite3_errmsg(database));
    return statement;
}

static void run(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail("sqlite", sqlite3_errmsg(database));
    sqlite3_reset(statement);
}

static void open_database(const char *path) {
    if (sqlite3_open(path, &database) != SQLITE_OK) fail(path, sqlite3_errmsg(database));
    sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", NULL, NULL, NULL);
    sqlite3_exec(database,
        "INSERT INTO bands (id, device, address, mode, configured, adopted) VALUES (1, 'floor', 1, 'own', 1, 1);"
        "INSERT INTO rings (id, band, ring, next_seq, first_seen, last_seen) VALUES (1, 1, 1, 1, 0, 0);"
        "INSERT INTO clock_readings (id, ring, clock_id, band_time, host_time, host_monotonic, boot_id, bound, "
        "seconds_since_boot, newest_seq) VALUES (1, 1, 1, 0, 0, 0, '', 0, 0, 0);"
        "INSERT INTO clock_spans VALUES (1, 1, 1, 1, 0, 0);"
        "INSERT INTO unconfirmed VALUES (1, 1, 1);", NULL, NULL, NULL);
    begin = prepare("BEGIN IMMEDIATE");
    insert = prepare(
        "INSERT INTO samples (key, value, recorded_at, band_time, tz_offset, clock_id, flags, version, "
        "provenance, time_uncertain, time_bound, offset_source) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, 1, 0, 120, 0) "
        "ON CONFLICT DO NOTHING");
    interval = prepare("UPDATE unconfirmed SET last_seq = ?1 WHERE ring = 1");
    advance = prepare("UPDATE rings SET next_seq = ?1, stored = stored + ?2, last_seen = 0 WHERE id = 1");
    span = prepare("UPDATE clock_spans SET last_seq = ?1, last_band_time = ?2 WHERE ring = 1 AND clock_id = 1");
    day = prepare(
        "INSERT INTO days VALUES (1, ?1, ?2, ?2) ON CONFLICT DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)");
    commit = prepare("COMMIT");
}

static int64_t band_time(const uint8_t *record) { return (int64_t)le32(record + 4) * 1000 + le16(record + 8); }

static void insert_record(const uint8_t *record, uint16_t clock_id) {
    int64_t time = band_time(record);
    sqlite3_bind_int64(insert, 1, 1LL << 40 | (int64_t)le32(record) << 8 | record[11]);
    sqlite3_bind_int64(insert, 2, (int16_t)le16(record + 12));
    sqlite3_bind_int64(insert, 3, time + 1234);
    sqlite3_bind_int64(insert, 4, time);
    sqlite3_bind_int64(insert, 5, (int8_t)record[10]);
    sqlite3_bind_int64(insert, 6, clock_id);
    sqlite3_bind_int64(insert, 7, record[14]);
    run(insert);
}

int main(int argc, char **argv) {
    if (argc != 7) fail("usage", "floor BUS_ADDRESS DEVICE_PATH DATA CONTROL ACK DATABASE");
    const char *data = argv[3], *control = argv[4], *ack = argv[5];
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *bus = dbus_connection_open_private(argv[1], &error);
    if (!bus || !dbus_bus_register(bus, &error)) fail(error.name, error.message);
    open_database(argv[6]);
    int socket = acquire(bus, data, "AcquireNotify"), acks = acquire(bus, ack, "AcquireWrite");
    const uint8_t send_from[] = {1, 1, 0, 0, 0};
    dbus_message_unref(call(bus, write_value(control, "request", send_from, sizeof send_from)));

    static uint8_t packets[chunk_most][packet_most];
    static int sizes[chunk_most];
    uint64_t records = 0;
    for (int ended = 0; !ended;) {
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        if (poll(&ready, 1, 30000) <= 0) fail("socket", "nothing for 30 s");
        int count = 0;
        while (count < chunk_most) {
            ssize_t size = recv(socket, packets[count], packet_most, MSG_DONTWAIT);
            if (size < 0 && errno == EAGAIN) break;
            if (size <= 0) fail("socket", "closed");
            sizes[count++] = (int)size;
        }
        uint32_t last = 0, taken = 0;
        int64_t time = 0;
        run(begin);
        for (int i = 0; i < count; i++) {
            if (packets[i][1] == 1) {
                ended = 1;
                break;
            }
            for (int at = header_size; at + record_size <= sizes[i]; at += record_size, taken++) {
                insert_record(packets[i] + at, le16(packets[i] + 2));
                last = le32(packets[i] + at);
                time = band_time(packets[i] + at);
            }
        }
        if (taken > 0) {
            sqlite3_bind_int64(interval, 1, last);
            run(interval);
            sqlite3_bind_int64(advance, 1, (int64_t)last + 1);
            sqlite3_bind_int64(advance, 2, taken);
            run(advance);
            sqlite3_bind_int64(span, 1, last);
            sqlite3_bind_int64(span, 2, time);
            run(span);
            sqlite3_bind_int64(day, 1, (time + 1234) / 86400000);
            sqlite3_bind_int64(day, 2, last);
            run(day);
        }
        run(commit);
        if (taken > 0) {
            const uint8_t bytes[] = {(uint8_t)last, (uint8_t)(last >> 8), (uint8_t)(last >> 16), (uint8_t)(last >> 24)};
            if (send(acks, bytes, sizeof bytes, 0) != sizeof bytes) fail("ack", strerror(errno));
        }
        records += taken;
    }
    printf("records %llu\n", (unsigned long long)records);
    return 0;
}
