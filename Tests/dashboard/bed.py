"""A server with the world in it, and a Chromium to look at it."""

import base64
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import world
from expected import Truth
from history import Client

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITE, READ, OTHER = "write-token-of-the-lab", "read-token-of-the-lab", "empty-account-token"
CHART = "/usr/share/javascript/chart.js/chart.min.js"


class Server:
    """One `bandferry-ingest` that can be stopped and started again on the same port."""

    def __init__(self, *options):
        self.program = pathlib.Path(os.environ.get("BANDFERRY_BIN") or ROOT / ".build" / "release") / "bandferry-ingest"
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="bandferry-dashboard."))
        tokens = self.directory / "tokens"
        tokens.write_text(f"{WRITE} lab\n{READ} lab read\n{OTHER} empty read\n")
        tokens.chmod(0o600)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = self.directory / "log"
        self.command = [str(self.program), "--listen", f"127.0.0.1:{self.port}", "--store", f"sqlite:{self.directory}/store.db",
                        "--token-file", str(tokens), "--dashboard", str(ROOT / "dashboard"), *options]
        self.process = None

    def start(self):
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait(lambda: can_connect(self.port) or self.process.poll() is not None, "the server")
        assert self.process.poll() is None, self.log.read_text()
        return self

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def close(self):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


def can_connect(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port():
    """Below those that the kernel gives to connections, so that nobody takes it while the server is down."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def wait(condition, what, deadline=30.0):
    """Deadlines only end a test that hangs: they are far beyond what any machine takes."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline} s for {what}")
        time.sleep(0.02)


# The page's clock is set before any of its scripts run, as if the computer's own were.
CLOCK = """
(() => {
    const shift = %d - Date.now();
    const Real = Date;
    globalThis.Date = class extends Real {
        constructor(...given) { given.length ? super(...given) : super(Real.now() + shift); }
        static now() { return Real.now() + shift; }
    };
    globalThis.shifts = { entries: [] };
    new PerformanceObserver((list) => globalThis.shifts.entries.push(...list.getEntries().map(({ value, hadRecentInput }) =>
        [value, hadRecentInput]))).observe({ type: "layout-shift", buffered: true });
    globalThis.tasks = [];
    new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map(({ startTime, duration }) =>
        [startTime, duration]))).observe({ type: "longtask", buffered: true });
})();
"""


STORES = """
if (location.protocol === "http:") {
    sessionStorage.clear();
    localStorage.clear();
    const token = %s;
    if (token !== null) sessionStorage.setItem("bandferry.token", token);
}
"""


class Browser:
    """Headless Chromium, its clock at the world's now, its zone London; everything that it complains about is kept."""

    def __init__(self, locale="en-GB"):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        for argument in ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", f"--lang={locale}",
                         "--disable-component-update", "--no-first-run", "--disable-sync", "--disable-extensions", "--window-size=1440,1000"]:
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"intl.accept_languages": locale})
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        self.driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(30)
        self.cdp("Emulation.setTimezoneOverride", timezoneId=world.BROWSER_ZONE)
        self.cdp("Emulation.setLocaleOverride", locale=locale)
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=CLOCK % (world.NOW.timestamp() * 1000))
        self.theme("light")
        self.size(1440)

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def theme(self, name, motion="no-preference"):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": motion}])

    def size(self, width, height=None):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height or (780 if width < 500 else 1000), deviceScaleFactor=1,
                 mobile=width < 500)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def call(self, script, *arguments):
        """The value of an async script that may use `await`."""
        return self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; (async () => {" + script + "})().then((value) => done({ value }), "
            "(error) => done({ error: String(error) }));", *arguments)

    def complaints(self):
        """What stands in the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Where requests went since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def drain(self):
        self.complaints()
        self.requests()

    def shot(self, path, width, height=None):
        """A picture of the page: the whole of it, in a window as high as that, unless a height is given."""
        self.size(width, height or self.run("return document.documentElement.scrollHeight"))
        pathlib.Path(path).write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.driver.quit()


class Site:
    """One server with the world in it and one browser, for all tests of a run."""

    def __init__(self):
        self.server = Server().start()
        try:
            client = Client(self.server.url, WRITE)
            self.histories = world.upload(client)
            client.close()
            self.reader = Client(self.server.url, READ)
            self.truth = {person: Truth(self.histories, person) for person in (world.ANNA, world.BEN)}
            self.browser = Browser()
        except BaseException:
            self.server.close()
            raise


_site = None


def site():
    global _site
    if _site is None:
        _site = Site()
    return _site


def close():
    if _site is not None:
        _site.browser.close()
        _site.server.close()


class PageCase(unittest.TestCase):
    """A test that looks at the page. What the browser complains of, and a request to anybody else, fails it."""

    def setUp(self):
        self.site = site()
        self.browser = self.site.browser
        self.run_script, self.call = self.browser.run, self.browser.call
        # What stands in the console rightly, by a part of it.
        self.expected_complaints = []
        self.allowed = [self.site.server.url]
        self.browser.theme("light")
        self.browser.size(1440)
        self.browser.drain()

    def tearDown(self):
        complaints = [text for text in self.browser.complaints() if not any(part in text for part in self.expected_complaints)]
        self.assertEqual(complaints, [], "the console")
        strangers = [url for url in self.browser.requests()
                     if not url.startswith((*self.allowed, "data:", "about:", "blob:", "chrome"))]
        self.assertEqual(strangers, [], "requests to somebody else")

    def open(self, place="", token=READ, server=None):
        """Loads the page anew, signed in unless `token` is None, and waits until it shows something."""
        url = (server or self.site.server).url
        # The stores are set before the page's own scripts run; once, so that a reload finds what the page left there.
        script = self.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=STORES % json.dumps(token))
        self.browser.driver.get("about:blank")
        self.browser.driver.get(url + place)
        self.browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
        self.shown()

    def shown(self):
        wait(lambda: self.run_script("""
            const find = (id) => document.getElementById(id);
            return find("signin") && (!find("signin").hidden || !find("banner").hidden
                || (performance.getEntriesByName("bandferry-shown").length > 0 && !find("view").hasAttribute("aria-busy")))"""),
             "the page to show something")

    def go(self, place):
        """Changes the place as a link would."""
        self.run_script("location.hash = arguments[0]", place)
        time.sleep(0.05)
        self.shown()

    def text(self, selector):
        """The text of the first such element, as it is read."""
        return self.run_script(
            "const node = document.querySelector(arguments[0]); return node ? node.innerText.replace(/\\s+/g, ' ').trim() : null", selector)

    def texts(self, selector):
        return self.run_script(
            "return [...document.querySelectorAll(arguments[0])].map((node) => node.innerText.replace(/\\s+/g, ' ').trim())", selector)

    def rows(self, table):
        """The cells of a table of numbers, row by row, whether it is open or not."""
        return self.run_script(
            "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map((row) => [...row.cells].map((cell) => cell.textContent))",
            f"table-{table}")

    def facts(self, panel):
        return dict(self.run_script(
            "return [...document.querySelectorAll(`${arguments[0]} .facts > div`)].map((fact) => [...fact.children].map((part) => part.textContent))",
            panel))

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        chain = ActionChains(self.browser.driver)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def click(self, selector):
        self.browser.driver.find_element("css selector", selector).click()
