// Everything that touches Chart.js. Colours come from the style sheet, so a chart follows the theme.

const names = [
    "ink", "ink-2", "ink-3", "line", "surface", "heart", "heart-soft", "resting", "steps", "steps-soft", "deep", "light",
    "rem", "awake", "spo2", "spo2-soft", "gap", "gap-soft", "gap-ink",
];

/** False when the server has no Chart.js: figures are shown as tables then. */
export const available = typeof globalThis.Chart === "function";

function palette() {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

const live = new Map();
let waiting = [];

/** Draws into a canvas as soon as it stands in the document; `make(palette)` gives Chart.js its configuration. */
export function plan(canvas, make) {
    waiting.push({ canvas, make });
}

/** Draws what was planned, and lets go of charts whose canvas has gone. */
export function drawPlanned() {
    for (const [canvas, { chart }] of live) {
        if (!canvas.isConnected) {
            chart.destroy();
            live.delete(canvas);
        }
    }
    const list = waiting;
    waiting = [];
    if (!available) return;
    const colours = palette();
    for (const { canvas, make } of list) {
        if (canvas.isConnected) live.set(canvas, { make, chart: create(canvas, make, colours) });
    }
}

globalThis.addEventListener("themechange", () => {
    const colours = palette();
    for (const [canvas, entry] of live) {
        entry.chart.destroy();
        entry.chart = create(canvas, entry.make, colours);
    }
});

function create(canvas, make, colours) {
    const { Chart } = globalThis;
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    Chart.defaults.color = colours["ink-3"];
    const { data, options } = make(colours);
    return new Chart(canvas, {
        type: "line", data, plugins: [underlay],
        options: {
            animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
            layout: { padding: { top: 6, right: 4 } },
            interaction: { mode: "nearest", axis: "x", intersect: false },
            ...options,
            plugins: {
                legend: { display: false }, tooltip: tooltip(colours, options.titles),
                underlay: { ...options.underlay, colours }, ...options.plugins,
            },
        },
    });
}

const tooltip = (colours, title) => ({
    backgroundColor: colours.ink, titleColor: colours.surface, bodyColor: colours.surface, cornerRadius: 4, padding: 10,
    displayColors: false, titleFont: { weight: "600" }, callbacks: {
        title: (items) => (items.length > 0 && title ? title(items[0].raw) : ""),
        label: (item) => item.dataset.say?.(item.raw) ?? "",
    },
});

/** What lies under the curves: gaps as hatched bands with their name, and where now is. */
const underlay = {
    id: "underlay",
    beforeDatasetsDraw(chart, _, { gaps = [], now = null, nowLabel = "now", colours }) {
        const { ctx, chartArea: area, scales: { x } } = chart;
        ctx.save();
        ctx.beginPath();
        ctx.rect(area.left, area.top, area.width, area.height);
        ctx.clip();
        for (const { start, end, label } of gaps) {
            const left = x.getPixelForValue(start);
            // A short gap is still seen.
            const width = Math.max(x.getPixelForValue(end) - left, 3);
            band(ctx, { left, width, top: area.top, height: area.height }, label, colours);
        }
        if (now !== null) mark(ctx, x.getPixelForValue(now), area, nowLabel, colours);
        ctx.restore();
    },
};

function band(ctx, { left, width, top, height }, label, colours) {
    ctx.fillStyle = colours["gap-soft"];
    ctx.fillRect(left, top, width, height);
    ctx.fillStyle = ctx.createPattern(hatch(colours.gap), "repeat");
    ctx.fillRect(left, top, width, height);
    ctx.strokeStyle = colours.gap;
    ctx.lineWidth = 1;
    ctx.setLineDash([3, 3]);
    for (const edge of [left + 0.5, left + width - 0.5]) {
        ctx.beginPath();
        ctx.moveTo(edge, top);
        ctx.lineTo(edge, top + height);
        ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.font = `600 11px ${globalThis.Chart.defaults.font.family}`;
    const size = ctx.measureText(label).width;
    const lies = size + 12 <= width;
    if (!lies && (width < 16 || size + 12 > height)) return;
    ctx.save();
    ctx.translate(left + width / 2, lies ? top + 12 : top + 8 + size / 2);
    if (!lies) ctx.rotate(-Math.PI / 2);
    ctx.fillStyle = colours["gap-soft"];
    ctx.fillRect(-size / 2 - 4, -8, size + 8, 16);
    ctx.fillStyle = colours["gap-ink"];
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(label, 0, 0);
    ctx.restore();
}

let pattern = { colour: null, canvas: null };

function hatch(colour) {
    if (pattern.colour === colour) return pattern.canvas;
    const canvas = document.createElement("canvas");
    canvas.width = 6;
    canvas.height = 6;
    const ctx = canvas.getContext("2d");
    ctx.strokeStyle = colour;
    ctx.globalAlpha = 0.45;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const shift of [-6, 0, 6]) {
        ctx.moveTo(shift, 6);
        ctx.lineTo(shift + 6, 0);
    }
    ctx.stroke();
    pattern = { colour, canvas };
    return canvas;
}

function mark(ctx, left, area, label, colours) {
    ctx.strokeStyle = colours["ink-3"];
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(Math.round(left) + 0.5, area.top);
    ctx.lineTo(Math.round(left) + 0.5, area.bottom);
    ctx.stroke();
    ctx.font = `11px ${globalThis.Chart.defaults.font.family}`;
    ctx.fillStyle = colours["ink-3"];
    const fits = left + ctx.measureText(label).width + 8 < area.right;
    ctx.textAlign = fits ? "left" : "right";
    ctx.textBaseline = "top";
    ctx.fillText(label, left + (fits ? 5 : -5), area.top + 2);
}
