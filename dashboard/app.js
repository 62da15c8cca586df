import { Api, ApiError } from "./api.js";
import { drawPlanned } from "./charts.js";
import { account as readAccount } from "./data.js";
import { el } from "./dom.js";
import { Formats, ago, bandName } from "./format.js";
import * as session from "./session.js";
import { address, firstOf, parse, same, subjects } from "./state.js";
import { now } from "./time.js";
import * as bands from "./views/bands.js";
import * as intraday from "./views/intraday.js";
import * as signin from "./views/signin.js";
import * as today from "./views/today.js";
import * as trends from "./views/trends.js";

// Owns the page: who is signed in, which view is shown, and what happens when the server does not answer.

const views = { today, trends, intraday, bands };
const find = (id) => document.getElementById(id);
const formats = new Formats(navigator.language);
/** Bands are read every quarter of an hour or so; more often would only take requests from the gateways. */
const refreshAfter = 2 * 60_000;
/** Who wears what changes rarely. */
const accountAfter = 10 * 60_000;
const slowAfter = 3_000;

/** Set while somebody is signed in: `{ api, account, subjects, readAt }`; all but the first are null until they are known. */
let signedIn = null;
/** What is shown, or on its way: `{ place, data, shownAt }`. */
let shown = null;
let running = null;
let retry = { timer: null, failures: 0 };

const announce = (text) => { find("status").textContent = text; };

// Signing in and out

async function enter(token) {
    const api = new Api(token);
    const account = await readAccount(api);
    session.keep(token);
    begin(api, account);
}

function begin(api, account) {
    signedIn = { api, account: null, subjects: null, readAt: null };
    if (account) know(account);
    signin.hide();
    route();
}

/** Takes in who and what there is. */
function know(account) {
    const list = subjects(account.persons, account.devices);
    const isNew = JSON.stringify(list) !== JSON.stringify(signedIn.subjects);
    Object.assign(signedIn, { account, subjects: list, readAt: now() });
    if (isNew) fillSubjects();
}

function leave(reason) {
    running?.abort();
    clearTimeout(retry.timer);
    session.forget();
    [signedIn, shown] = [null, null];
    find("view").replaceChildren();
    find("subject").replaceChildren();
    banner(null);
    drawPlanned();
    history.replaceState(null, "", location.pathname + location.search);
    signin.show(reason);
}

function fillSubjects() {
    const list = signedIn.subjects ?? [];
    const group = (label, kind, text) => {
        const some = list.filter((subject) => subject.kind === kind);
        return some.length > 0 ? el("optgroup", { label }, some.map((subject) => el("option", { value: `${kind}:${subject.id}` }, text(subject)))) : null;
    };
    const chosen = find("subject").value;
    find("subject").replaceChildren(...[
        group("People", "person", ({ name }) => name), group("Bands", "band", ({ id }) => bandName(id)),
    ].filter(Boolean));
    find("subject").value = chosen;
    find("subject").disabled = list.length === 0;
}

// Where the page is

const go = (hash) => { location.hash = hash; };

