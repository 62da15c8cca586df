import { available, plan } from "./charts.js";
import { el, table } from "./dom.js";
import { outlook, sentence, size } from "./gaps.js";
import { bandName } from "./format.js";

// What a chart stands in: its title, a legend, a summary in words, and its numbers as a table. Nobody needs to see the chart.

let serial = 0;

/** A part of an id out of a title: the same each time, so that focus and open tables outlast a new rendering. */
const slug = (title) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

/**
 * `plot` is what `plots.js` gives; null = there is nothing to draw, and `empty` says why. `summary` is one or two sentences, `spoken` what
 * stands elsewhere for those who see it, `legend` a list of `[class, text]`, `numbers` a table for `dom.table`.
 */
export function chart({ title, plot, summary, spoken = "", legend = [], numbers, height = "medium", empty = null, isTitled = true }) {
    serial += 1;
    const id = `chart-${serial}`;
    const figure = el("figure.chart", { "aria-labelledby": id });
    const stand = el(`div.plot.${height}`);
    if (plot && available) {
        const canvas = el("canvas", { role: "img", "aria-label": [`${title}.`, spoken, summary].filter(Boolean).join(" ") });
        stand.append(canvas);
        plan(canvas, plot);
    } else {
        stand.append(el("p.empty", plot ? "Charts need Chart.js, which this server does not have. The numbers are in the table." : empty));
    }
    figure.append(
        el(isTitled || legend.length > 0 ? "div.chart-head" : "div.chart-head.bare", el(isTitled ? "h3" : "h3.unseen", { id }, title), legend.length > 0 ? key(legend) : null),
        stand, el("figcaption", summary));
    if (numbers) {
        const name = slug(title);
        figure.append(el("details", { id: `numbers-${name}`, open: Boolean(plot) && !available },
            el("summary", { id: `open-${name}` }, "Numbers", el("span.unseen", ` of ${title}`)),
            table({ id: `table-${name}`, caption: title, ...numbers })));
    }
    return figure;
}

const key = (legend) => el("ul.legend", legend.map(([sign, text]) => el("li", el(`span.sign.${sign}`, { "aria-hidden": "true" }), text)));

/** Gaps in words, one an item. */
export function gapList(gaps, formats, zone, { heading, none, showBand = false }) {
    const id = `gaps-${serial += 1}`;
    return el("section.panel.gaps", { "aria-labelledby": id },
        el("h2", { id }, heading),
        gaps.length === 0 ? el("p.quiet", none) : el("ul", gaps.map((gap) => el("li",
            el("span.sign.hatched", { "aria-hidden": "true" }),
            el("div", el("p", sentence(gap, formats, zone)), el("p.quiet",
                [size(gap, formats), showBand ? `band ${bandName(gap.device_id)}` : null].filter(Boolean).join(", "),
                ". ", outlook(gap.cause)))))));
}

/** Minutes of stages as one bar and as a list. */
export function stageBar(minutes, names, duration) {
    const order = ["deep", "light", "rem", "awake"];
    const bar = el("div.stages", { "aria-hidden": "true" }, order.filter((stage) => minutes[stage] > 0).map((stage) => {
        const part = el(`span.${stage}`);
        part.style.flexGrow = minutes[stage];
        return part;
    }));
    return [bar, el("dl.stage-list", order.map((stage) => el("div",
        el("dt", el(`span.sign.${stage}`, { "aria-hidden": "true" }), names[stage]), el("dd", duration(minutes[stage])))))];
}

/** A large figure and what it is: `parts` are numbers and units in turn, null when there is nothing to show but `none`. */
export function reading({ label, parts, note, none, sign }) {
    return el("div.reading",
        el("h2", el(`span.mark.${sign}`, { "aria-hidden": "true" }), label),
        parts === null ? el("p.value.none", none)
            : el("p.value", parts.flatMap((part, index) => [el(index % 2 === 0 ? "span.figure" : "span.unit", part), " "])),
        el("p.note", note ?? " "));
}

/** Small figures beside a large one: `[term, text]`. */
export const facts = (list) => el("dl.facts", list.filter(Boolean).map(([term, text]) => el("div", el("dt", term), el("dd", text))));
