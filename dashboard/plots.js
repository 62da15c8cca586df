import { stageNames } from "./nights.js";
import { HOUR, MINUTE, fullHours, instant } from "./time.js";

// What Chart.js is told: one function a plot, from answers of the server to `(colours) => configuration`. Nothing is drawn here.

const axisWidth = 54;

const grid = (colours) => ({ color: colours.line, drawBorder: false, drawTicks: false });

const y = (colours, { min, max, low, high, step, label, stacked = false, zero = false }) => ({
    min, max, suggestedMin: low, suggestedMax: high, stacked, beginAtZero: zero, grid: grid(colours),
    afterFit: (axis) => { axis.width = axisWidth; },
    ticks: { padding: 8, maxTicksLimit: step ? 11 : 5, stepSize: step, precision: 0, callback: label },
});

/** Days beside each other, named as far as there is room. */
function dayAxis(days, formats) {
    return {
        type: "linear", min: -0.5, max: days.length - 0.5, grid: { display: false, drawBorder: false }, offset: false,
        afterBuildTicks(axis) {
            const room = Math.max(1, Math.floor((axis.chart.width - axisWidth) / 56));
            const step = [1, 2, 7, 14, 28].find((size) => days.length / size <= room) ?? 28;
            axis.ticks = days.map((_, index) => ({ value: index })).filter(({ value }) => (days.length - 1 - value) % step === 0);
        },
        ticks: { maxRotation: 0, autoSkip: false, padding: 4, callback: (value) => formats.day(days[value].local_date) },
    };
}

/** The hours of a time, named every so many. */
function timeAxis({ from, to, zone }, formats) {
    return {
        type: "linear", min: from, max: to, grid: { display: false, drawBorder: false }, offset: false,
        afterBuildTicks(axis) {
            const hours = fullHours(from, to, zone);
            const room = Math.max(1, Math.floor((axis.chart.width - axisWidth) / 54));
            const step = [1, 2, 3, 4, 6, 12].find((size) => hours.length / size <= room) ?? 12;
            // An hour that comes twice is named once.
            axis.ticks = hours.filter(({ hour }, index) => hour % step === 0 && hours[index - 1]?.hour !== hour)
                .map(({ value }) => ({ value }));
        },
        ticks: { maxRotation: 0, autoSkip: false, padding: 4, callback: (value) => formats.hour(value, zone) },
    };
}

const rangeBars = (points, colour, say) => ({
    type: "bar", order: 3, data: points, backgroundColor: colour, borderRadius: 3, borderSkipped: false, grouped: false,
    barPercentage: 0.72, categoryPercentage: 1, maxBarThickness: 22, say,
});

const curve = (points, colour, say, { dashed = false, order = 1, radius = 0, point = "circle" } = {}) => ({
    type: "line", order, data: points, borderColor: colour, backgroundColor: colour, borderWidth: 2, pointRadius: radius,
    pointStyle: point, pointHoverRadius: 4, borderDash: dashed ? [5, 4] : [], spanGaps: false, tension: 0, say,
});

const value = (bucket, key) => (bucket.count > 0 && bucket[key] !== undefined ? bucket[key] : NaN);

const ranges = (list, at) => list.map((bucket, index) => ({
    x: at(bucket, index), y: bucket.count > 0 ? [bucket.min, bucket.max] : null, bucket,
})).filter(({ y }) => y !== null);

const scaled = (bars, scale) => bars.map((bar) => ({ ...bar, y: bar.y.map((value) => value / scale) }));

const dayTitle = (formats) => ({ bucket }) => formats.weekday(bucket.local_date);

/** A point between two others breaks the curve; one alone is a dot. */
const lonely = (points) => ({ dataIndex: index }) => {
    const isThere = (point) => point !== undefined && Number.isFinite(point.y);
    return !isThere(points[index - 1]) && !isThere(points[index + 1]) ? 2.5 : 0;
};

const series = (list, key, scale = 1) => list.map((bucket, index) => ({ x: index, y: value(bucket, key) / scale, bucket }));

export const heartDays = (days, gaps, formats) => (colours) => {
    const mean = series(days, "mean");
    const resting = series(days, "resting");
    return {
        data: { datasets: [
            rangeBars(ranges(days, (_, index) => index), colours["heart-soft"],
                ({ bucket }) => `${formats.number(bucket.min)} to ${formats.number(bucket.max)} bpm`),
            { ...curve(mean, colours.heart, ({ y }) => `mean ${formats.tenths(y)} bpm`), pointRadius: lonely(mean) },
            { ...curve(resting, colours.resting, ({ y }) => `resting ${formats.tenths(y)} bpm`, { dashed: true, point: "rectRot" }),
                pointRadius: lonely(resting) },
        ] },
        options: {
            scales: { x: dayAxis(days, formats), y: y(colours, { low: 40, high: 120, step: 20 }) },
            underlay: { gaps }, titles: dayTitle(formats),
        },
    };
};

