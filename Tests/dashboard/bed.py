"""A server with the world in it, and a Chromium to look at it."""

import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import world

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
})();
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
                 mobile=False)

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

    def shot(self, path, full=True):
        """A picture of the whole page."""
        import base64
        size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        arguments = {"format": "png", "captureBeyondViewport": full} | ({"clip": clip} if full else {})
        pathlib.Path(path).write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot", **arguments)["data"]))

    def close(self):
        self.driver.quit()


if __name__ == "__main__":
    sys.exit("bed.py is used by run.py")
