import { DAY, HOUR, MINUTE, dateValue } from "./time.js";

// The page speaks English and counts as the reader's region does: 30 Nov or Nov 30, 14:05 or 2:05 pm, 8,432 or 8.432.

/** Numbers, dates and times for people, after a locale such as "de-DE". */
export class Formats {
    #locale;
    #dates;
    #hourCycle;
    #cache = new Map();

    constructor(locale = "en-GB") {
        this.#locale = supported(locale) ?? "en-GB";
        this.#dates = english(this.#locale);
        this.#hourCycle = new Intl.DateTimeFormat(this.#locale, { hour: "numeric" }).resolvedOptions().hourCycle;
    }

    /** The locale of dates: English, with the order and signs of the reader's region. */
    get dates() { return this.#dates; }

    number(value, digits = 0) {
        return this.#made(`number ${digits}`, () => new Intl.NumberFormat(this.#locale, {
            minimumFractionDigits: digits, maximumFractionDigits: digits,
        })).format(value);
    }

    /** With one decimal, none for a whole number. */
    tenths(value) { return this.number(value, Number.isInteger(value) ? 0 : 1); }

    percent(value) { return `${this.number(value)} %`; }

    clock(value, zone) {
        const hour = this.#hourCycle.startsWith("h1") ? "numeric" : "2-digit";
        return this.#time({ hour, minute: "2-digit", timeZone: zone }).format(value);
    }

    /** An hour beside an axis: `15:00`, or `3 pm` where people count so. */
    hour(value, zone) {
        return this.#hourCycle.startsWith("h1") ? this.#time({ hour: "numeric", timeZone: zone }).format(value) : this.clock(value, zone);
    }

    /** A civil date: `3 Oct`. */
    day(date) { return this.#date({ day: "numeric", month: "short" }).format(dateValue(date)); }

    /** `Mon 3 Oct`. */
    weekday(date) {
        return this.#date({ weekday: "short", day: "numeric", month: "short" }).format(dateValue(date)).replace(",", "");
    }

    /** `Monday 3 October 2026`. */
    longDay(date) {
        return this.#date({ weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(dateValue(date));
    }

    /** An instant with its day: `3 Oct 14:05`. */
    moment(value, zone) { return `${this.#dayOf(value, zone)} ${this.clock(value, zone)}`; }

    /** From one instant to another; the second day only when it is another. */
    span(from, to, zone) {
        const sameDay = this.#dayOf(from, zone) === this.#dayOf(to, zone) && to - from < 2 * DAY;
        return `${this.moment(from, zone)} to ${sameDay ? this.clock(to, zone) : this.moment(to, zone)}`;
    }

    #dayOf(value, zone) { return this.#date({ day: "numeric", month: "short", timeZone: zone }).format(value); }

    #time(options) { return this.#made(JSON.stringify(options), () => new Intl.DateTimeFormat(this.#dates, { ...options, hourCycle: this.#hourCycle })); }
    #date(options) { return this.#made(JSON.stringify(options), () => new Intl.DateTimeFormat(this.#dates, { timeZone: "UTC", ...options })); }

    #made(key, make) {
        if (!this.#cache.has(key)) this.#cache.set(key, make());
        return this.#cache.get(key);
    }
}

function supported(locale) {
    try {
        return Intl.DateTimeFormat.supportedLocalesOf(locale)[0] ?? null;
    } catch {
        return null;
    }
}

/** English as it is written in the locale's region; British where that is not known. */
function english(locale) {
    const known = new Intl.Locale(locale);
    if (known.language === "en" && known.region) return locale;
    const region = known.maximize().region;
    const wanted = `en-${region}`;
    return new Intl.DateTimeFormat(wanted).resolvedOptions().locale === wanted ? wanted : "en-GB";
}

/** `7 h 12 min`, `12 min`. */
export function duration(minutes) {
    const whole = Math.round(minutes);
    const hours = Math.floor(whole / 60);
    return hours > 0 ? `${hours} h ${whole % 60} min` : `${whole} min`;
}

/** The two largest units: `5 days 18 h`, `3 h 12 min`, `45 min`. */
export function length(milliseconds) {
    const days = Math.floor(milliseconds / DAY);
    const hours = Math.floor(milliseconds / HOUR) % 24;
    const minutes = Math.floor(milliseconds / MINUTE) % 60;
    const parts = [
        days > 0 ? counted(days, "day") : null, hours > 0 ? `${hours} h` : null,
        days === 0 && minutes > 0 ? `${minutes} min` : null,
    ].filter(Boolean);
    return parts.length > 0 ? parts.join(" ") : "less than a minute";
}

/** `8 minutes ago`; an instant that is to come says so. */
export function ago(value, now) {
    const passed = now - value;
    if (passed < -2 * MINUTE) return `${length(-passed)} ahead of this device's clock`;
    if (passed < MINUTE) return "just now";
    if (passed < HOUR) return `${counted(Math.floor(passed / MINUTE), "minute")} ago`;
    if (passed < 2 * DAY) return `${counted(Math.floor(passed / HOUR), "hour")} ago`;
    return `${counted(Math.floor(passed / DAY), "day")} ago`;
}

export const counted = (count, word, many = `${word}s`) => `${count} ${count === 1 ? word : many}`;

/** A band's address where its id has one: `F0:F1:F2:F3:F4:F5`. */
export function bandName(id) {
    const digits = /^band_([0-9A-F]{12})$/.exec(id);
    return digits ? digits[1].match(/../g).join(":") : id;
}

/** Short, for where the full one has no room: `band F4:F5`. */
export function shortBandName(id) {
    const name = bandName(id);
    return name === id ? id : `band ${name.slice(-5)}`;
}