export const stepDays = (days, gaps, formats, goal) => (colours) => ({
    data: { datasets: [{
        type: "bar", order: 2, data: days.map((bucket, index) => ({ x: index, y: value(bucket, "sum"), bucket })),
        backgroundColor: days.map((_, index) => (index === goal.today ? colours["steps-soft"] : colours.steps)),
        borderColor: colours.steps, borderWidth: days.map((_, index) => (index === goal.today ? 1.5 : 0)),
        borderRadius: 3, barPercentage: 0.72, categoryPercentage: 1, maxBarThickness: 22,
        say: ({ y: sum, bucket }) => `${formats.number(sum)} steps${bucket === days[goal.today] ? " so far" : ""}`,
    }, {
        ...curve(goal.mean === null ? [] : [{ x: -0.5, y: goal.mean }, { x: days.length - 0.5, y: goal.mean }], colours["ink-2"],
            () => null, { dashed: true }), borderWidth: 1.25, pointHoverRadius: 0, pointHitRadius: 0,
    }] },
    options: {
        scales: { x: dayAxis(days, formats), y: y(colours, { zero: true, label: (steps) => formats.number(steps) }) },
        underlay: { gaps }, titles: ({ bucket }) => (bucket ? formats.weekday(bucket.local_date) : ""),
        plugins: { tooltip: { filter: ({ raw }) => raw.bucket !== undefined } },
    },
});

const stacked = ["deep", "rem", "light", "awake"];

export const sleepDays = (days, gaps, formats, duration) => (colours) => ({
    data: { datasets: stacked.map((stage) => ({
        type: "bar", stack: "sleep", data: days.map((bucket, index) => ({
            x: index, y: bucket.count > 0 ? bucket.minutes[stage] / 60 : NaN, bucket,
        })),
        backgroundColor: colours[stage], borderColor: colours.surface, borderWidth: { top: 1 }, borderSkipped: false,
        barPercentage: 0.72, categoryPercentage: 1, maxBarThickness: 22,
        say: ({ bucket }) => `${stageNames[stage]} ${duration(bucket.minutes[stage])}`,
    })) },
    options: {
        scales: {
            x: { ...dayAxis(days, formats), stacked: true },
            y: y(colours, { zero: true, stacked: true, high: 8, step: 2, label: (hours) => `${formats.number(hours)} h` }),
        },
        underlay: { gaps }, titles: dayTitle(formats),
    },
});

export const spo2Days = (days, gaps, formats) => (colours) => {
    const mean = series(days, "mean", 10);
    return {
        data: { datasets: [
            rangeBars(scaled(ranges(days, (_, index) => index), 10), colours["spo2-soft"],
                ({ bucket }) => `${formats.number(bucket.min / 10, 1)} to ${formats.number(bucket.max / 10, 1)} %`),
            { ...curve(mean, colours.spo2, ({ y }) => `mean ${formats.number(y, 1)} %`), pointRadius: lonely(mean) },
        ] },
        options: {
            scales: { x: dayAxis(days, formats), y: y(colours, { low: 90, max: 100, label: (part) => `${formats.number(part)} %` }) },
            underlay: { gaps }, titles: dayTitle(formats),
        },
    };
};

// One day.

const middle = (bucket) => instant(bucket.start) + HOUR / 2;

export const heartHours = (hours, day, formats) => (colours) => {
    const mean = hours.map((bucket) => ({ x: middle(bucket), y: value(bucket, "mean"), bucket }));
    return {
        data: { datasets: [
            rangeBars(ranges(hours, middle), colours["heart-soft"],
                ({ bucket }) => `${formats.number(bucket.min)} to ${formats.number(bucket.max)} bpm`),
            { ...curve(mean, colours.heart, ({ y }) => `mean ${formats.tenths(y)} bpm`), pointRadius: lonely(mean) },
        ] },
        options: {
            scales: { x: timeAxis(day, formats), y: y(colours, { low: 40, high: 120, step: 40 }) },
            underlay: day, titles: ({ bucket }) => formats.span(instant(bucket.start), instant(bucket.start) + HOUR, day.zone),
        },
    };
};