function route(options = {}) {
    if (!signedIn) return;
    const place = parse(location.hash);
    const list = signedIn.subjects;
    if (list && list.length > 0) {
        const { kind, id } = list.find((subject) => same(subject, place.subject)) ?? firstOf(list);
        place.subject = { kind, id };
        // The address says what is shown, also where it left that open.
        if (address(place) !== location.hash) history.replaceState(null, "", address(place));
        find("subject").value = `${place.subject.kind}:${place.subject.id}`;
    }
    for (const link of find("views").children) {
        const view = link.dataset.view;
        link.href = address({ view, subject: place.subject, days: place.days });
        if (view === place.view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    show(place, options);
}

/** Loads and shows a place. `quiet`: nobody asked for it, so nothing moves unless something is new. */
async function show(place, { quiet = false } = {}) {
    running?.abort();
    clearTimeout(retry.timer);
    const controller = new AbortController();
    running = controller;
    const { signal } = controller;
    const view = views[place.view];
    const before = shown;
    const isNewView = before?.place.view !== place.view || !same(before.place.subject, place.subject);
    if (isNewView) find("view").replaceChildren(...skeleton(place.view));
    shown = { place, data: isNewView ? null : before.data, shownAt: isNewView ? null : before.shownAt };
    find("view").setAttribute("aria-busy", "true");
    const slow = setTimeout(() => state("Still waiting for the server…", true), slowAfter);
    try {
        if (!signedIn.account || now() - signedIn.readAt >= accountAfter) {
            const account = await readAccount(signedIn.api, signal);
            signal.throwIfAborted();
            know(account);
            // Only now is it known whether there is whom the address names.
            return route({ quiet });
        }
        const subject = signedIn.subjects.find((one) => same(one, place.subject));
        const context = { api: signedIn.api, account: signedIn.account, subject, place, formats, now: now(), signal, go };
        const data = subject ? await view.load(context) : null;
        signal.throwIfAborted();
        put(view, data, context, { before, isNewView, quiet });
    } catch (error) {
        if (signal.aborted) return undefined;
        return failed(error, place);
    } finally {
        clearTimeout(slow);
        if (running === controller) find("view").removeAttribute("aria-busy");
    }
    return undefined;
}

/** Puts what was loaded into the page. */
function put(view, data, context, { before, isNewView, quiet }) {
    const recovered = retry.failures > 0;
    retry.failures = 0;
    banner(null);
    const isSame = quiet && !isNewView && JSON.stringify(data) === JSON.stringify(before?.data);
    shown = { place: context.place, data, shownAt: now() };
    if (isSame) countOn();
    else replaceView(context.subject ? view.render(data, context) : nothingYet(), { toTitle: isNewView && before !== null });
    const name = context.subject ? (context.subject.kind === "band" ? bandName(context.subject.id) : context.subject.name) : "";
    document.title = `${name ? `${name}, ` : ""}${view.title.toLowerCase()} · Bandferry`;
    state(`As of ${shownTime()}.`);
    if (recovered) announce("The server answers again. The page is up to date.");
    else if (!quiet) announce(`${view.title}${name ? ` of ${name}` : ""} is shown.`);
    performance.mark("bandferry-shown");
}

/** A new rendering keeps what the reader had open and where they were. */
function replaceView(nodes, { toTitle }) {
    const root = find("view");
    const open = [...root.querySelectorAll("details[open]")].map(({ id }) => id);
    const focused = root.contains(document.activeElement) ? document.activeElement.id : null;
    root.replaceChildren(...nodes.flat().filter(Boolean));
    for (const id of open) find(id)?.setAttribute("open", "");
    drawPlanned();
    const again = focused ? find(focused) : null;
    if (toTitle || (focused !== null && (!again || again.disabled))) {
        root.querySelector("h1")?.focus({ preventScroll: !toTitle });
        if (toTitle) scrollTo(0, 0);
    } else again?.focus({ preventScroll: true });
}

function skeleton(name) {
    const panels = { today: ["heart", "steps", "night", "spo2"], trends: ["heart", "steps", "sleep", "spo2"], intraday: ["heart", "steps", "sleep", "spo2"], bands: ["band", "band"] };
    return [
        el("header.heading", el("div", el("h1", { tabindex: "-1" }, " "), el("p.when", "Loading…")), el("p.zone", " ")),
        el(`div.grid.${name}`, panels[name].map((kind) => el(`section.panel.waiting.${kind}`, { "aria-hidden": "true" }, el("div.plot.medium")))),
    ];
}

const nothingYet = () => [
    el("header.heading", el("div", el("h1", { tabindex: "-1" }, "Nothing has arrived yet"), el("p.when", "This account has no person and no band."))),
    el("p.panel.quiet", "As soon as a gateway uploads with a token of this account, its bands appear here by themselves. "
        + "On the gateway ‘bandferry status’ says whether it uploads, and what is in the way."),
];

// When the server does not answer

function failed(error, place) {
    if (error instanceof ApiError && error.kind === "refused") return leave(`${error.text} It may have been revoked: sign in again.`);
    const isKnown = error instanceof ApiError;
    if (!isKnown) console.error(error);
    retry.failures += 1;
    const seconds = error.retryAfter ?? Math.min(60, 2 ** retry.failures);
    const text = isKnown ? error.text : "This page could not show the answer of the server.";
    const old = shown?.shownAt ? ` What is shown is as of ${shownTime()}.` : "";
    banner(`${text}${old}`, `Trying again every ${seconds === 60 ? "minute" : `${seconds} seconds`}.`);
    if (!shown?.shownAt) find("view").querySelector(".when")?.replaceChildren("Not loaded");
    state(shown?.shownAt ? `As of ${shownTime()}, not up to date.` : "Nothing could be loaded.");
    retry.timer = setTimeout(() => show(place, { quiet: true }), seconds * 1000);
    return undefined;
}

/** When what is shown was read, in the zone of what is shown. */
function shownTime() { return formats.clock(shown.shownAt, shown.data?.zone?.name); }

function banner(text, details = "") {
    const node = find("banner");
    node.hidden = text === null;
    node.replaceChildren(...(text === null ? [] : [
        el("p", el("strong", text), " ", el("span", details)),
        el("button", { type: "button", id: "retry", onclick: again }, "Try now"),
    ]));
}

function again() {
    if (!shown) return;
    signedIn.readAt = null;
    show(shown.place);
}

const state = (text, say = false) => {
    find("state").textContent = text;
    if (say) announce(text);
};

// What goes on by itself

const countOn = () => {
    for (const node of document.querySelectorAll("[data-since]")) node.textContent = ago(Number(node.dataset.since), now());
};

function tick() {
    if (!signedIn || document.hidden) return;
    countOn();
    const isDue = shown?.shownAt && now() - shown.shownAt >= refreshAfter;
    if (isDue && views[shown.place.view].refreshes && retry.failures === 0) show(shown.place, { quiet: true });
}

function pressed(event) {
    if (!shown || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest?.("input, select, textarea, .scroller")) return;
    const key = views[shown.place.view].keys?.({ place: shown.place, data: shown.data, go })[event.key];
    if (!key) return;
    event.preventDefault();
    key();
}

function start() {
    signin.prepare(enter);
    find("theme").value = globalThis.bandferryTheme.choice;
    find("theme").addEventListener("change", ({ target }) => { globalThis.bandferryTheme.choice = target.value; });
    find("signout").addEventListener("click", () => leave("You are signed out."));
    find("refresh").addEventListener("click", again);
    find("skip").addEventListener("click", (event) => {
        // The address holds the place: the link must not change it.
        event.preventDefault();
        (find("app").hidden ? find("token") : find("content")).focus();
    });
    find("subject").addEventListener("change", ({ target }) => {
        const [, kind, id] = /^([a-z]+):(.*)$/s.exec(target.value);
        go(address({ ...parse(location.hash), subject: { kind, id } }));
    });
    addEventListener("hashchange", () => route());
    addEventListener("keydown", pressed);
    addEventListener("online", again);
    document.addEventListener("visibilitychange", tick);
    setInterval(tick, 15_000);
    const token = session.token();
    if (token === null) signin.show();
    else begin(new Api(token), null);
    performance.mark("bandferry-started");
}

start();
