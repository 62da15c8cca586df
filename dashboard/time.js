// Instants are Unix milliseconds, civil dates are texts such as "2026-10-27". Nothing here reads a clock but `now`.

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const now = () => Date.now();

/** The instant of an RFC 3339 time; null for none. */
export function instant(text) {
    const value = typeof text === "string" ? Date.parse(text) : NaN;
    return Number.isFinite(value) ? value : null;
}

/** An instant as the API takes it. */
export const rfc3339 = (value) => new Date(value).toISOString();

/** Whether a text is a date of the calendar, in the form of the API. */
export function isDate(text) {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(text ?? "")) return false;
    const value = Date.parse(`${text}T00:00:00Z`);
    return Number.isFinite(value) && new Date(value).toISOString().startsWith(text);
}

/** Midnight of a civil date as if it were in UTC: for arithmetic and formatting of dates, never an instant. */
export const dateValue = (date) => Date.parse(`${date}T00:00:00Z`);

export const addDays = (date, days) => new Date(dateValue(date) + days * DAY).toISOString().slice(0, 10);

export const daysBetween = (from, to) => Math.round((dateValue(to) - dateValue(from)) / DAY);

/** Whether this browser knows an IANA zone. */
export function isZone(name) {
    if (typeof name !== "string" || name === "") return false;
    try {
        partsFormat(name);
        return true;
    } catch {
        return false;
    }
}

const formats = new Map();

function partsFormat(zone) {
    if (!formats.has(zone)) {
        formats.set(zone, new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
            timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
            hour: "2-digit", minute: "2-digit", second: "2-digit",
        }));
    }
    return formats.get(zone);
}

/** What clocks in a zone show at an instant, as a number of milliseconds as if it were UTC. */
function wallClock(value, zone) {
    const part = Object.fromEntries(partsFormat(zone).formatToParts(value).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
}

/** Minutes that a zone is ahead of UTC at an instant. */
export function offsetMinutes(value, zone) {
    const second = Math.floor(value / 1000) * 1000;
    return Math.round((wallClock(second, zone) - second) / MINUTE);
}

/** The full hours of a zone's clocks from one instant to before another, with the hour that they show. */
export function fullHours(from, to, zone) {
    const found = [];
    const shift = offsetMinutes(from, zone) * MINUTE;
    for (let value = Math.ceil((from + shift) / HOUR) * HOUR - shift; value < to; value += HOUR) {
        found.push({ value, hour: new Date(wallClock(value, zone)).getUTCHours() });
    }
    return found;
}

/** The civil date in a zone at an instant. */
export const civilDate = (value, zone) => new Date(wallClock(value, zone)).toISOString().slice(0, 10);

/** `UTC+05:30`. */
export function offsetText(minutes) {
    if (minutes === 0) return "UTC";
    const size = Math.abs(minutes);
    const two = (number) => String(number).padStart(2, "0");
    return `UTC${minutes < 0 ? "−" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** The zone that a person lives by at an instant: the latest that has begun; null when none has. */
export function zoneAt(zones, value) {
    let found = null;
    for (const { zone, from } of zones ?? []) {
        const begin = instant(from);
        if (begin !== null && begin <= value && (found === null || begin >= found.begin)) found = { zone, begin };
    }
    return found?.zone ?? null;
}

export const browserZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
