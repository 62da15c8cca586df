import { el } from "../dom.js";
import { ago, bandName, counted } from "../format.js";
import { within } from "../gaps.js";
import { MINUTE, instant, offsetMinutes, offsetText } from "../time.js";

// What several views have in common.

/** The name at the top, the day or the span that is shown, and by whose clock. `controls` stand beside it. */
export function heading({ subject, zone, at, text, controls = null }) {
    return el("header.heading",
        el("div", el("h1", { tabindex: "-1" }, subject.kind === "band" ? `Band ${bandName(subject.id)}` : subject.name),
            el("p.when", text)),
        controls, el("p.zone", zoneText(subject, zone, at)));
}

/** By whose clock the times are, never left to be guessed. */
export function zoneText(subject, zone, at) {
    const name = `${zone.name} (${offsetText(offsetMinutes(at, zone.name))})`;
    if (zone.source === "person") return `Times and days are those of ${subject.name}: ${name}.`;
    if (zone.source === "unknown") return `This browser does not know the zone of ${subject.name}, ${zone.wanted}: times are the browser’s, ${name}.`;
    if (subject.kind === "band") return `A band has no zone of its own: times are this browser’s, ${name}. A sample counts on its wearer’s day.`;
    return `No zone is known for ${subject.name}: times are this browser’s, ${name}.`;
}

/** Said of a person of whom nothing has arrived: why the page is empty, and what to do. */
export const nobodysData = (subject) => (subject.devices.length > 0 ? null : el("p.panel.wide.quiet",
    `No data of ${subject.name} has arrived: no band is assigned to this person yet, or nothing of it was uploaded since. `
        + "On the gateway ‘bandferry assignments’ says who wears which band, and ‘bandferry assign’ changes it."));

export const isLow = (percent) => percent < 20;

/** "8 minutes ago", which goes on counting. */
export const since = (value, now) => el("time", { datetime: new Date(value).toISOString(), "data-since": String(value) }, ago(value, now));

/** Gaps as a plot of a time shows them. */
export const gapsInTime = (gaps, from, to) => gaps.map((gap) => within(gap, from, to)).filter(Boolean)
    .map((part) => ({ ...part, label: "gap" }));

/** Gaps on an axis of days: a day is as wide as another, however long it was. */
export function gapsInDays(gaps, days) {
    const starts = days.map((day) => instant(day.start));
    const ends = days.map((day, index) => starts[index + 1] ?? starts[index] + day.minutes_in_day * MINUTE);
    const place = (value) => {
        const index = Math.max(0, starts.findLastIndex((start) => start <= value));
        return index - 0.5 + Math.min(1, (value - starts[index]) / (ends[index] - starts[index]));
    };
    return gaps.map((gap) => within(gap, starts[0], ends.at(-1))).filter(Boolean)
        .map(({ start, end }) => ({ start: place(start), end: place(end), label: "gap" }));
}

/** What should be known of a day's numbers. */
export function dayNote(day, { gaps, today }) {
    const start = instant(day.start);
    const lost = gaps.some((gap) => within(gap, start, start + day.minutes_in_day * MINUTE) !== null);
    return [
        day.local_date === today ? "so far" : null, lost ? "part of it is in a gap" : null,
        day.minutes_in_day !== 1440 ? `a day of ${day.minutes_in_day / 60} hours` : null,
        isFrozen(day) ? "frozen: its samples have expired" : null,
    ].filter(Boolean).join(", ");
}

/** Days of which nothing is known to be missing: not the one that goes on, and none with a gap within or `before` it. */
export function whole(days, { gaps, today, before = 0 }) {
    return days.filter((day) => {
        const start = instant(day.start);
        return day.count > 0 && day.local_date !== today
            && !gaps.some((gap) => within(gap, start - before, start + day.minutes_in_day * MINUTE) !== null);
    });
}

export const isFrozen = (day) => Boolean(day.frozen);

export const asleep = ({ minutes }) => minutes.light + minutes.deep + minutes.rem;

export const mean = (list) => (list.length > 0 ? list.reduce((sum, value) => sum + value, 0) / list.length : null);

/** "27 of 30 days have data." */
export const coverage = (days) => {
    const filled = days.filter(({ count }) => count > 0).length;
    if (filled === days.length) return `All ${days.length} days have data.`;
    return filled === 0 ? "No day has data." : `${filled} of ${counted(days.length, "day")} ${filled === 1 ? "has" : "have"} data.`;
};
