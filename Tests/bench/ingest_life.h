/* What bands record, for all sides of `make bench-ingest`: the same samples from the same numbers everywhere.
 *
 * A device lives one of `life_kinds` lives: heart rate and steps each minute, SpO2 every five, sleep stages at night.
 * What it records is cut into uploads of `life_samples`; they differ in all that a database could find alike, the key.
 */
#pragma once
#include <stdint.h>
#include <stdlib.h>

enum { life_samples = 300, life_kinds = 64, life_offset_min = 330, life_clock = 3 };
enum { heart_rate = 1, steps = 2, spo2 = 3, sleep_stage = 4 };

struct sample {
    int64_t band_time_ms, recorded_ms;
    uint32_t seq;
    int32_t bound_ms;
    int16_t value;
    uint8_t type, flags;
};

struct life {
    uint64_t random;
    int64_t minute;
    uint32_t seq;
    int pulse, walking, away, stage, stage_left;
    int64_t read_minute; /* when the band's clock was read last, which is known exactly then */
};

/* SplitMix64. */
static inline uint32_t life_random(struct life *life, uint32_t below) {
    uint64_t z = life->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % below);
}

static inline void life_begin(struct life *life, int kind) {
    *life = (struct life){.random = (uint64_t)kind * 77 + 5, .pulse = 60 + kind % 17, .seq = 1, .stage = 1};
    /* 2026-05-01T00:00Z and later: each kind is elsewhere in its day. */
    life->read_minute = life->minute = 29626560 + kind * 97;
}

static inline struct sample life_sample(struct life *life, int type, int value, int flags) {
    int64_t band_time = life->minute * 60000 + type * 7;
    int64_t since = life->minute - life->read_minute;
    /* The band's clock is 20 ppm slow, and nobody knows that well. */
    return (struct sample){
        .band_time_ms = band_time, .recorded_ms = band_time + 137 + life->minute % 100000 * 6 / 5,
        .seq = life->seq++, .bound_ms = (int32_t)(60 + (since * 3 + 9) / 10 * 10), .value = (int16_t)value,
        .type = (uint8_t)type, .flags = (uint8_t)flags};
}

/* The samples of one minute; how many, 4 at most. */
static inline int life_minute(struct life *life, struct sample *out) {
    int count = 0, hour = (int)((life->minute + life_offset_min) / 60 % 24);
    int asleep = hour < 7;
    if (life_random(life, 180) == 0) life->away = !life->away;
    if (!asleep && life_random(life, 25) == 0) life->walking = life_random(life, 3) == 0;
    int wanted = asleep ? 52 : life->walking ? 104 : 71;
    life->pulse += (wanted - life->pulse) / 6 + (int)life_random(life, 7) - 3;
    out[count++] = life_sample(life, heart_rate, life->pulse, life->away && life_random(life, 8) ? 0 : 1);
    out[count++] = life_sample(
        life, steps, asleep ? 0 : life->walking ? 60 + (int)life_random(life, 60) : life_random(life, 4) ? 0 : 8, 1);
    if (life->minute % 5 == 0) out[count++] = life_sample(life, spo2, 940 + (int)life_random(life, 50), 1);
    if (asleep && life->stage_left-- <= 0) {
        life->stage = (int)life_random(life, 4);
        life->stage_left = 3 + (int)life_random(life, 20);
        out[count++] = life_sample(life, sleep_stage, life->stage, 1);
    }
    if (life_random(life, 60) == 0) life->read_minute = life->minute;
    life->minute++;
    return count;
}

/* Uploads 0 to `uploads - 1` of each kind: those of a kind follow each other. */
static inline struct sample *life_all(int uploads) {
    size_t each = (size_t)uploads * life_samples;
    struct sample *all = malloc(life_kinds * each * sizeof *all);
    for (int kind = 0; all && kind < life_kinds; kind++) {
        struct sample *to = all + kind * each, minute[4];
        struct life life;
        life_begin(&life, kind);
        for (size_t have = 0; have < each;) {
            int count = life_minute(&life, minute);
            for (int index = 0; index < count && have < each; index++) to[have++] = minute[index];
        }
    }
    return all;
}

static inline const struct sample *life_upload(const struct sample *all, int uploads, int64_t device, int upload) {
    return all + ((size_t)(device % life_kinds) * uploads + upload) * life_samples;
}
