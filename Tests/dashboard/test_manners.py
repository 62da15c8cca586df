"""How the page behaves: signing in, trouble with the server, keys, sizes, themes, and people who don't see it."""

import importlib.util
import os
import pathlib
import statistics
import time
import unittest

import world
from bed import OTHER, READ, WRITE, PageCase, Server, wait
from history import Client

ANNA = f"person={world.ANNA}"
VIEWS = {"today": f"#/today?{ANNA}", "trends": f"#/trends?{ANNA}&days=30", "intraday": f"#/intraday?{ANNA}&date=2025-11-02", "bands": f"#/bands?{ANNA}"}


class SignInTests(PageCase):
    def sign_in(self, token):
        from selenium.webdriver.common.keys import Keys
        self.press(token, Keys.ENTER)

    def test_a_token_is_kept_in_this_tab_only(self):
        self.open(token=None)
        self.assertEqual(self.run_script("return document.activeElement.id"), "token")
        self.sign_in(READ)
        wait(lambda: self.text("#view h1") and self.run_script("return !document.getElementById('app').hidden"), "the page")
        self.shown()
        self.assertNotIn(READ, self.browser.driver.current_url)
        stores = self.run_script("return [JSON.stringify(localStorage), document.cookie, sessionStorage.getItem('bandferry.token'), history.length]")
        self.assertNotIn(READ, stores[0] + stores[1])
        self.assertEqual(stores[2], READ)
        self.assertEqual(self.run_script("return document.getElementById('token').value"), "")
        # Who is first in the list is shown first.
        self.assertEqual(self.text(".panel.heart h2"), "Heart rate")
        self.assertEqual(self.texts("#subject option"), ["Anna Bell", "Ben", "<img src=x onerror=alert(1)>", *self.bands()])
        self.click("#signout")
        self.assertEqual(self.text("#signin-reason"), "You are signed out.")
        self.assertEqual(self.run_script("return sessionStorage.length"), 0)
        self.assertEqual(self.text("#view"), "")
        self.assertNotIn("person", self.browser.driver.current_url)
        self.assertEqual(self.browser.driver.title, "Sign in · Bandferry")

    def bands(self):
        return [":".join(device[5:][at:at + 2] for at in range(0, 12, 2)) if device.startswith("band_") else device
                for device in sorted(entry["device_id"] for entry in self.site.reader.get("/v1/devices")["devices"])]

    def test_a_wrong_token_is_refused_with_the_reason(self):
        self.expected_complaints = ["401"]
        self.open(token=None)
        self.sign_in("wrong")
        wait(lambda: self.text("#signin-reason"), "the reason")
        self.assertEqual(self.text("#signin-reason"), "The server does not accept this token. Is it complete? Was it revoked?")
        self.assertEqual(self.run_script("return [document.activeElement.id, document.activeElement.getAttribute('aria-invalid'), sessionStorage.length]"),
                         ["token", "true", 0])

    def test_what_can_be_no_token_is_not_sent(self):
        self.open(token=None)
        self.browser.requests()
        self.sign_in("two words")
        self.assertIn("That is no token", self.text("#signin-reason"))
        self.assertEqual([url for url in self.browser.requests() if "/v1/" in url], [])

    def test_a_token_that_was_revoked_leads_back_to_the_form(self):
        self.expected_complaints = ["401"]
        self.open(VIEWS["today"])
        self.run_script("const real = fetch; globalThis.fetch = (url, options) => real(url, { ...options, headers: { Authorization: 'Bearer gone' } });")
        self.click("#refresh")
        wait(lambda: self.run_script("return !document.getElementById('signin').hidden"), "the form")
        self.assertEqual(self.text("#signin-reason"), "The server does not accept this token. It may have been revoked: sign in again.")
        self.assertEqual(self.run_script("return sessionStorage.length"), 0)

    def test_an_account_without_anything_says_so(self):
        self.open(token=OTHER)
        self.assertEqual(self.text("#view h1"), "Nothing has arrived yet")
        self.assertTrue(self.run_script("return document.getElementById('subject').disabled"))

    def test_another_person_is_chosen(self):
        self.open(VIEWS["trends"])
        self.run_script("const choice = document.getElementById('subject'); choice.value = arguments[0]; choice.dispatchEvent(new Event('change'))", f"person:{world.BEN}")
        wait(lambda: self.text("#view h1") == "Ben", "Ben")
        self.shown()
        self.assertIn(f"person={world.BEN}", self.browser.driver.current_url)
        # Somebody whom the account has not is not asked for.
        self.go("#/today?person=p_stranger")
        self.assertEqual(self.text("#view h1"), "Anna Bell")


