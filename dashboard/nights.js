import { HOUR, MINUTE, instant } from "./time.js";

// Stages out of stage records. The minutes that are shown come from the server; this draws them in time.

export const stages = ["awake", "light", "deep", "rem", "out_of_bed"];
export const stageNames = { awake: "Awake", rem: "REM", light: "Light", deep: "Deep", out_of_bed: "Out of bed" };

const longest = 4 * HOUR;
const pause = 60 * MINUTE;

/**
 * Records of one band as stretches `{ start, end, stage }`: a stage lasts to the next record, to the beginning of a gap,
 * or four hours, and never beyond `now`.
 */
export function stretches(samples, gaps, now) {
    const records = samples.filter((sample) => !sample.time_uncertain)
        .map((sample) => ({ start: instant(sample.recorded_at), stage: stages[sample.value] }))
        .filter(({ start, stage }) => start !== null && stage !== undefined);
    const lost = gaps.filter((gap) => !gap.healed_at).map((gap) => [instant(gap.after), instant(gap.before)])
        .filter(([after, before]) => after !== null && before !== null).map(([after]) => after);
    return records.map(({ start, stage }, index) => {
        const next = records[index + 1]?.start ?? Infinity;
        const gap = Math.min(Infinity, ...lost.filter((after) => after >= start));
        return { start, stage, end: Math.min(next, gap, start + longest, now) };
    }).filter(({ start, end }) => end > start);
}

/** Stretches as sleeps: one ends out of bed, after an hour awake, or after an hour of which nothing is known. */
export function sleeps(list) {
    const found = [];
    let current = [];
    const close = () => {
        // Awake at the ends is the sleep's own, but alone it is none.
        if (current.some(({ stage }) => stage !== "awake" && stage !== "out_of_bed")) found.push(current);
        current = [];
    };
    for (const stretch of list) {
        const last = current.at(-1);
        if (last && stretch.start - last.end >= pause) close();
        if (stretch.stage === "out_of_bed") {
            close();
            continue;
        }
        current.push(stretch);
        if (stretch.stage === "awake" && stretch.end - stretch.start >= pause) close();
    }
    close();
    return found.map((parts) => ({ start: parts[0].start, end: parts.at(-1).end, parts }));
}

const asleep = (list) => list.filter(({ stage }) => ["light", "deep", "rem"].includes(stage))
    .reduce((sum, { start, end }) => sum + end - start, 0);

/** Of several bands the one that saw most of the sleep, as the server counts; `samples` name their bands. */
export function bestStretches(samples, gapsOf, now) {
    const bands = [...new Set(samples.map((sample) => sample.device_id))].sort();
    const lists = bands.map((band) => stretches(
        samples.filter((sample) => sample.device_id === band), gapsOf(band), now));
    return lists.reduce((best, list) => (asleep(list) > asleep(best) ? list : best), lists[0] ?? []);
}
