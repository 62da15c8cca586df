/* The load of `make bench-ingest`: gateways that upload batches over kept connections, each of 300 samples that are new.
 *
 *   ingest_load PORT TOKEN [--seconds N | --uploads N] [--connections N] [--rate N] [--devices N] [--first N]
 *
 * Without `--rate` each connection sends its next upload when the last one is answered. With it uploads become due at
 * random moments, so many a second on average, whether the server keeps up or not, and the time of an answer counts
 * from the moment its upload was due. Every answer is judged: status 200 and `"accepted":300`, or it is an error.
 *
 * Samples are compressed beforehand as a gateway compresses them; only the head of a body, which names the device, is
 * made on the way, as a block of its own in the same gzip stream.
 *
 * Uploads are numbered: `--first` goes on where another run ended, and upload N is number N / devices of device
 * N % devices, in an order that jumps about. Prints one line of names and numbers.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "ingest_life.h"

enum { connections_most = 1024, head_room = 1024, answer_room = 4096, compression = 6 };

struct body {
    unsigned char *packed;
    uint32_t packed_size, size, crc;
    uint32_t last_seq;
};

struct connection {
    int socket;
    bool busy, connected;
    double due;
    /* What is to be sent: head, packed samples, trailer. */
    unsigned char head[head_room], trailer[8];
    struct iovec parts[3];
    int part;
    char answer[answer_room];
    size_t answered;
};

static int port, connections = 64, per_device;
static long devices = 20000, first, uploads_most = -1;
static double seconds = 5, rate;
static const char *token;
static struct sample *lives;
static struct body *bodies;
static struct connection all[connections_most];
static int poller;

static long next_upload, in_flight, done, errors;
static uint64_t bytes_sent;
static float *times;
static long times_room;
static double begin_time, end_time, next_due, last_answer;
static char first_error[200];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "ingest_load: %s: %s\n", what, why);
    exit(1);
}

static void error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!errors++) vsnprintf(first_error, sizeof first_error, format, arguments);
    va_end(arguments);
}

/* MARK: bodies */

static size_t write_time(char *to, int64_t ms) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm date;
    gmtime_r(&seconds, &date);
    size_t count = strftime(to, 32, "%Y-%m-%dT%H:%M:%S", &date);
    return count + (size_t)sprintf(to + count, ".%03dZ", (int)(ms % 1000));
}

/* As Sources/Uplink/BatchEncoder.swift writes it. */
static size_t write_samples(char *to, const struct sample *samples, int kind) {
    static const char *const names[] = {"", "heart_rate", "steps", "spo2", "sleep_stage"};
    char *at = to;
    for (int index = 0; index < life_samples; index++) {
        const struct sample *sample = &samples[index];
        at += sprintf(
            at, "%s{\"type\":\"%s\",\"seq\":%u,\"value\":%d,\"recorded_at\":\"", index ? "," : "", names[sample->type],
            sample->seq, sample->value);
        at += write_time(at, sample->recorded_ms);
        at += sprintf(
            at,
            "\",\"tz_offset_min\":%d,\"version\":1,\"provenance\":\"device\",\"band_time_ms\":%lld,\"clock_id\":%d,"
            "\"flags\":%d,\"time_bound_ms\":%d",
            life_offset_min, (long long)sample->band_time_ms, life_clock, sample->flags, sample->bound_ms);
        at += kind % 2 ? sprintf(at, ",\"person\":\"person-%d\"}", kind) : sprintf(at, ",\"person\":null}");
    }
    return (size_t)(at - to + sprintf(at, "]}"));
}

static void make_body(struct body *body, const struct sample *samples, int kind) {
    static char text[life_samples * 400];
    static unsigned char packed[life_samples * 400];
    z_stream stream = {0};
    body->size = (uint32_t)write_samples(text, samples, kind);
    body->crc = (uint32_t)crc32(0, (unsigned char *)text, body->size);
    body->last_seq = samples[life_samples - 1].seq;
    if (deflateInit2(&stream, compression, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) fail("deflate", "init");
    stream.next_in = (unsigned char *)text, stream.avail_in = body->size;
    stream.next_out = packed, stream.avail_out = sizeof packed;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) fail("deflate", "no room");
    body->packed_size = (uint32_t)(sizeof packed - stream.avail_out);
    deflateEnd(&stream);
    body->packed = malloc(body->packed_size);
    if (!body->packed) fail("memory", "none left");
    memcpy(body->packed, packed, body->packed_size);
}

