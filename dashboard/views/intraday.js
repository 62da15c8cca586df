import { el } from "../dom.js";
import { allBuckets, counts, gapsOf, samples, zoneFor } from "../data.js";
import { chart, gapList } from "../figures.js";
import { bandName, counted, duration } from "../format.js";
import { bestStretches, stageNames } from "../nights.js";
import * as plots from "../plots.js";
import { address } from "../state.js";
import { HOUR, MINUTE, addDays, civilDate, dateValue, instant, offsetMinutes, offsetText, zoneAt } from "../time.js";
import { gapsInTime, heading, nobodysData } from "./parts.js";

export const title = "One day";

export async function load({ api, subject, account, place, now, signal }) {
    const today = civilDate(now, zoneFor(subject.zones, now).name);
    const date = place.date ?? today;
    const zone = zoneOfDay(subject.zones, date, { now, today });
    const query = { from: date, to: date, zone: zone.name };
    const [days, hours] = await Promise.all([
        allBuckets(api, subject, query, signal), allBuckets(api, subject, { ...query, bucket: "hour" }, signal),
    ]);
    const day = days.heart_rate[0] ?? null;
    if (!day) return { zone, today, date, day };
    const from = instant(day.start);
    const to = from + day.minutes_in_day * MINUTE;
    const [heart, spo2, stages, gaps] = await Promise.all([
        samples(api, subject, "heart_rate", from, to, signal), samples(api, subject, "spo2", from, to, signal),
        samples(api, subject, "sleep_stage", from - 4 * HOUR, to, signal),
        gapsOf(api, subject, account.persons, from, to, signal),
    ]);
    return { zone, today, date, day, from, to, days, hours, heart, spo2, stages, gaps };
}

/** Of today that of now, as in the other views; of a day that is over that of its noon, as somebody may have moved since. */
function zoneOfDay(zones, date, { now, today }) {
    if (date >= today) return zoneFor(zones, now);
    const noon = dateValue(date) + 12 * HOUR;
    // On the day on which the first zone was told it may have begun after noon.
    return zoneFor(zones, zoneAt(zones, noon) === null ? Math.min(now, noon + 12 * HOUR) : noon);
}

export function render(data, context) {
    const { subject, formats, now } = context;
    const { zone, date, day, from, to } = data;
    const top = heading({
        subject, zone, at: from ?? dateValue(date), text: formats.longDay(date), controls: dayChoice(data, context),
    });
    if (!day) return [top, el("p.panel.quiet", `In ${zone.name} there was no ${formats.day(date)}: the zone skipped it.`)];
    const gaps = gapsInTime(data.gaps, from, to);
    const axis = { from, to, zone: zone.name, gaps, now: now > from && now < to ? now : null };
    return [
        top, el("div.grid.intraday", nobodysData(subject), notes(data, context),
            heart(data, axis, context), steps(data, axis, context), sleep(data, axis, context), spo2(data, axis, context),
            gapList(data.gaps, formats, zone.name, {
                heading: "Gaps on this day", none: "No gap is known.", showBand: subject.devices.length > 1,
            })),
    ];
}

/** Where the keys go, and the buttons. */
export function keys({ place, data, go }) {
    if (!data) return {};
    const move = (days) => () => {
        const date = addDays(place.date ?? data.date, days);
        if (date <= data.today) go(address({ ...place, date }));
    };
    return { ArrowLeft: move(-1), ArrowRight: move(1) };
}

function dayChoice({ date, today }, { place, go }) {
    const move = (to) => go(address({ ...place, date: to }));
    const button = (text, name, to) => el("button", {
        type: "button", id: `day-${name}`, "aria-label": text, disabled: to > today, onclick: () => move(to),
    }, el("span", { "aria-hidden": "true" }, name === "before" ? "←" : "→"));
    return el("div.day-choice", { role: "group", "aria-label": "Day" },
        button("The day before", "before", addDays(date, -1)),
        el("input", {
            type: "date", id: "day", "aria-label": "Day to show", value: date, max: today,
            onchange: ({ target }) => { if (target.value && target.value <= today) move(target.value); },
        }),
        button("The day after", "after", addDays(date, 1)),
        el("button", { type: "button", id: "day-today", disabled: date === today, onclick: () => move(today) }, "Today"));
}

