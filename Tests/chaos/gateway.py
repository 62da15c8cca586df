"""One bandferryd on a host of its own: a bus, a clock, a state directory."""

import json
import os
import re
import sqlite3
import subprocess

from nodes import BINARIES, DEADLINE, Stack
from stack import BUS_CONFIGURATION, Process

# Rows of these are work that is not done.
WAITING = ("unconfirmed", "held", "stale", "contested", "open_questions", "quarantine")


class Gateway:
    """`bands`: {address: mode}. The daemon's wall clock is what `set_clock` says; `wallclock` is the library for that."""

    def __init__(self, name, index, directory, bands, token, wallclock, batch=500):
        self.name, self.index, self.bands, self.batch = name, index, dict(bands), batch
        self.directory = directory / name
        self.directory.mkdir()
        self.state = self.directory / "state"
        self.bus_address = f"unix:path={self.directory}/bus"
        self.configuration = self.directory / "bandferry.conf"
        self.clock_file = self.directory / "wallclock"
        self.url = None
        (self.directory / "bus.conf").write_text(BUS_CONFIGURATION.format(socket=self.directory / "bus"))
        self.token_file = self.directory / "token"
        self.token_file.write_text(token + "\n")
        self.token_file.chmod(0o600)
        self.bus = Process("dbus-daemon", ["dbus-daemon", f"--config-file={self.directory}/bus.conf", "--nofork"],
                           str(self.directory / "bus.log"), {})
        self.daemon = Process(
            f"gateway {name}", [str(BINARIES / "bandferryd"), "--config", str(self.configuration)],
            str(self.directory / "log"),
            {"DBUS_SYSTEM_BUS_ADDRESS": self.bus_address, "LD_PRELOAD": str(wallclock), "WALLCLOCK_FILE": str(self.clock_file)})

    def start_bus(self):
        self.bus.start()
        Stack.wait((self.directory / "bus").exists, "the bus", DEADLINE)

    def set_clock(self, offset_ms, synchronised=True):
        draft = self.clock_file.with_suffix(".new")
        draft.write_text(f"{offset_ms} {int(synchronised)}\n")
        draft.rename(self.clock_file)

    def start(self):
        lines = ["[gateway]", f"state_directory = {self.state}", "sync_interval = 1", "log_level = debug", "[bands]"]
        for band, mode in self.bands.items():
            lines += [f"[band {band}]", f"mode = {mode}"]
        lines += ["[upload]", f"url = {self.url}", f"token_file = {self.token_file}",
                  f"batch_size = {self.batch}"]
        self.configuration.write_text("\n".join(lines) + "\n")
        self.started_at = len(self.daemon.text())
        self.daemon.start()

    def command(self, *words, check=True):
        done = subprocess.run(
            [str(BINARIES / "bandferry"), "--config", str(self.configuration), *words], capture_output=True, text=True,
            timeout=DEADLINE, env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.bus_address})
        if check and done.returncode:
            raise AssertionError(f"bandferry {' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout if check else done

    def ask(self, *words):
        """Begins a command; whatever it says."""
        return subprocess.Popen(
            [str(BINARIES / "bandferry"), "--config", str(self.configuration), *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.bus_address})

    def status(self):
        done = self.command("--json", "status", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {"running": False, "problems": [], "bands": []}

    def has_read_all(self):
        """Each band to its end, since the start."""
        ended = re.findall(r"session ended \(band=(\S+), end=caught_up", self.daemon.text()[self.started_at:])
        return {band[-5:] for band in self.bands} <= set(ended)

    def is_calm(self):
        """Every band was read to its end, and nothing waits here."""
        status = self.status()
        bands = [band for band in status["bands"] if band["adopted"]]
        return len(bands) == len(self.bands) and not any(self.waiting().values()) and all(
            band["problem"] is None and band["next_seq"] and band["newest_seq"] is not None
            and band["next_seq"] > band["newest_seq"] and band["pending"] == 0 for band in bands)

    # looking

    def query(self, sql, *values):
        connection = sqlite3.connect(f"file:{self.state}/gateway.db?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def waiting(self):
        """How much of what there is to do, by table."""
        counts = {table: self.query(f"SELECT count(*) FROM {table}")[0][0] for table in WAITING}
        counts["gaps"] = self.query("SELECT count(*) FROM gaps WHERE sent = 0")[0][0]
        return counts

    def samples(self):
        """As the API has them."""
        return [json.loads(line) for line in self.command("export", "--format", "jsonl").splitlines()]

    def gaps(self):
        """Rows of the ledger, as the API has them but for the times, which are milliseconds."""
        rows = self.query(
            "SELECT device, rings.ring, first_seq, last_seq, cause, after, before, healed_at FROM gaps "
            "JOIN rings ON rings.id = gaps.ring JOIN bands ON bands.id = rings.band ORDER BY 1, 2, 3")
        return [{"device_id": device, "ring": f"{ring:08x}", "first_seq": first, "last_seq": last, "cause": cause,
                 "after": after, "before": before, "healed_at": healed}
                for device, ring, first, last, cause, after, before, healed in rows]