/* 20,000 devices of one account, in an order that jumps about: a prime that divides no usual number of them. */
static long device_of(long upload) { return upload % devices * 7919 % devices; }

static void fill(struct connection *connection, long upload) {
    long device = device_of(upload);
    int number = (int)(upload / devices);
    struct body *body = &bodies[device % life_kinds * per_device + number];
    char text[400];
    int size = sprintf(
        text,
        "{\"device_id\":\"band_%012lX\",\"ring\":\"%08lx\",\"sync_id\":\"%08lx-0000-4000-8000-%012lx\","
        "\"sample_count\":%d,\"complete_through\":%u,\"samples\":[",
        device, device * 7919 & 0xffffffff, upload, device, life_samples, body->last_seq);
    uint32_t crc = (uint32_t)crc32_combine(crc32(0, (unsigned char *)text, (uInt)size), body->crc, body->size);
    uint32_t whole = (uint32_t)size + body->size;
    unsigned char *at = connection->head;
    at += sprintf(
        (char *)at,
        "POST /v1/samples:batch HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: %u\r\n\r\n",
        port, token, 10 + 5 + (unsigned)size + body->packed_size + 8);
    /* RFC 1952: no name, no time. RFC 1951, 3.2.4: a block that is stored, and not the last. */
    memcpy(at, (unsigned char[]){0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0}, 11), at += 11;
    *at++ = (unsigned char)size, *at++ = (unsigned char)(size >> 8);
    *at++ = (unsigned char)~size, *at++ = (unsigned char)(~size >> 8);
    memcpy(at, text, (size_t)size), at += size;
    for (int index = 0; index < 4; index++) {
        connection->trailer[index] = (unsigned char)(crc >> 8 * index);
        connection->trailer[4 + index] = (unsigned char)(whole >> 8 * index);
    }
    connection->parts[0] = (struct iovec){connection->head, (size_t)(at - connection->head)};
    connection->parts[1] = (struct iovec){body->packed, body->packed_size};
    connection->parts[2] = (struct iovec){connection->trailer, 8};
    connection->part = 0;
    connection->answered = 0;
    bytes_sent += connection->parts[0].iov_len + body->packed_size + 8;
}

/* MARK: connections */

static void watch(struct connection *connection, int operation, uint32_t what) {
    struct epoll_event event = {.events = what, .data.ptr = connection};
    if (epoll_ctl(poller, operation, connection->socket, &event)) fail("epoll_ctl", strerror(errno));
}

static void open_connection(struct connection *connection) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address)) fail("connect", strerror(errno));
    fcntl(connection->socket, F_SETFL, O_NONBLOCK);
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
}

static void settle(struct connection *connection, bool good) {
    double took = now();
    last_answer = took;
    if (good && done < times_room) times[done++] = (float)((took - connection->due) * 1000);
    in_flight--;
    connection->busy = false;
}

static void lose(struct connection *connection, const char *why) {
    if (connection->busy) {
        error("connection lost: %s", why);
        settle(connection, false);
    }
    close(connection->socket);
    open_connection(connection);
}

/* False when the rest has to wait for room in the socket. */
static void push(struct connection *connection) {
    while (connection->part < 3) {
        ssize_t count = writev(connection->socket, connection->parts + connection->part, 3 - connection->part);
        if (count < 0) {
            if (errno == EAGAIN) return watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return lose(connection, strerror(errno));
        }
        while (connection->part < 3 && (size_t)count >= connection->parts[connection->part].iov_len)
            count -= (ssize_t)connection->parts[connection->part++].iov_len;
        if (connection->part == 3) break;
        connection->parts[connection->part].iov_base = (char *)connection->parts[connection->part].iov_base + count;
        connection->parts[connection->part].iov_len -= (size_t)count;
    }
}

static void pull(struct connection *connection) {
    ssize_t count = read(
        connection->socket, connection->answer + connection->answered, answer_room - 1 - connection->answered);
    if (count <= 0) {
        if (count < 0 && errno == EAGAIN) return;
        return lose(connection, count ? strerror(errno) : "closed");
    }
    connection->answered += (size_t)count;
    connection->answer[connection->answered] = 0;
    char *end = strstr(connection->answer, "\r\n\r\n");
    if (!end) return;
    char *length = strcasestr(connection->answer, "\r\ncontent-length:");
    if (!length || length > end) return lose(connection, "an answer without a length");
    if (connection->answered < (size_t)(end + 4 - connection->answer) + strtoul(length + 17, NULL, 10)) return;
    bool good = !strncmp(connection->answer, "HTTP/1.1 200 ", 13) && strstr(end, "\"accepted\":300");
    if (!good) error("%.12s, %.120s", connection->answer, end + 4);
    settle(connection, good);
}