class TroubleTests(PageCase):
    def test_a_server_that_goes_and_comes_back(self):
        self.expected_complaints = ["ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"]
        self.open(VIEWS["today"])
        before = self.text(".heart .value")
        self.site.server.stop()
        try:
            self.click("#refresh")
            wait(lambda: self.run_script("return !document.getElementById('banner').hidden"), "the banner")
            self.assertEqual(self.text("#banner strong"), "The server can't be reached. What is shown is as of 15:21.")
            self.assertEqual(self.text("#state"), "As of 15:21, not up to date.")
            # What was known stays readable.
            self.assertEqual(self.text(".heart .value"), before)
        finally:
            self.site.server.start()
            self.site.reader.close()
        wait(lambda: self.run_script("return document.getElementById('banner').hidden"), "the page to come back by itself")
        self.assertEqual(self.text("#status"), "The server answers again. The page is up to date.")
        self.assertEqual(self.text("#state"), "As of 15:21.")

    def test_a_server_that_was_never_there(self):
        self.expected_complaints = ["ERR_"]
        self.open(VIEWS["today"])
        self.run_script("globalThis.fetch = async () => { throw new TypeError('none'); }")
        self.go(VIEWS["trends"])
        self.assertEqual(self.text("#banner strong"), "The server can't be reached.")
        self.assertEqual(self.text(".when"), "Not loaded")
        self.assertEqual(self.text("#state"), "Nothing could be loaded.")

    def test_a_server_that_asks_to_wait(self):
        self.expected_complaints = ["429"]
        server = Server("--requests-per-minute", "3").start()
        self.allowed.append(server.url)
        try:
            writer = Client(server.url, WRITE)
            writer.request("PUT", f"/v1/persons/{world.ANNA}", {"label": "Anna Bell", "zones": []})
            self.open(VIEWS["today"], server=server)
            wait(lambda: self.run_script("return !document.getElementById('banner').hidden"), "the banner")
            self.assertRegex(self.text("#banner"), r"^The server asks to wait \d+ seconds: there were too many requests\. Trying again every \d+ seconds\.")
        finally:
            server.close()
            self.open(token=None)

    def test_a_slow_server_is_waited_for_and_said_to_be_slow(self):
        self.open(VIEWS["bands"])
        self.run_script("""const real = fetch;
            globalThis.fetch = async (...given) => { await new Promise((go) => { globalThis.letGo = go; globalThis.released?.then(go); }); return real(...given); };
            globalThis.released = new Promise((go) => { globalThis.release = go; });""")
        self.run_script("location.hash = arguments[0]", VIEWS["trends"])
        wait(lambda: self.text("#state") == "Still waiting for the server…", "the page to say so")
        self.assertEqual(self.text("#status"), "Still waiting for the server…")
        self.assertEqual(self.run_script("return document.getElementById('view').getAttribute('aria-busy')"), "true")
        self.run_script("release()")
        self.shown()
        self.assertEqual(self.text(".key-figure")[:7], "Resting")

    def test_without_chart_js_the_numbers_stand_in_tables(self):
        empty = pathlib.Path(self.site.server.directory) / "empty.js"
        empty.write_text("")
        server = Server("--chart-js", str(empty)).start()
        self.allowed.append(server.url)
        try:
            writer = Client(server.url, WRITE)
            known = self.site.histories[1]
            batch = {"device_id": known.device, "ring": known.ring, "sync_id": "x", "sample_count": 400, "samples": known.samples[-400:]}
            writer.request("POST", "/v1/samples:batch", batch)
            self.open(f"#/today?person={world.ANNA}", server=server)
            self.assertIn("Charts need Chart.js, which this server does not have. The numbers are in the table.", self.text(".heart .plot"))
            self.assertTrue(self.run_script("return document.querySelector('#numbers-heart-rate-by-hour').open"))
            self.assertEqual(self.run_script("return document.querySelectorAll('canvas').length"), 0)
            self.assertRegex(self.text(".heart .value"), r"^\d+ bpm$")
        finally:
            server.close()
            self.open(token=None)