function notes({ day, from, to, heart, spo2, zone, hours }, { formats }) {
    const own = offsetMinutes(from, zone.name);
    const zones = new Set([offsetMinutes(from, zone.name), offsetMinutes(to - 1, zone.name)]);
    const others = [...new Set(heart.list.map(({ tz_offset_min }) => tz_offset_min))]
        .filter((offset) => offset !== null && !zones.has(offset));
    const list = [...heart.list, ...spo2.list];
    const uncertain = list.filter(({ time_uncertain }) => time_uncertain).length;
    const unworn = heart.list.filter((sample) => !sample.time_uncertain && !counts(sample)).length;
    const texts = [
        day.minutes_in_day !== 1440 ? `The clocks changed: this day has ${formats.tenths(day.minutes_in_day / 60)} hours, and began at ${offsetText(own)}.` : null,
        others.length > 0 ? `Some of it was measured where clocks showed ${others.map(offsetText).join(" or ")}; here it stands at the time of ${zone.name}.` : null,
        uncertain > 0 ? `${counted(uncertain, "sample")} ${uncertain === 1 ? "has" : "have"} a time that can’t be trusted: drawn as rings, not counted.` : null,
        unworn > 0 ? `${counted(unworn, "heart rate")} ${unworn === 1 ? "was" : "were"} measured while nobody wore the band: not shown.` : null,
        heart.complete && spo2.complete ? null : "There are more samples than this page shows; the table by hour has them all.",
    ].filter(Boolean);
    return texts.length > 0 ? el("ul.panel.notes", texts.map((text) => el("li", text))) : null;
}

/** Curves of the bands, each by itself. */
function curves(list, gaps, scale) {
    return [...new Set(list.map(({ device_id }) => device_id))].sort().map((device) => {
        const own = list.filter((sample) => sample.device_id === device);
        return {
            device: bandName(device), points: plots.pointsOf(own.filter(counts), gaps, scale),
            uncertain: own.filter(({ time_uncertain }) => time_uncertain)
                .map((sample) => ({ x: instant(sample.recorded_at), y: sample.value / scale })),
        };
    });
}

const gapKey = (axis) => (axis.gaps.length > 0 ? [["hatched", "gap"]] : []);

/** An hour's name; with its offset where clocks changed. */
const hourName = (hour, { minutes_in_day }, formats, zone) => {
    const name = formats.clock(instant(hour.start), zone);
    return minutes_in_day === 1440 ? name : `${name} (${offsetText(hour.offset_min)})`;
};

function panel({ kind, name, total, ...rest }) {
    return el(`section.panel.${kind}`,
        el("div.trend-head", el("h2", el(`span.mark.${kind}`, { "aria-hidden": "true" }), name), el("p.key-figure", total)), chart({ ...rest, isTitled: false }));
}

function heart({ days, hours, heart: { list }, zone }, axis, { formats }) {
    const [day] = days.heart_rate;
    const total = day.count > 0 ? `${formats.number(day.min)} to ${formats.number(day.max)} bpm, mean ${formats.tenths(day.mean)}` : "No data";
    const uncertain = list.some(({ time_uncertain }) => time_uncertain);
    return panel({
        kind: "heart", name: "Heart rate", total, title: "Heart rate through the day", height: "tall",
        plot: list.some((sample) => counts(sample) || sample.time_uncertain) ? plots.samples(curves(list, axis.gaps, 1), axis, formats, {
            colour: "heart", unit: "bpm", digits: 0, axis: { low: 40, high: 120, step: 20 },
        }) : null,
        legend: [["heart-line", "heart rate"], ...(uncertain ? [["ring", "time not certain"]] : []), ...gapKey(axis)],
        empty: "No heart rate on this day.",
        summary: day.count > 0
            ? `${counted(day.count, "measurement")}. ${day.resting === undefined ? "" : `Resting ${formats.tenths(day.resting)} bpm. `}The line breaks where nothing was measured.`
            : "No measurement on this day.",
        numbers: {
            columns: ["Hour", "Lowest", "Mean", "Highest", "Measurements"],
            rows: hours.heart_rate.map((hour) => [hourName(hour, day, formats, zone.name), ...(hour.count > 0
                ? [formats.number(hour.min), formats.tenths(hour.mean), formats.number(hour.max), formats.number(hour.count)]
                : ["no data", "", "", "0"])]),
        },
    });
}

