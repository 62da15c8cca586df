import { el } from "../dom.js";
import { zoneFor } from "../data.js";
import { bandName, counted, length } from "../format.js";
import { sentence, size } from "../gaps.js";
import { MINUTE, instant } from "../time.js";
import { heading, isLow, since } from "./parts.js";

export const title = "Bands";
export const refreshes = true;

/** Of how many bands the gaps are asked for at once. */
const most = 24;

export async function load({ api, subject, now, signal }) {
    const { devices } = await api.get("devices", {}, signal);
    const isMine = ({ device_id }) => subject.devices.includes(device_id);
    const list = [...devices.filter(isMine), ...devices.filter((device) => !isMine(device))];
    const gaps = await Promise.all(list.slice(0, most).map(
        async ({ device_id }) => (await api.get(`devices/${encodeURIComponent(device_id)}/gaps`, {}, signal)).gaps));
    return { zone: zoneFor(subject.zones, now), bands: list.map((device, index) => ({ device, gaps: gaps[index] ?? null, isMine: isMine(device) })) };
}

export function render({ zone, bands }, context) {
    const { subject, now } = context;
    const mine = bands.filter(({ isMine }) => isMine).length;
    const text = `${counted(bands.length, "band")} of this account${subject.kind === "person" ? `, ${mine} with data of ${subject.name}` : ""}`;
    return [
        heading({ subject, zone, at: now, text }),
        el("div.grid.bands", bands.map((band) => card(band, zone.name, context))),
    ];
}

function card({ device, gaps, isMine }, zone, { account, formats, now }) {
    const { device_id, status, counts, last_recorded_at } = device;
    const contact = instant(status?.last_contact);
    const wearers = account.persons.filter(({ devices }) => devices?.includes(device_id)).map(({ person, label }) => label || person);
    // The newest record that the gateway knows of, where it knows of a newer one than came here; its reports are less frequent.
    const reported = instant(status?.newest_recorded_at);
    const moment = (value) => (value === null ? "not known" : [formats.moment(value, zone), ", ", since(value, now)]);
    const id = `band-${device_id.replace(/[^A-Za-z0-9_-]/g, "-")}`;
    return el(`article.panel.band${isMine ? ".mine" : ""}`, { "aria-labelledby": id, "data-device": device_id },
        el("div.band-head", el("h2", { id }, bandName(device_id)), status && battery(status.battery_percent ?? null)),
        status === null ? el("p.quiet", "No gateway has reported this band yet.") : null,
        el("dl.rows",
            status && row("Last contact", moment(contact)),
            status && (reported === null || reported > (instant(last_recorded_at) ?? 0)) && row("Newest reported", moment(reported)),
            row("Newest here", moment(instant(last_recorded_at))),
            status && [row("Upload", lag(device, formats)), row("Firmware", status.firmware ?? "not known")],
            row("Worn by", wearers.length > 0 ? wearers.join(", ") : "nobody who is known"),
            row("Records here", formats.number(Object.values(counts).reduce((sum, count) => sum + count, 0)))),
        gaps === null ? el("p.quiet", "Choose this band above to see its gaps.") : gapPart(gaps, formats, zone));
}

const row = (term, text) => el("div", el("dt", term), el("dd", text));

function battery(percent) {
    if (percent === null) return el("p.battery", "battery not known");
    const level = el("span.level");
    level.style.width = `${percent}%`;
    const low = isLow(percent);
    return el(`p.battery${low ? ".low" : ""}`, el("span.cell", { "aria-hidden": "true" }, level), `${low ? "low, " : ""}${percent} %`);
}

/** How far the server is behind the gateway, as the gateway last said. */
function lag({ status, last_recorded_at }, formats) {
    const { unsent } = status;
    const [there, here] = [instant(status.newest_recorded_at), instant(last_recorded_at)];
    const behind = there !== null && here !== null && there - here >= MINUTE ? `, ${length(there - here)} behind the gateway` : "";
    if (unsent === null || unsent === undefined) return `not known how much waits${behind}`;
    if (unsent === 0) return behind === "" ? "up to date, nothing waits" : `nothing waits at the gateway${behind}`;
    return `${formats.number(unsent)} ${unsent === 1 ? "record waits" : "records wait"} at the gateway${behind}`;
}

function gapPart(gaps, formats, zone) {
    const open = gaps.filter(({ healed_at }) => !healed_at);
    const healed = gaps.length - open.length;
    return el("div.band-gaps", el("h3", "Gaps"),
        open.length === 0 ? el("p.quiet", "No gap is known.")
            : el("ul", open.map((gap) => el("li", el("span.sign.hatched", { "aria-hidden": "true" }),
                el("div", el("p", sentence(gap, formats, zone)), el("p.quiet", size(gap, formats) ?? ""))))),
        healed > 0 ? el("p.quiet", `${counted(healed, "gap")} healed: the records came after all.`) : null);
}
