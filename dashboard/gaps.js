import { length } from "./format.js";
import { instant } from "./time.js";

// What is missing for good, in words. A day that nobody measured is no gap: it has nothing to say.

const fromElsewhere = "It can still come back, but only if another gateway or a restored database has it.";

const causes = {
    overwritten: ["the band overwrote it before it was read", fromElsewhere],
    freed_elsewhere: ["another gateway or an app read it and let the band erase it", fromElsewhere],
    reformatted: ["the band erased its whole memory before it was read", fromElsewhere],
    storage_lost: ["the gateway lost its database after the band had erased it", fromElsewhere],
    lost_by_band: ["the band says that it has it, and never sends it", "It will not come back."],
    unreadable: ["what the band sent could not be read", "The bytes are kept; a newer version may read them."],
};

export const why = (cause) => causes[cause]?.[0] ?? `the gateway gives a cause that this page does not know (${cause})`;

export const outlook = (cause) => causes[cause]?.[1] ?? "";

/** From when to when nothing is there: `No data from 3 Oct 14:00 to 4 Oct 09:10`. */
export function period(gap, formats, zone) {
    const after = instant(gap.after);
    const before = instant(gap.before);
    if (after !== null && before !== null && after < before) return `No data from ${formats.span(after, before, zone)}`;
    if (after !== null && before !== null) return `Data is missing at about ${formats.moment(before, zone)}; for how long is not known`;
    if (after !== null) return `No data after ${formats.moment(after, zone)}; until when is not known`;
    if (before !== null) return `No data before ${formats.moment(before, zone)}; since when is not known`;
    return "Data is missing; when it was measured is not known";
}

/** One sentence: the period and the cause. */
export const sentence = (gap, formats, zone) => `${period(gap, formats, zone)}: ${why(gap.cause)}.`;

/** How long it is, and how many records; null for what is not known. */
export function size(gap, formats) {
    const after = instant(gap.after);
    const before = instant(gap.before);
    const parts = [];
    if (after !== null && before !== null && after < before) parts.push(length(before - after));
    if (gap.last_seq !== null && gap.last_seq !== undefined) {
        const count = gap.last_seq - gap.first_seq + 1;
        parts.push(`${formats.number(count)} ${count === 1 ? "record" : "records"}`);
    }
    return parts.length > 0 ? parts.join(", ") : null;
}

/** The part of a gap within two instants, for drawing; null when there is none, or its times are not both known. */
export function within(gap, from, to) {
    const after = instant(gap.after);
    const before = instant(gap.before);
    if (after === null || before === null || after >= before) return null;
    const start = Math.max(after, from);
    const end = Math.min(before, to);
    return start < end ? { start, end } : null;
}

/** Whether a gap may lie within two instants, also where one of its ends is not known. */
export function mayTouch(gap, from, to) {
    const after = instant(gap.after) ?? -Infinity;
    const before = instant(gap.before) ?? Infinity;
    return Math.min(after, before) < to && Math.max(after, before) > from;
}
