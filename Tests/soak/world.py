"""A gateway, its bands and its server on one clock, which stands still while they work and leaps while they rest."""

import os
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lab"), str(HERE.parent / "faults")]

import ledger  # noqa: E402
from stack import Stack, device_id  # noqa: E402

HOUR = 3_600_000
RECORDS_AN_HOUR = 60
# What goes wrong with the bands, one after the other. None of it may cost a record.
FAULTS = ["drop:0.01", "duplicate:0.05,lateend:0.005", "reorder:0.03", "disconnect:0.01", "lostack:0.3", "connectfails:0.2", "slow:300", ""]
# In a hundred hours.
KILLS, RESTARTS, OUTAGES, CUTS = 1.0, 1.5, 2.0, 6.0


class World:
    """`days` of `bands`. The daemon is killed in the first third only: what one process gathers shows in the rest."""

    def __init__(self, directory, days, bands, seed):
        self.random, self.hours, self.seed = random.Random(seed), days * 24, seed
        self.clock_file = directory / "wallclock"
        self.now = 0
        self.set_clock()
        library = directory / "wallclock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(HERE.parent / "lab" / "wallclock.c")], check=True)
        self.environment = {"LD_PRELOAD": str(library), "WALLCLOCK_FILE": str(self.clock_file), "WALLCLOCK_BOOTTIME": "1"}
        options = ["--records", "0", "--interval", "60000", "--seed", str(seed), "--time-scale", "20", "--drift", "20", "--capacity", "20000"]
        self.stack = Stack(bands=bands, band_options=options, log_level="warning")
        for index, band in enumerate(self.stack.bands):
            if fault := FAULTS[index % len(FAULTS)]:
                self.stack.sim.command += ["--faults-for", f"{band}={fault}"]
        for process in (self.stack.daemon, self.stack.sim):
            process.environment.update(self.environment)
        self.deeds = {"killed": 0, "bluetoothd restarted": 0, "servers gone": 0, "links cut": 0, "syncs": 0, "failed syncs": 0}
        self.down_until = None
        self.measures = []

    def set_clock(self):
        draft = self.clock_file.with_suffix(".new")
        draft.write_text(f"{self.now} 1\n")
        draft.rename(self.clock_file)

    def run(self):
        stack = self.stack
        # The server has the same clock, for it refuses what is far in the future.
        os.environ.update(self.environment)
        try:
            stack.start_bus()
            stack.start_server()
            stack.start_sim().start_daemon()
            for hour in range(self.hours):
                self.pass_an_hour()
                self.suffer(hour)
                self.sync()
                if hour >= self.hours // 3:
                    self.measures.append(self.measure())
            self.come_to_rest()
        finally:
            for name in self.environment:
                os.environ.pop(name, None)

    def pass_an_hour(self):
        self.now += HOUR
        self.set_clock()
        for band in self.stack.bands:
            self.control(band, "Record", f"uint32:{RECORDS_AN_HOUR}")

    def control(self, band, method, *values):
        subprocess.run(
            ["dbus-send", f"--bus={self.stack.bus_address}", "--dest=org.bandferry.Simulator1", "--print-reply=literal",
             "/org/bandferry/simulator/dev_" + band.replace(":", "_"), f"org.bandferry.Simulator1.{method}", *values],
            check=True, timeout=60, stdout=subprocess.DEVNULL)

    def happens(self, in_a_hundred):
        return self.random.random() < in_a_hundred / 100

    def suffer(self, hour):
        stack = self.stack
        if self.down_until is not None and hour >= self.down_until:
            stack.start_server()
            self.down_until = None
        if self.happens(RESTARTS):
            stack.sim.kill()
            stack.start_sim()
            self.deeds["bluetoothd restarted"] += 1
        if self.down_until is None and self.happens(OUTAGES):
            stack.server.kill()
            self.down_until = hour + self.random.randrange(1, 12)
            self.deeds["servers gone"] += 1
        if hour < self.hours // 3 and self.happens(KILLS):
            stack.daemon.kill()
            stack.start_daemon()
            self.wait_for_daemon()
            self.deeds["killed"] += 1
        if self.happens(CUTS):
            self.control(self.random.choice(stack.bands), "Disconnect")
            self.deeds["links cut"] += 1

    def wait_for_daemon(self):
        self.stack.wait(lambda: self.stack.status()["running"], "the daemon", pause=0.05)

    def sync(self):
        """Every band once. What fails now is there the next hour."""
        done = self.stack.command("sync", check=False)
        self.deeds["syncs"] += 1
        if done.returncode:
            self.deeds["failed syncs"] += 1

    def come_to_rest(self):
        if self.down_until is not None:
            self.stack.start_server()

        def is_calm():
            self.stack.command("sync", check=False)
            self.stack.command("upload", "now", check=False)
            status = self.stack.status()
            return len(status["bands"]) == len(self.stack.bands) and all(
                band["problem"] is None and band["next_seq"] and band["next_seq"] > band["newest_seq"] and band["pending"] == 0
                for band in status["bands"])

        self.stack.wait(is_calm, "everything to be synced and uploaded", deadline=300, pause=0.2)

    # what one process gathers

    def measure(self):
        """{what: how much} of the daemon."""
        pid = self.stack.daemon.popen.pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()

        def number(name):
            return int(re.search(rf"{name}:\s*(\d+)", status)[1])

        return {"memory, KiB": number("RssAnon"), "threads": number("Threads"), "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
                "match rules": self.match_rules()}

    def match_rules(self):
        """Of all who are on the bus but this program itself; only the daemon and the simulator are."""
        text = subprocess.run(
            ["dbus-send", f"--bus={self.stack.bus_address}", "--dest=org.freedesktop.DBus", "--print-reply", "/org/freedesktop/DBus",
             "org.freedesktop.DBus.Debug.Stats.GetStats"], check=True, capture_output=True, text=True, timeout=60).stdout
        return int(re.search(r'"MatchRules".*?uint32 (\d+)', text, re.DOTALL)[1])

    def problems(self):
        """Ends everything; what is missing, doubled or acked too early."""
        stack, found = self.stack, []
        for process in (stack.daemon, stack.server, stack.sim):
            if status := process.stop():
                found.append(f"{process.name} ended with {status}")
        found += ledger.check(stack.truth(), ledger.Server(stack.store), device_id, set())
        return found + ledger.acks_ahead(stack.acks(), stack.state / "gateway.db")
