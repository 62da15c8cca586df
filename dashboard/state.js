import { isDate } from "./time.js";

// Where the page is, kept in the part of its address that never travels: `#/trends?days=30&person=p_4f1c`.

export const views = ["today", "trends", "intraday", "bands"];
export const spans = [7, 30, 90];

/** The place that an address names; what it does not say, or says wrongly, is the default. */
export function parse(hash) {
    const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
    const fields = new URLSearchParams(query ?? "");
    const days = Number(fields.get("days"));
    return {
        view: views.includes(path) ? path : "today",
        subject: fields.has("person") ? { kind: "person", id: fields.get("person") }
            : fields.has("band") ? { kind: "band", id: fields.get("band") } : null,
        days: spans.includes(days) ? days : 30,
        date: isDate(fields.get("date")) ? fields.get("date") : null,
    };
}

/** The address of a place. */
export function address({ view, subject, days, date }) {
    const fields = new URLSearchParams();
    if (subject) fields.set(subject.kind, subject.id);
    if (view === "trends" && days) fields.set("days", days);
    if (view === "intraday" && date) fields.set("date", date);
    const query = fields.toString();
    return `#/${view}${query ? `?${query}` : ""}`;
}

export const same = (one, other) => one?.kind === other?.kind && one?.id === other?.id;

/** The subjects to choose from; people before bands, and of them those first of whom something has arrived. */
export function subjects(persons, devices) {
    const first = persons.filter(({ devices }) => devices?.length > 0);
    return [
        ...[...first, ...persons.filter((person) => !first.includes(person))].map(({ person, label, zones, devices }) => ({
            kind: "person", id: person, name: label || person, zones: zones ?? [], devices: devices ?? [],
        })),
        ...devices.map(({ device_id }) => ({ kind: "band", id: device_id, name: device_id, zones: [], devices: [device_id] })),
    ];
}

/** Who is shown where the address names nobody: a band rather than a person of whom nothing has arrived. */
export const firstOf = (list) => list.find(({ devices }) => devices.length > 0) ?? list[0];
