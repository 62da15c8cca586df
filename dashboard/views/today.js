import { el } from "../dom.js";
import { allBuckets, buckets, extent, gapsOf, lastDays, latest, samples, zoneFor } from "../data.js";
import { chart, facts, gapList, reading, stageBar } from "../figures.js";
import { bandName, counted, duration } from "../format.js";
import { bestStretches, sleeps, stageNames } from "../nights.js";
import * as plots from "../plots.js";
import { DAY, HOUR, MINUTE, civilDate, instant } from "../time.js";
import { asleep, coverage, gapsInDays, gapsInTime, heading, isLow, mean, nobodysData, since, whole } from "./parts.js";

export const title = "Today";
export const refreshes = true;

export async function load({ api, subject, account, now, signal }) {
    const zone = zoneFor(subject.zones, now);
    const date = civilDate(now, zone.name);
    const hourly = { from: date, to: date, bucket: "hour", zone: zone.name };
    const [days, heartHours, stepHours, gaps, bands] = await Promise.all([
        allBuckets(api, subject, { ...lastDays(date, 30), zone: zone.name }, signal),
        buckets(api, subject, "heart_rate", hourly, signal), buckets(api, subject, "steps", hourly, signal),
        gapsOf(api, subject, account.persons, now - 7 * DAY, now, signal),
        Promise.all(subject.devices.map((device) => api.get(`devices/${encodeURIComponent(device)}`, {}, signal))),
    ]);
    const [heart, spo2, night] = await Promise.all([
        latest(api, subject, "heart_rate", days.heart_rate, zone.name, signal),
        latest(api, subject, "spo2", days.spo2, zone.name, signal), lastNight(api, subject, days.sleep_stage, gaps, now, signal),
    ]);
    return { zone, date, days, heartHours, stepHours, gaps, bands, heart, spo2, night };
}

/** The sleeps that ended on the last day that has one. */
async function lastNight(api, subject, days, gaps, now, signal) {
    const day = days.findLast(({ count }) => count > 0);
    if (!day) return null;
    const start = instant(day.start);
    const end = start + day.minutes_in_day * MINUTE;
    const { list } = await samples(api, subject, "sleep_stage", start - 18 * HOUR, end, signal);
    const found = sleeps(bestStretches(list, (band) => gaps.filter(({ device_id }) => device_id === band), now))
        .filter((sleep) => sleep.end >= start && sleep.end < end);
    return { day, sleeps: found };
}

export function render(data, context) {
    const { subject, formats, now } = context;
    const { zone, date, gaps } = data;
    const span = extent(data.heartHours);
    const day = { ...span, zone: zone.name, gaps: gapsInTime(gaps, span.from, span.to), now };
    return [
        heading({ subject, zone, at: now, text: formats.longDay(date) }),
        el("div.grid.today", nobodysData(subject),
            heartPanel(data, day, context), stepPanel(data, day, context), nightPanel(data, context), spo2Panel(data, context),
            bandPanel(data, context),
            gapList(gaps, formats, zone.name, {
                heading: "Gaps of the last 7 days", none: "No gap is known.", showBand: subject.devices.length > 1,
            })),
    ];
}

function when(sample, zone, { formats, now }) {
    const value = instant(sample.recorded_at);
    const sameDay = civilDate(value, zone) === civilDate(now, zone);
    return [sameDay ? formats.clock(value, zone) : formats.moment(value, zone), ", ", since(value, now)];
}

function heartPanel({ heart, days, heartHours, zone }, day, context) {
    const { formats } = context;
    const today = days.heart_rate.at(-1);
    const some = today.count > 0;
    return el("section.panel.heart",
        reading({
            label: "Heart rate", sign: "heart", parts: heart && [formats.number(heart.value), "bpm"],
            note: heart && when(heart, zone.name, context), none: "No heart rate in the last 30 days",
        }),
        facts([
            ["Lowest and highest today", some ? `${formats.number(today.min)} to ${formats.number(today.max)} bpm` : "nothing yet"],
            ["Mean today", some ? `${formats.tenths(today.mean)} bpm` : "nothing yet"],
            ["Resting today", today.resting === undefined ? "not yet known" : `${formats.tenths(today.resting)} bpm`],
        ]),
        chart({
            title: "Heart rate by hour", height: "short", plot: some ? plots.heartHours(heartHours, day, formats) : null,
            legend: [["heart-soft", "lowest to highest"], ["heart-line", "mean"], ...gapKey(day)],
            empty: "No heart rate has arrived today.",
            summary: some ? `${counted(today.count, "measurement")} so far today.` : "No measurement so far today.",
            numbers: {
                columns: ["Hour", "Lowest", "Mean", "Highest", "Measurements"],
                rows: heartHours.map((hour) => [formats.clock(instant(hour.start), zone.name), ...(hour.count > 0
                    ? [formats.number(hour.min), formats.tenths(hour.mean), formats.number(hour.max), formats.number(hour.count)]
                    : ["no data", "", "", "0"])]),
            },
        }));
}

