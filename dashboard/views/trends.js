import { el } from "../dom.js";
import { allBuckets, extent, gapsOf, lastDays, zoneFor } from "../data.js";
import { chart, gapList } from "../figures.js";
import { counted, duration } from "../format.js";
import { stageNames } from "../nights.js";
import * as plots from "../plots.js";
import { address, spans } from "../state.js";
import { HOUR, civilDate } from "../time.js";
import { asleep, coverage, dayNote, gapsInDays, heading, isFrozen, mean, nobodysData, whole } from "./parts.js";

export const title = "Trends";

export async function load({ api, subject, account, place, now, signal }) {
    const zone = zoneFor(subject.zones, now);
    const today = civilDate(now, zone.name);
    const days = await allBuckets(api, subject, { ...lastDays(today, place.days), zone: zone.name }, signal);
    const { from, to } = extent(days.heart_rate);
    return { zone, today, days, gaps: await gapsOf(api, subject, account.persons, from, to, signal) };
}

export function render(data, context) {
    const { subject, formats, now, place } = context;
    const { zone, days, gaps } = data;
    const [first, last] = [days.heart_rate[0], days.heart_rate.at(-1)].map(({ local_date }) => formats.weekday(local_date));
    const frozen = Object.values(days).some((list) => list.some(isFrozen));
    return [
        heading({ subject, zone, at: now, text: `${first} to ${last}`, controls: spanChoice(context) }),
        el("div.grid.trends", nobodysData(subject), heart(data, context), steps(data, context), sleep(data, context), spo2(data, context),
            frozen ? el("p.panel.wide.quiet", "Days marked as frozen are older than the samples that are kept: their figures stay, but are not computed again.") : null,
            gapList(gaps, formats, zone.name, {
                heading: `Gaps of the last ${place.days} days`, none: "No gap is known.", showBand: subject.devices.length > 1,
            })),
    ];
}

function spanChoice({ place, go }) {
    return el("fieldset.choice", el("legend.unseen", "Days to show"), spans.map((days) => el("label",
        el("input", {
            type: "radio", id: `days-${days}`, name: "days", value: String(days), checked: days === place.days,
            onchange: () => go(address({ ...place, days })),
        }), el("span", `${days} days`))));
}

/** One panel: its figures over days, the chart, and a row a day. */
function panel({ kind, name, noun = name.toLowerCase(), days, gaps, today, formats, plot, legend, key, columns, row }) {
    const filled = days.filter(({ count }) => count > 0);
    const some = filled.length > 0;
    const drawn = gapsInDays(gaps, days);
    return el(`section.panel.${kind}`,
        el("div.trend-head", el("h2", el(`span.mark.${kind}`, { "aria-hidden": "true" }), name), el("p.key-figure", some ? key(filled) : "No data")),
        chart({
            title: `${name} by day`, isTitled: false, height: "medium", plot: some ? plot(days, drawn) : null,
            empty: `No ${noun} in these days.`, legend: drawn.length > 0 ? [...legend, ["hatched", "gap"]] : legend,
            spoken: some ? `${key(filled)}.` : "", summary: `${coverage(days)}${drawn.length > 0 ? ` ${drawn.length === 1 ? "One gap lies" : `${drawn.length} gaps lie`} in these days.` : ""}`,
            numbers: {
                columns: ["Day", ...columns, "Note"],
                rows: days.toReversed().map((day) => [
                    formats.weekday(day.local_date), ...(day.count > 0 ? row(day) : ["no data", ...columns.slice(1).map(() => "")]),
                    dayNote(day, { gaps, today }),
                ]),
            },
        }));
}

function heart({ days, ...rest }, { formats }) {
    const resting = (list) => list.filter(({ resting }) => resting !== undefined).map(({ resting }) => resting);
    return panel({
        ...rest, formats, kind: "heart", name: "Heart rate", days: days.heart_rate,
        plot: (list, gaps) => plots.heartDays(list, gaps, formats),
        legend: [["heart-soft", "lowest to highest"], ["heart-line", "mean"], ["resting-line", "resting"]],
        key: (filled) => (resting(filled).length > 0 ? `Resting ${formats.number(mean(resting(filled)), 1)} bpm on average`
            : `Mean ${formats.number(mean(filled.map(({ mean }) => mean)), 1)} bpm`),
        columns: ["Lowest", "Mean", "Highest", "Resting", "Measurements"],
        row: (day) => [formats.number(day.min), formats.tenths(day.mean), formats.number(day.max),
            day.resting === undefined ? "not known" : formats.tenths(day.resting), formats.number(day.count)],
    });
}

function steps({ days, today, ...rest }, { formats }) {
    const complete = whole(days.steps, { gaps: rest.gaps, today });
    const average = mean(complete.map(({ sum }) => sum));
    const index = days.steps.findIndex(({ local_date }) => local_date === today);
    return panel({
        ...rest, today, formats, kind: "steps", name: "Steps", days: days.steps,
        plot: (list, gaps) => plots.stepDays(list, gaps, formats, { mean: average, today: index }),
        legend: [["steps", "steps"], ["steps-soft", "today so far"], ["mean-line", "mean of whole days"]],
        key: () => (average === null ? "No whole day has data" : `${formats.number(average)} a day, mean of ${counted(complete.length, "whole day")}`),
        columns: ["Steps"], row: (day) => [formats.number(day.sum)],
    });
}

function sleep({ days, today, ...rest }, { formats }) {
    // A night begins on the day before; the one that ended today is whole.
    const nights = whole(days.sleep_stage, { gaps: rest.gaps, today: null, before: 12 * HOUR });
    return panel({
        ...rest, today, formats, kind: "sleep", name: "Sleep", days: days.sleep_stage,
        plot: (list, gaps) => plots.sleepDays(list, gaps, formats, duration),
        legend: ["deep", "rem", "light", "awake"].map((stage) => [stage, stage === "rem" ? "REM" : stageNames[stage].toLowerCase()]),
        key: () => (nights.length === 0 ? "No whole night has data"
            : `${duration(mean(nights.map(asleep)))} asleep, mean of ${counted(nights.length, "whole night")}`),
        columns: ["Asleep", "Deep", "REM", "Light", "Awake", "Out of bed"],
        row: (day) => [duration(asleep(day)), ...["deep", "rem", "light", "awake", "out_of_bed"].map((stage) => duration(day.minutes[stage]))],
    });
}

function spo2({ days, ...rest }, { formats }) {
    const part = (value) => formats.number(value / 10, 1);
    return panel({
        ...rest, formats, kind: "spo2", name: "SpO₂", noun: "SpO₂", days: days.spo2,
        plot: (list, gaps) => plots.spo2Days(list, gaps, formats),
        legend: [["spo2-soft", "lowest to highest"], ["spo2-line", "mean"]],
        key: (filled) => `${part(mean(filled.map(({ mean }) => mean)))} % on average`,
        columns: ["Lowest", "Mean", "Highest", "Measurements"],
        row: (day) => [`${part(day.min)} %`, `${part(day.mean)} %`, `${part(day.max)} %`, formats.number(day.count)],
    });
}
