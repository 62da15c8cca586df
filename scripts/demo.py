#!/usr/bin/env python3
"""The whole line on this machine, for people to watch: no Bluetooth, no network, nothing left behind.

    scripts/demo.py [--bin DIR] [--bands N] [--records N] [--keep] [--wait | --no-wait]

A private message bus, simulated bands behind a simulated BlueZ, the daemon, and the server on loopback. The history comes
in and goes up; half way the link is cut, and the daemon is killed with SIGKILL. Then the accounts: what the bands
recorded, what is stored here, what the server has, what is missing, what is there twice. Exits 1 when they don't agree.

At the end the server is given a month of two simulated wearers, and shows it in a browser until Ctrl-C. Where this is no terminal it
ends at once, unless --wait is given; with --no-wait it always does.
"""

import argparse
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "Tests" / "lab"), str(ROOT / "Tests" / "faults")]

import ledger  # noqa: E402
from answers import Answers  # noqa: E402
from history import UTC, Client, History, Wearer  # noqa: E402
from stack import Stack, device_id  # noqa: E402

DEADLINE = 300
READ_TOKEN = "look-but-do-not-touch"


class Screen:
    """Bars that move on a terminal; a line now and then elsewhere."""

    def __init__(self):
        self.is_terminal = sys.stdout.isatty()
        self.lines = 0
        self.shown = None

    def say(self, text):
        self._clear()
        print(text, flush=True)

    def bars(self, bands):
        if self.is_terminal:
            self._clear()
            for name, recorded, came_in, went_up in bands:
                print(f"  {name}  in {self._bar(came_in, recorded)}  up {self._bar(went_up, recorded)}")
            self.lines = len(bands)
            sys.stdout.flush()
            return
        total = sum(band[1] for band in bands) or 1
        came_in, went_up = (sum(band[column] for band in bands) * 100 // total for column in (2, 3))
        if self.shown is None or came_in - self.shown[0] >= 10 or went_up - self.shown[1] >= 10 or came_in == went_up == 100:
            if self.shown != (came_in, went_up):
                print(f"  {came_in:3}% has come in, {went_up:3}% has gone up", flush=True)
            self.shown = (came_in, went_up)

    def keep(self):
        """What is shown stays, whatever is printed from here on."""
        self.lines = 0

    def _clear(self):
        if self.lines:
            sys.stdout.write(f"\x1b[{self.lines}A\x1b[J")
        self.lines = 0

    @staticmethod
    def _bar(done, total, width=20):
        filled = min(width, done * width // total) if total else 0
        return "█" * filled + "░" * (width - filled) + f" {done:6}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / ".build" / "release"))
    parser.add_argument("--bands", type=int, default=3)
    parser.add_argument("--records", type=int, default=12_000)
    parser.add_argument("--keep", action="store_true", help="keep databases and logs, and say where they are")
    parser.add_argument("--wait", action="store_true", help="show the dashboard until Ctrl-C, also where this is no terminal")
    parser.add_argument("--no-wait", action="store_true", help="end at once, also on a terminal")
    return parser.parse_args()


def cut_link(stack, band):
    """The band is gone from the air in the middle of a packet train."""
    path = "/org/bandferry/simulator/dev_" + band.replace(":", "_")
    subprocess.run(
        ["dbus-send", f"--bus={stack.bus_address}", "--print-reply", "--dest=org.bandferry.Simulator1", path,
         "org.bandferry.Simulator1.Disconnect"], check=True, stdout=subprocess.DEVNULL)


def progress(stack, records):
    """A row a band: name, recorded, come in, gone up."""
    bands = {band["address"]: band for band in stack.status()["bands"]}
    rows = []
    for address in stack.bands:
        band = bands.get(address, {"stored": 0, "pending": 0})
        rows.append((address, records, band["stored"], max(0, band["stored"] - band["pending"])))
    return rows


def is_calm(stack):
    return all(not band["syncing"] and band["problem"] is None for band in stack.status()["bands"])


def watch(stack, screen, records, done, what):
    """Shows the bars until `done(share that came in, share that went up)`."""
    end = time.monotonic() + DEADLINE
    while True:
        rows = progress(stack, records)
        screen.bars(rows)
        total = sum(row[1] for row in rows)
        if done(sum(row[2] for row in rows) / total, sum(row[3] for row in rows) / total):
            return
        if not stack.daemon.running:
            raise AssertionError("the daemon ended by itself:\n" + stack.daemon.text()[-2000:])
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {DEADLINE} s:\n" + stack.command("status"))
        time.sleep(0.25)


def accounts(stack):
    """A row a band: recorded, stored, uploaded, missing, duplicated; and the sentences about what is wrong."""
    exported = [json.loads(line) for line in stack.command("export", "--format", "jsonl").splitlines()]
    stack.daemon.stop()
    client = Client(f"http://127.0.0.1:{stack.port}/", stack.token)
    server = Answers(client, [device_id(band) for band in stack.bands])
    client.close()
    stack.server.stop()
    stack.sim.stop()
    truth = stack.truth()
    problems = ledger.check(truth, server, device_id, allowed_causes=set())
    problems += ledger.acks_ahead(stack.acks(), stack.state / "gateway.db")
    rows = []
    for band in stack.bands:
        device = device_id(band)
        recorded = {(line["ring"], line["type"], line["seq"]) for line in truth
                    if line["kind"] == "record" and line["band"] == band}
        stored = [(line["ring"], line["type"], line["seq"]) for line in exported if line["device_id"] == device]
        uploaded = [key[1:] for key in server.samples if key[0] == device]
        duplicated = len(stored) - len(set(stored)) + server.twice[device]
        rows.append((band, len(recorded), len(stored), len(uploaded), len(recorded - set(uploaded)), duplicated))
    return rows, problems


def wearers_of_a_month(now):
    """Two bands that two simulated persons wore for a month, and swapped in the middle; each with a gap."""
    ago = lambda days, hours=0: now - datetime.timedelta(days=days, hours=hours)  # noqa: E731
    ann = Wearer("p_simulated_ann", "Europe/Berlin", 2, resting=53, pace=10)
    raj = Wearer("p_simulated_raj", "Asia/Kolkata", 5, resting=60, pace=7, bedtime=23.8, night=6.9)
    newest = now - datetime.timedelta(minutes=4)
    evening = ann.instant(ann.local(now).date(), 19.5)
    return (ann, raj), [
        History("simulated-blue", "51b1ed01", [(ago(31), ago(12), ann), (ago(12), newest, raj)],
                lost=[(ago(17, 5), ago(16, 9), "overwritten")], off=[(ago(24, 20), ago(23, 14))], seed=1),
        History("simulated-green", "51b1ed02", [(ago(31), ago(12), raj), (ago(12), newest, ann)],
                lost=[(evening - datetime.timedelta(days=3), evening - datetime.timedelta(days=2, hours=11), "freed_elsewhere")],
                off=[(evening - datetime.timedelta(days=6), evening - datetime.timedelta(days=6, hours=-1))], seed=1),
    ]


def show_dashboard(stack, screen, options, wait):
    """Starts the server again, gives it the month, and leaves it running while somebody looks."""
    with open(stack.directory / "token", "a") as tokens:
        tokens.write(READ_TOKEN + " lab read\n")
    stack.start_server("--dashboard", str(ROOT / "dashboard"))
    url = f"http://127.0.0.1:{stack.port}/"
    now = datetime.datetime.now(UTC).replace(second=0, microsecond=0)
    client = Client(url, stack.token)
    (ann, raj), histories = wearers_of_a_month(now)
    samples = sum(client.upload(history) for history in histories)
    for person, label, zone in [(ann, "Ann (simulated)", "Europe/Berlin"), (raj, "Raj (simulated)", "Asia/Kolkata")]:
        client.request("PUT", f"/v1/persons/{person.person}", {"label": label, "zones": [{"zone": zone, "from": "2020-01-01T00:00:00Z"}]})
    for history, battery, unsent in zip(histories, (64, 17), (0, 12)):
        client.request("PUT", f"/v1/devices/{history.device}/status", history.status(
            now - datetime.timedelta(minutes=3), battery, "simulated", unsent))
    client.close()
    with urllib.request.urlopen(url, timeout=30) as page:
        assert b"<title>Bandferry</title>" in page.read(), "the server does not serve the dashboard"
    if not wait:
        screen.say(f"\nA dashboard over a month of two simulated wearers ({samples:,} samples) was served at {url}.\n"
                   "Nobody watches here, so it ends; on a terminal, or with --wait, it stays until Ctrl-C.")
        return
    stack.start_sim()
    stack.start_daemon()
    screen.say(f"""
Dashboard with a month of two simulated wearers ({samples:,} samples, through the API; nobody was measured):

    {url}
    read token: {READ_TOKEN}

Bands, daemon and server go on. In another terminal, with `status`, `gaps`, `trends`, `upload status` or `help`:

    DBUS_SYSTEM_BUS_ADDRESS={stack.bus_address} \\
        {os.path.abspath(options.bin)}/bandferry --config {stack.configuration} status
""")
    screen.say("Ctrl-C ends it.")
    try:
        signal.pause()
    except KeyboardInterrupt:
        screen.say("")


def main():
    options = arguments()
    started = time.monotonic()
    screen = Screen()
    # Nothing that was started is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if options.keep:
        os.environ["BANDFERRY_KEEP"] = "1"
    total = options.bands * options.records
    # A pace at which the histories take about ten seconds, so that there is something to see.
    stack = Stack(
        options.bin, bands=options.bands, gateway_options=["sync_interval = 2"],
        band_options=["--records", str(options.records), "--interval", "60000", "--rate", str(options.records // 150),
                      "--time-scale", "4", "--clock-offset", "-86400000", "--lifelike"])
    try:
        screen.say(f"{options.bands} simulated bands with {total:,} records, a private bus, the daemon and the server.")
        stack.start()
        watch(stack, screen, options.records, lambda came_in, _: came_in > 0.25, "a quarter of the history")
        screen.say("The link to every band is cut in the middle of a packet train.")
        for band in stack.bands:
            cut_link(stack, band)
        watch(stack, screen, options.records, lambda came_in, _: came_in > 0.55, "half of the history")
        screen.say("The daemon is killed: SIGKILL, no warning.")
        stack.daemon.kill()
        time.sleep(1)
        stack.start_daemon()
        screen.say("It is started again, and goes on where it was.")
        stack.wait(lambda: stack.command("status", check=False).returncode == 0, "the daemon to come back")
        watch(stack, screen, options.records, lambda _, went_up: went_up >= 1, "the whole history on the server")
        stack.wait(lambda: is_calm(stack), "the last sync to end")
        screen.keep()
        print()
        print(stack.command("status"))
        rows, problems = accounts(stack)
        agree = print_accounts(rows, problems, time.monotonic() - started)
        show_dashboard(stack, screen, options, wait=options.wait or sys.stdin.isatty() and sys.stdout.isatty() and not options.no_wait)
    finally:
        stack.close()
    if options.keep:
        print(f"Kept in {stack.directory}")
    return 0 if agree else 1


def print_accounts(rows, problems, seconds):
    """Whether they agree."""
    titles = ("BAND", "RECORDED", "STORED", "UPLOADED", "MISSING", "DUPLICATED")
    print("{:<17}  {:>8}  {:>8}  {:>8}  {:>7}  {:>10}".format(*titles))
    for row in rows:
        print("{:<17}  {:>8}  {:>8}  {:>8}  {:>7}  {:>10}".format(*row))
    for problem in problems[:20]:
        print(f"WRONG: {problem}")
    agree = not problems and all(recorded == stored == uploaded and not missing and not duplicated
                                 for _, recorded, stored, uploaded, missing, duplicated in rows)
    verdict = "Every record reached the server exactly once" if agree else "The accounts do not agree"
    print(f"\n{verdict}; {seconds:.0f} s.")
    return agree


if __name__ == "__main__":
    sys.exit(main())