function stepPanel({ days, date, gaps, stepHours, zone }, day, { formats }) {
    const today = days.steps.at(-1);
    const some = today.count > 0;
    const yesterday = days.steps.at(-2);
    const week = mean(whole(days.steps.slice(-8), { gaps, today: date }).map(({ sum }) => sum));
    return el("section.panel.steps",
        reading({
            label: "Steps", sign: "steps", parts: some ? [formats.number(today.sum), "steps"] : null, note: some ? "so far today" : null,
            none: "No steps have arrived today",
        }),
        facts([
            ["Yesterday", yesterday.count > 0 ? formats.number(yesterday.sum) : "no data"],
            ["Mean of the last week’s whole days", week === null ? "no data" : formats.number(week)],
        ]),
        chart({
            title: "Steps by hour", height: "short", plot: some ? plots.stepHours(stepHours, day, formats) : null, legend: gapKey(day),
            empty: "No steps have arrived today.", summary: some ? mostSteps(stepHours, formats, zone.name) : "No steps so far today.",
            numbers: {
                columns: ["Hour", "Steps"],
                rows: stepHours.map((hour) => [formats.clock(instant(hour.start), zone.name), hour.count > 0 ? formats.number(hour.sum) : "no data"]),
            },
        }));
}

function mostSteps(hours, formats, zone) {
    const most = hours.reduce((best, hour) => ((hour.sum ?? 0) > (best.sum ?? 0) ? hour : best));
    if (!(most.sum > 0)) return "Not a step yet.";
    const [from, to] = [instant(most.start), instant(most.start) + HOUR].map((value) => formats.clock(value, zone));
    return `Most between ${from} and ${to}: ${formats.number(most.sum)} steps.`;
}

function nightPanel({ night, date, zone, gaps }, { formats, now }) {
    if (!night) {
        return el("section.panel.night", reading({
            label: "Sleep", sign: "sleep", parts: null, none: "No night in the last 30 days",
        }));
    }
    const { day, sleeps: list } = night;
    const last = list.toSorted((one, two) => (two.end - two.start) - (one.end - one.start))[0] ?? null;
    const which = day.local_date === date ? "Last night" : `Night to ${formats.weekday(day.local_date)}`;
    const parts = list.flatMap(({ parts }) => parts);
    const span = parts.length > 0 && { from: parts[0].start, to: parts.at(-1).end };
    const spans = list.map(({ start, end }) => formats.span(start, end, zone.name)).join(", and ");
    return el("section.panel.night",
        reading({
            label: which, sign: "sleep", parts: [...duration(asleep(day)).split(" ").slice(0, -1), `${duration(asleep(day)).split(" ").at(-1)} asleep`],
            note: last ? `${formats.clock(last.start, zone.name)} to ${formats.clock(last.end, zone.name)}` : formats.weekday(day.local_date),
            none: "",
        }),
        stageBar(day.minutes, stageNames, duration),
        chart({
            title: "Stages through the night", height: "short", empty: "The stages themselves are not kept any more.",
            plot: span ? plots.night(parts, { ...span, zone: zone.name, gaps: gapsInTime(gaps, span.from, span.to), now: now < span.to ? now : null }, formats) : null,
            summary: `${spans ? `${spans}: ` : ""}${duration(asleep(day))} asleep, ${duration(day.minutes.awake)} awake.`,
            numbers: span && {
                columns: ["From", "To", "Stage", "Length"],
                rows: parts.map(({ start, end, stage }) => [
                    formats.moment(start, zone.name), formats.clock(end, zone.name), stageNames[stage], duration((end - start) / MINUTE),
                ]),
            },
        }));
}

function spo2Panel({ spo2, days, gaps, zone }, context) {
    const { formats } = context;
    const list = days.spo2;
    const today = list.at(-1);
    const part = (value) => formats.number(value / 10, 1);
    const week = list.slice(-7);
    const drawn = gapsInDays(gaps, week);
    return el("section.panel.spo2",
        reading({
            label: "SpO₂", sign: "spo2", parts: spo2 && [part(spo2.value), "%"], note: spo2 && when(spo2, zone.name, context),
            none: "No SpO₂ in the last 30 days",
        }),
        facts([
            ["Range today", today.count > 0 ? `${part(today.min)} to ${part(today.max)} %` : "nothing yet"],
            ["Mean today", today.count > 0 ? `${part(today.mean)} %` : "nothing yet"],
        ]),
        chart({
            title: "SpO₂ of the last 7 days", height: "short", empty: "No SpO₂ in these days.",
            plot: week.some(({ count }) => count > 0) ? plots.spo2Days(week, drawn, formats) : null,
            legend: [["spo2-soft", "lowest to highest"], ["spo2-line", "mean"], ...gapKey({ gaps: drawn })], summary: coverage(week),
            numbers: {
                columns: ["Day", "Lowest", "Mean", "Highest"],
                rows: week.toReversed().map((day) => [formats.weekday(day.local_date), ...(day.count > 0
                    ? [`${part(day.min)} %`, `${part(day.mean)} %`, `${part(day.max)} %`] : ["no data", "", ""])]),
            },
        }));
}

function bandPanel({ bands }, { now }) {
    return el("section.panel.band-list", el("h2", "Bands"), bands.length === 0 ? el("p.quiet", "No band has sent anything of this person.")
        : el("ul", bands.map(({ device_id, status }) => el("li",
            el("span.band-name", bandName(device_id)),
            el("span.quiet", instant(status?.last_contact) === null ? "no contact is known" : ["last contact ", since(instant(status.last_contact), now)],
                battery(status?.battery_percent ?? null))))));
}

const battery = (percent) => (percent === null ? null
    : [", ", isLow(percent) ? el("span.low", `battery low, ${percent} %`) : `battery ${percent} %`]);

const gapKey = (day) => (day.gaps.length > 0 ? [["hatched", "gap"]] : []);