export const stepHours = (hours, day, formats) => (colours) => ({
    data: { datasets: [{
        type: "bar", data: hours.map((bucket) => ({ x: middle(bucket), y: value(bucket, "sum"), bucket })),
        backgroundColor: colours.steps, borderRadius: 3, barPercentage: 0.72, categoryPercentage: 1, maxBarThickness: 22,
        say: ({ y: sum }) => `${formats.number(sum)} steps`,
    }] },
    options: {
        scales: {
            x: timeAxis(day, formats),
            y: y(colours, { zero: true, high: 1000, label: (steps) => formats.number(steps) }),
        },
        underlay: day, titles: ({ bucket }) => formats.span(instant(bucket.start), instant(bucket.start) + HOUR, day.zone),
    },
});

const lanes = ["deep", "light", "rem", "awake"];

/** Stages in time, a lane each: the height says the stage as well as the colour. */
export const night = (parts, day, formats) => (colours) => ({
    data: {
        datasets: [{
            type: "line", stepped: true, order: 2, borderColor: colours["ink-3"], borderWidth: 1, pointRadius: 0, pointHoverRadius: 0,
            data: steps(parts), say: () => null,
        }, ...lanes.map((stage, lane) => ({
            type: "line", order: 1, borderColor: colours[stage], borderWidth: 9, borderCapStyle: "butt", pointRadius: 0,
            pointHoverRadius: 0, spanGaps: false,
            data: parts.filter((part) => part.stage === stage).flatMap((part) => [
                { x: part.start, y: lane, part }, { x: part.end, y: lane, part }, { x: part.end, y: NaN },
            ]),
            say: ({ part }) => `${stageNames[stage]} ${formats.span(part.start, part.end, day.zone)}`,
        }))],
    },
    options: {
        scales: {
            x: timeAxis(day, formats),
            y: { ...y(colours, { min: -0.5, max: 3.5, step: 1, label: (lane) => stageNames[lanes[lane]] ?? "" }),
                afterBuildTicks: (axis) => { axis.ticks = lanes.map((_, lane) => ({ value: lane })); } },
        },
        underlay: day, titles: () => "", plugins: { tooltip: { filter: ({ raw }, index) => raw.part !== undefined && index === 0 } },
    },
});

function steps(parts) {
    const points = [];
    for (const [index, { start, end, stage }] of parts.entries()) {
        const lane = lanes.indexOf(stage);
        if (lane < 0) continue;
        points.push({ x: start, y: lane }, { x: end, y: lane });
        if (parts[index + 1]?.start !== end) points.push({ x: end, y: NaN });
    }
    return points;
}

/** Samples as curves that break where nothing was measured: `curves` are `{ points, uncertain, device }` of a band each. */
export const samples = (curves, day, formats, { colour, unit, digits, scale, axis, dots = false }) => (colours) => ({
    data: {
        datasets: curves.flatMap(({ points, uncertain, device }, index) => [{
            ...curve(points, colours[colour], ({ y }) => `${formats.number(y, digits)} ${unit}${curves.length > 1 ? `, ${device}` : ""}`,
                { dashed: index > 0 }),
            borderWidth: 1.25, pointRadius: dots ? 2 : lonely(points), showLine: !dots,
        }, {
            ...curve(uncertain, colours["ink-3"], ({ y }) => `${formats.number(y, digits)} ${unit}, at a time that can't be trusted`,
                { point: "circle" }), showLine: false, pointRadius: 3, backgroundColor: "transparent", pointBorderWidth: 1.25,
        }]),
    },
    options: {
        scales: { x: timeAxis(day, formats), y: y(colours, axis) },
        underlay: day, titles: ({ x }) => formats.clock(x, day.zone),
    },
});

/** Samples of one band as points, with a break where nothing was measured for long or a gap lies. */
export function pointsOf(list, gaps, scale = 1) {
    const points = [];
    const times = list.map(({ recorded_at }) => instant(recorded_at));
    const steps = times.slice(1).map((time, index) => time - times[index]).filter((step) => step > 0).sort((one, two) => one - two);
    const usual = steps[Math.floor(steps.length / 2)] ?? 0;
    const long = Math.max(5 * MINUTE, 4 * usual);
    list.forEach((sample, index) => {
        const [last, time] = [times[index - 1], times[index]];
        const lies = last !== undefined && gaps.some(({ start, end }) => start < time && end > last);
        if (lies || time - last > long) points.push({ x: (last + time) / 2, y: NaN });
        points.push({ x: time, y: sample.value / scale });
    });
    return points;
}
