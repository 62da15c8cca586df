import { ApiError } from "./api.js";
import { mayTouch } from "./gaps.js";
import { HOUR, MINUTE, addDays, browserZone, instant, isZone, rfc3339, zoneAt } from "./time.js";

// What the views ask the server for. A subject is a person or a band.

export const types = ["heart_rate", "steps", "sleep_stage", "spo2"];

const pageSize = 1000;
const mostPages = 20;
const worn = 1;

const naming = (subject) => (subject.kind === "person" ? { person: subject.id } : { device_id: subject.id });

/** People and bands of the account. A server that knows no list of people has bands only. */
export async function account(api, signal) {
    const persons = api.get("persons", {}, signal).catch((error) => {
        if (error instanceof ApiError && (error.status === 404 || error.status === 405)) return { persons: [] };
        throw error;
    });
    const [people, bands] = await Promise.all([persons, api.get("devices", {}, signal)]);
    return { persons: people.persons, devices: bands.devices };
}

/** The zone to count days in at an instant, and where it is from: `person`, `browser`, or `unknown` to this browser. */
export function zoneFor(zones, value) {
    const own = zoneAt(zones, value);
    if (own === null) return { name: browserZone(), source: "browser" };
    return isZone(own) ? { name: own, source: "person" } : { name: browserZone(), source: "unknown", wanted: own };
}

export async function buckets(api, subject, type, { from, to, bucket = "day", zone }, signal) {
    const answer = await api.get("aggregates", { ...naming(subject), type, from, to, bucket, tz: zone }, signal);
    return answer.buckets;
}

/** Buckets of every type: `{ heart_rate: [...], ... }`. */
export async function allBuckets(api, subject, query, signal) {
    const lists = await Promise.all(types.map((type) => buckets(api, subject, type, query, signal)));
    return Object.fromEntries(types.map((type, index) => [type, lists[index]]));
}

/** Samples in a time, all pages; `complete` is false when there were more than the page can show. */
export async function samples(api, subject, type, from, to, signal) {
    const list = [];
    let cursor = null;
    for (let page = 0; page < mostPages; page += 1) {
        const answer = await api.get("samples", {
            ...naming(subject), type, from: rfc3339(from), to: to === null ? null : rfc3339(to), limit: pageSize, cursor,
        }, signal);
        list.push(...answer.samples);
        cursor = answer.next_cursor;
        if (!cursor) return { list, complete: true };
    }
    return { list, complete: false };
}

/** Whether trends count it: its time can be trusted, and a heart was there to be measured. */
export const counts = (sample) => !sample.time_uncertain && (sample.type !== "heart_rate" || (sample.flags & worn) === worn);

/** The newest sample that counts, found by way of its day and its hour; null when none of the days has one. */
export async function latest(api, subject, type, days, zone, signal) {
    const day = days.findLast(({ count }) => count > 0);
    if (!day) return null;
    const hours = await buckets(api, subject, type, { from: day.local_date, to: day.local_date, bucket: "hour", zone }, signal);
    const hour = hours.findLast(({ count }) => count > 0);
    if (!hour) return null;
    const { list } = await samples(api, subject, type, instant(hour.start), null, signal);
    return list.findLast(counts) ?? null;
}

/** Gaps of a band that have not healed. */
const openGaps = async (api, device, signal) => (await api.get(`devices/${encodeURIComponent(device)}/gaps`, {}, signal)).gaps
    .filter(({ healed_at }) => !healed_at).map((gap) => ({ ...gap, device_id: device }));

/**
 * Gaps that may be the subject's, within two instants. A gap names a band and no person: for a band that several wear, those
 * who wore it on both sides decide, and where nobody can tell, it is shown.
 */
export async function gapsOf(api, subject, persons, from, to, signal) {
    const lists = await Promise.all(subject.devices.map((device) => openGaps(api, device, signal)));
    const near = lists.flat().filter((gap) => mayTouch(gap, from, to));
    const mine = await Promise.all(near.map(async (gap) => {
        const wearers = persons.filter(({ devices }) => devices?.includes(gap.device_id));
        if (subject.kind === "band" || wearers.length <= 1) return true;
        const known = await sidesOf(api, gap, signal);
        return known.length === 0 || known.includes(subject.id);
    }));
    const start = (gap) => instant(gap.after) ?? instant(gap.before) ?? 0;
    return near.filter((_, index) => mine[index]).sort((one, other) => start(one) - start(other));
}

/** What was found out of a gap's sides is kept with the account's own `Api`, and asked for once. */
const sides = new WeakMap();

/** Who is known to have worn the band on either side of a gap; null = nobody did. */
async function sidesOf(api, gap, signal) {
    if (!sides.has(api)) sides.set(api, new Map());
    const key = JSON.stringify([gap.device_id, gap.ring, gap.first_seq, gap.after, gap.before]);
    const found = sides.get(api);
    if (!found.has(key)) {
        const both = await Promise.all([before(api, gap, signal), after(api, gap, signal)]);
        found.set(key, both.filter((person) => person !== undefined));
    }
    return found.get(key);
}

/** Who wore the band when the gap began; undefined when no sample tells. */
async function before(api, gap, signal) {
    const value = instant(gap.after);
    if (value === null) return undefined;
    const query = { device_id: gap.device_id, from: rfc3339(value - 15 * MINUTE), to: rfc3339(value + 1), limit: pageSize };
    return wearer((await api.get("samples", query, signal)).samples.at(-1));
}

async function after(api, gap, signal) {
    const value = instant(gap.before);
    if (value === null) return undefined;
    const query = { device_id: gap.device_id, from: rfc3339(value), to: rfc3339(value + HOUR), limit: 1 };
    return wearer((await api.get("samples", query, signal)).samples[0]);
}

const wearer = (sample) => (sample === undefined ? undefined : sample.person ?? null);

/** The instants between which a list of buckets lies. */
export function extent(list) {
    const last = list.at(-1);
    const end = instant(last.start) + (last.local_hour === undefined ? last.minutes_in_day * MINUTE : HOUR);
    return { from: instant(list[0].start), to: end };
}

/** The last days up to a date, it included. */
export const lastDays = (date, count) => ({ from: addDays(date, 1 - count), to: date });