/* MARK: the loop */

static double random_gap(void) {
    static struct life life = {.random = 42};
    return -log((life_random(&life, 1 << 30) + 1) / (double)(1 << 30)) / rate;
}

static bool is_over(double time) {
    return uploads_most >= 0 ? next_upload >= first + uploads_most : (rate ? next_due : time) >= end_time;
}

/* Gives idle connections what is due. */
static void start_what_is_due(void) {
    static int turn;
    double time = now();
    for (int looked = 0; looked < connections && !is_over(time); looked++) {
        struct connection *connection = &all[turn];
        if (!connection->busy) {
            if (rate && next_due > time) return;
            if (next_upload >= devices * per_device) fail("uploads", "more than were made beforehand");
            connection->due = rate ? next_due : time;
            if (rate) next_due += random_gap();
            connection->busy = true;
            in_flight++;
            fill(connection, next_upload++);
            push(connection);
        }
        turn = (turn + 1) % connections;
    }
}

static int ascending(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return a < b ? -1 : a > b;
}

static double part(double share) { return done ? times[(long)(share * (double)(done - 1))] : 0; }

int main(int count, char **arguments) {
    if (count < 3) fail("usage", "PORT TOKEN …");
    port = atoi(arguments[1]);
    token = arguments[2];
    for (int index = 3; index < count; index += 2) {
        const char *name = arguments[index], *value = arguments[index + 1];
        if (index + 1 == count) fail(name, "needs a value");
        if (!strcmp(name, "--seconds")) seconds = atof(value);
        else if (!strcmp(name, "--uploads")) uploads_most = atol(value);
        else if (!strcmp(name, "--connections")) connections = atoi(value);
        else if (!strcmp(name, "--rate")) rate = atof(value);
        else if (!strcmp(name, "--devices")) devices = atol(value);
        else if (!strcmp(name, "--first")) first = atol(value);
        else fail(name, "not an option");
    }
    if (connections < 1 || connections > connections_most) fail("--connections", "out of range");
    /* More than any machine takes in that time. */
    long most = uploads_most >= 0 ? uploads_most : (long)(seconds * (rate ? rate * 2 + 100 : 10000));
    per_device = (int)((first + most) / devices) + 1;
    int begin_number = (int)(first / devices);
    lives = life_all(per_device);
    bodies = calloc((size_t)life_kinds * (size_t)per_device, sizeof *bodies);
    times_room = most;
    times = malloc((size_t)times_room * sizeof *times);
    if (!lives || !bodies || !times) fail("memory", "none left");
    for (int kind = 0; kind < life_kinds; kind++)
        for (int number = begin_number; number < per_device; number++)
            make_body(&bodies[kind * per_device + number], life_upload(lives, per_device, kind, number), kind);
    poller = epoll_create1(0);
    for (int index = 0; index < connections; index++) open_connection(&all[index]);
    next_upload = first;
    begin_time = next_due = now();
    end_time = begin_time + seconds;
    while (true) {
        start_what_is_due();
        double time = now();
        if (is_over(time) && !in_flight) break;
        if (time > end_time + 60 && uploads_most < 0) fail("the server", "does not answer any more");
        struct epoll_event events[64];
        double wait = rate && next_due > time ? next_due - time : rate && in_flight < connections ? 0 : 1;
        if (is_over(time)) wait = 1;
        struct timespec patience = {(time_t)wait, (long)((wait - (time_t)wait) * 1e9)};
        int ready = epoll_pwait2(poller, events, 64, &patience, NULL);
        for (int index = 0; index < ready; index++) {
            struct connection *connection = events[index].data.ptr;
            if (events[index].events & EPOLLOUT) {
                watch(connection, EPOLL_CTL_MOD, EPOLLIN);
                push(connection);
            }
            if (events[index].events & ~(uint32_t)EPOLLOUT) pull(connection);
        }
    }
    double took = last_answer - begin_time;
    qsort(times, (size_t)done, sizeof *times, ascending);
    if (errors) fprintf(stderr, "ingest_load: %ld errors, the first: %s\n", errors, first_error);
    printf(
        "uploads %ld errors %ld seconds %.3f next %ld p50 %.2f p99 %.2f max %.2f bytes %.0f\n", done, errors, took,
        next_upload, part(0.5), part(0.99), part(1), done ? (double)bytes_sent / (double)(next_upload - first) : 0);
    return errors != 0;
}