function steps({ days, hours, zone }, axis, { formats }) {
    const [day] = days.steps;
    const total = day.count > 0 ? `${formats.number(day.sum)} steps` : "No data";
    return panel({
        kind: "steps", name: "Steps", total, title: "Steps by hour", height: "short", legend: gapKey(axis),
        plot: day.count > 0 ? plots.stepHours(hours.steps, axis, formats) : null, empty: "No steps on this day.", summary: `${total}.`,
        numbers: {
            columns: ["Hour", "Steps"],
            rows: hours.steps.map((hour) => [hourName(hour, day, formats, zone.name), hour.count > 0 ? formats.number(hour.sum) : "no data"]),
        },
    });
}

function sleep({ stages, gaps, from, to, zone }, axis, { formats, now }) {
    const parts = bestStretches(stages.list, (band) => gaps.filter(({ device_id }) => device_id === band), now)
        .filter(({ start, end, stage }) => end > from && start < to && stage !== "out_of_bed")
        .map((part) => ({ ...part, start: Math.max(part.start, from), end: Math.min(part.end, to) }));
    const minutes = parts.filter(({ stage }) => stage !== "awake").reduce((sum, { start, end }) => sum + (end - start) / MINUTE, 0);
    const total = parts.length > 0 ? `${duration(minutes)} asleep on this date` : "No data";
    return panel({
        kind: "sleep", name: "Sleep", total, title: "Sleep stages through the day", height: "short", legend: gapKey(axis),
        plot: parts.length > 0 ? plots.night(parts, axis, formats) : null, empty: "No sleep on this day.",
        summary: parts.length > 0 ? `${total}, from midnight to midnight. In the trends a night counts whole, on the day on which it ends.` : "No stage was recorded on this day.",
        numbers: {
            columns: ["From", "To", "Stage", "Length"],
            rows: parts.map(({ start, end, stage }) => [
                formats.clock(start, zone.name), formats.clock(end, zone.name), stageNames[stage], duration((end - start) / MINUTE),
            ]),
        },
    });
}

function spo2({ days, hours, spo2: { list }, zone }, axis, { formats }) {
    const [day] = days.spo2;
    const part = (value) => formats.number(value / 10, 1);
    const total = day.count > 0 ? `${part(day.min)} to ${part(day.max)} %, mean ${part(day.mean)} %` : "No data";
    return panel({
        kind: "spo2", name: "SpO₂", total, title: "SpO₂ through the day", height: "short",
        plot: list.some((sample) => counts(sample) || sample.time_uncertain) ? plots.samples(curves(list, axis.gaps, 10), axis, formats, {
            colour: "spo2", unit: "%", digits: 1, dots: true, axis: { low: 90, max: 100, label: (value) => `${formats.number(value)} %` },
        }) : null,
        legend: [["dot", "SpO₂"], ...gapKey(axis)], empty: "No SpO₂ on this day.", summary: day.count > 0 ? `${counted(day.count, "measurement")}.` : "No measurement on this day.",
        numbers: {
            columns: ["Hour", "Lowest", "Mean", "Highest", "Measurements"],
            rows: hours.spo2.filter(({ count }) => count > 0).map((hour) => [hourName(hour, day, formats, zone.name),
                `${part(hour.min)} %`, `${part(hour.mean)} %`, `${part(hour.max)} %`, formats.number(hour.count)]),
        },
    });
}