class KeyTests(PageCase):
    def walk(self):
        """Every place that the Tab key stops at, from the top of the page on: its id or name, and whether one sees that it is there."""
        from selenium.webdriver.common.keys import Keys
        self.run_script("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
        stops = []
        for _ in range(120):
            self.press(Keys.TAB)
            stop = self.run_script("""
                const node = document.activeElement;
                if (!node || node === document.body) return null;
                const ring = getComputedStyle(node.name === 'days' ? node.closest('fieldset') : node);
                const box = node.getBoundingClientRect();
                const top = document.elementFromPoint(box.x + Math.min(box.width / 2, 20), Math.min(Math.max(box.y + box.height / 2, 1), innerHeight - 2));
                globalThis.walked ??= new Map();
                if (!walked.has(node)) walked.set(node, walked.size);
                return {
                    number: walked.get(node), name: node.id || node.dataset.view || node.tagName, ring: ring.outlineStyle !== 'none' && parseFloat(ring.outlineWidth) >= 2,
                    seen: top === node || node.contains(top) || Boolean(top?.contains(node)) || node.name === 'days',
                };""")
            if stop is None or (stops and stop["number"] == 0):
                break
            stops.append(stop)
        return stops

    def check(self, place, width):
        self.browser.size(width)
        self.open(place)
        self.run_script("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        self.run_script("globalThis.walked = new Map()")
        stops = self.walk()
        expected = self.run_script("""
            const seen = (node) => node.getClientRects().length > 0 && !node.disabled && node.tabIndex >= 0 && (node.type !== 'radio' || node.checked);
            return [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')].filter(seen).length""")
        # A date has parts, and its calendar a button: one stop of ours may be several.
        self.assertEqual(len({stop["number"] for stop in stops}), expected, f"{place} {[stop['name'] for stop in stops]}")
        self.assertEqual([stop["name"] for stop in stops if not stop["ring"]], [], "no ring")
        self.assertEqual([stop["name"] for stop in stops if not stop["seen"]], [], "hidden behind something")
        order = [stop["number"] for stop in stops]
        self.assertEqual(order, sorted(order))
        return stops

    def test_every_control_is_reached_in_order_and_seen(self):
        for place in VIEWS.values():
            for width in (1440, 360):
                with self.subTest(place=place, width=width):
                    self.assertEqual(self.check(place, width)[0]["name"], "skip")

    def test_the_skip_link_leads_to_the_content(self):
        from selenium.webdriver.common.keys import Keys
        self.open(VIEWS["today"])
        self.press(Keys.TAB, Keys.ENTER)
        self.assertEqual(self.run_script("return document.activeElement.id"), "content")
        self.assertTrue(self.browser.driver.current_url.endswith(VIEWS["today"]))

    def test_a_view_that_opens_is_told_and_focus_goes_to_its_title(self):
        from selenium.webdriver.common.keys import Keys
        self.open(VIEWS["today"])
        self.run_script("document.querySelector('[data-view=trends]').focus()")
        self.press(Keys.ENTER)
        wait(lambda: self.text("#status") == "Trends of Anna Bell is shown.", "the announcement")
        self.assertEqual(self.run_script("return document.activeElement.tagName"), "H1")
        self.assertEqual(self.run_script("return document.querySelector('[aria-current=page]').dataset.view"), "trends")

    def test_the_choice_of_days_moves_with_arrows(self):
        from selenium.webdriver.common.keys import Keys
        self.open(VIEWS["trends"])
        self.run_script("document.getElementById('days-30').focus()")
        self.press(Keys.ARROW_RIGHT)
        wait(lambda: len(self.rows("steps-by-day")) == 90, "ninety days")
        self.assertEqual(self.run_script("return document.activeElement.id"), "days-90")

    def test_a_refresh_leaves_open_tables_open_and_focus_where_it_was(self):
        self.open(VIEWS["today"])
        self.click("#open-steps-by-hour")
        self.run_script("document.getElementById('table-steps-by-hour').focus()")
        self.run_script("performance.clearMarks(); document.getElementById('refresh').dispatchEvent(new Event('click'))")
        wait(lambda: self.run_script("return performance.getEntriesByName('bandferry-shown').length > 0"), "the refresh")
        self.assertTrue(self.run_script("return document.getElementById('numbers-steps-by-hour').open"))
        self.assertEqual(self.run_script("return document.activeElement.id"), "table-steps-by-hour")

    def test_each_chart_has_words_and_numbers_beside_it(self):
        for name in ("today", "trends", "intraday"):
            self.open(VIEWS[name])
            charts = self.run_script("""return [...document.querySelectorAll('figure.chart')].map((figure) => ({
                label: figure.querySelector('canvas')?.getAttribute('aria-label') ?? '', role: figure.querySelector('canvas')?.getAttribute('role'),
                words: figure.querySelector('figcaption').textContent, rows: figure.querySelectorAll('tbody tr').length,
                named: document.getElementById(figure.getAttribute('aria-labelledby')).textContent }))""")
            self.assertGreaterEqual(len(charts), 4 if name != "today" else 3)
            for chart in charts:
                self.assertEqual(chart["role"], "img")
                self.assertTrue(chart["label"].startswith(chart["named"]) and len(chart["label"]) > len(chart["named"]) + 10, chart)
                self.assertTrue(chart["words"] and chart["rows"], chart)


class LookTests(PageCase):
    def test_no_view_is_wider_than_its_window(self):
        for width in (360, 768, 1100, 1440):
            self.browser.size(width)
            for place in [*VIEWS.values(), f"#/today?person={world.MARKUP}"]:
                self.open(place)
                for opened in (False, True):
                    self.run_script("document.querySelectorAll('details').forEach((node) => { node.open = arguments[0]; })", opened)
                    wide = self.run_script("return [document.documentElement.scrollWidth, innerWidth, document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth]")
                    self.assertLessEqual(wide[0], wide[1], f"{place} at {width}")
                    self.assertEqual(wide[2], 0, f"{place} at {width}")

    def test_axe_finds_nothing_serious(self):
        from axe_selenium_python import Axe
        # Only its file is wanted: the package itself asks for another driver.
        script = pathlib.Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]) / "axe.min.js"
        counted = 0
        for theme in ("light", "dark"):
            self.browser.theme(theme)
            for width in (1440, 360):
                self.browser.size(width)
                for place in [None, *VIEWS.values()]:
                    self.open(place or "", token=None if place is None else READ)
                    if place == VIEWS["trends"] or width == 360:
                        self.run_script("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
                    axe = Axe(self.browser.driver, str(script))
                    axe.inject()
                    results = axe.run()
                    counted += len(results["passes"])
                    bad = [(issue["id"], issue["impact"], [node["html"][:200] for node in issue["nodes"]][:3])
                           for issue in results["violations"] if issue["impact"] in ("serious", "critical")]
                    self.assertEqual(bad, [], f"{place} {theme} {width}")
        self.assertGreater(counted, 300)

    def test_the_theme_follows_the_system_until_it_is_chosen(self):
        def ground():
            return self.run_script("return getComputedStyle(document.body).color")
        self.open(VIEWS["today"])
        light = ground()
        self.browser.theme("dark")
        wait(lambda: ground() != light, "the system's theme")
        dark = ground()
        series = self.run_script("return Chart.getChart(document.querySelector('.heart canvas')).data.datasets[1].borderColor")
        self.assertEqual(series, self.run_script("return getComputedStyle(document.documentElement).getPropertyValue('--heart').trim()"))
        self.run_script("const theme = document.getElementById('theme'); theme.value = 'light'; theme.dispatchEvent(new Event('change'))")
        self.assertEqual(ground(), light)
        self.browser.driver.refresh()
        self.shown()
        self.assertEqual(ground(), light)
        self.run_script("const theme = document.getElementById('theme'); theme.value = 'system'; theme.dispatchEvent(new Event('change'))")
        self.assertEqual(ground(), dark)

    def test_nothing_moves_for_those_who_asked_for_that(self):
        self.browser.theme("light", motion="reduce")
        self.open(VIEWS["today"])
        moving = self.run_script("""return [...document.querySelectorAll('*')].filter((node) => {
            const { transitionDuration, animationName } = getComputedStyle(node);
            return parseFloat(transitionDuration) > 0 || animationName !== 'none'; }).length""")
        self.assertEqual(moving, 0)

    def test_nothing_jumps_while_it_loads(self):
        for width in (1440, 360):
            self.browser.size(width)
            for name, place in VIEWS.items():
                self.open(place)
                time.sleep(0.2)
                shift = sum(value for value, by_hand in self.run_script("return shifts.entries") if not by_hand)
                print(f"layout shift of {name} at {width}: {shift:.3f}", flush=True)
                self.assertLess(shift, 0.1, f"{name} at {width}")

    def test_another_region_writes_its_own_numbers(self):
        browser = self.browser
        agent = self.run_script("return navigator.userAgent")
        try:
            browser.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage="de-DE")
            self.open(VIEWS["today"])
            steps = self.site.truth[world.ANNA].day("steps", "2025-11-03")["sum"]
            self.assertEqual(self.text(".steps .value"), f"{steps:,} steps".replace(",", "."))
        finally:
            browser.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage="en-GB")

    def test_how_fast_it_is(self):
        """Printed, not judged: a busy machine is no defect."""
        for name in ("today", "trends"):
            for cache in ("empty", "warm"):
                times = []
                for _ in range(5):
                    self.open(VIEWS[name])
                    if cache == "empty":
                        self.browser.cdp("Network.clearBrowserCache")
                    self.browser.driver.refresh()
                    self.shown()
                    time.sleep(0.1)
                    times.append(self.run_script("""
                        const long = globalThis.tasks.filter(([start]) => start > 0).map(([start, length]) => start + length);
                        const shown = performance.getEntriesByName('bandferry-shown')[0].startTime;
                        return Math.max(shown, ...long.filter((end) => end < shown + 1000));"""))
                print(f"interactive: {name} of a month, {cache} cache: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms", flush=True)


@unittest.skipUnless(os.environ.get("BANDFERRY_SHOTS"), "pictures are made when BANDFERRY_SHOTS names a directory")
class ShotTests(PageCase):
    def test_pictures(self):
        directory = pathlib.Path(os.environ["BANDFERRY_SHOTS"])
        directory.mkdir(parents=True, exist_ok=True)
        for theme in ("light", "dark"):
            self.browser.theme(theme)
            for width in (360, 768, 1440):
                for name, place in {"signin": "", **VIEWS}.items():
                    self.browser.size(width)
                    self.open(place, token=None if name == "signin" else READ)
                    time.sleep(0.2)
                    self.browser.shot(directory / f"{name}-{theme}-{width}.png", width)
