#!/usr/bin/env python3
"""Cuts the power of a guest with the gateway under load, boots it again, and looks.

    powercut.py [--bin DIR] [--runs N] [--cuts N] [--seed N] [--workers N] [--span SECONDS] [--without-barriers N]

A life is a new disk and new bands, and at most --cuts cuts of the power. Bands and server are on the host, where no cut reaches
them; the gateway is in the guest, its state on an ext4 disk (disk.py says what that forgets). After each cut, of the disk alone: the
file system needs no repair, the database passes its integrity check, no ack is ahead of it, no acked record is missing, and no
gap is told. Then the guest boots again with that disk, and its gateway must go on. At a life's end the bands stop recording:
the server and the gateway must then have each record once and name no gap.

--without-barriers N: that many more lives on a disk whose flushes never come. The check must find acks ahead of the database there.
The last line is "powercut: N passed, M failed"; a cut counts as one, a life's accounts too.
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
for folder in ["lab", "faults"]:
    sys.path.insert(0, str(HERE.parent / folder))

import ledger  # noqa: E402
from disk import LOSSES, Disk  # noqa: E402
from stack import Stack, device_id  # noqa: E402

# This machine, as the guest's user network shows it.
HOST = "10.0.2.2"
TYPES = ledger.TYPES


class Outside(Stack):
    """Bus, bands and server on this machine. The guest comes to the bus over TCP, which carries no descriptors: notifications
    are signals then, and an ack is a method call. The way from a commit to its ack is the same."""

    def __init__(self, binaries, directory, bands, band_options):
        super().__init__(binaries, directory, bands=bands, band_options=["--no-acquire-notify", *band_options])
        self.bus_port = self._free_port()
        configuration = self.directory / "bus.conf"
        over_tcp = f"<listen>tcp:host=127.0.0.1,port={self.bus_port},family=ipv4</listen><auth>ANONYMOUS</auth><allow_anonymous/>"
        configuration.write_text(configuration.read_text().replace("<auth>", f"{over_tcp}<auth>", 1))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
             "-subj", "/CN=server", "-addext", f"subjectAltName=IP:{HOST}", "-keyout", f"{directory}/key.pem",
             "-out", f"{directory}/certificate.pem"], check=True, capture_output=True)

    def start(self):
        self.start_bus()
        self.start_server("--tls-certificate", f"{self.directory}/certificate.pem", "--tls-key", f"{self.directory}/key.pem")
        self.start_sim()
        self.configuration.write_text("\n".join([
            "[gateway]", "state_directory = /state/bandferry", "sync_interval = 1", "[bands]", "adopt = " + ", ".join(self.bands),
            "[upload]", f"url = https://{HOST}:{self.port}", f"ca_file = {self.directory}/certificate.pem",
            f"token_file = {self.directory}/gateway-token", ""]))
        return self


class Guest:
    """One boot."""

    def __init__(self, outside, disk, mount):
        self.pid_file = outside.directory / "qemu.pid"
        self.pid_file.unlink(missing_ok=True)
        settings = {"BUILD": outside.binaries.resolve(), "CONFIG": outside.configuration, "MOUNT": mount, "BLUETOOTH": "no",
                    "BUS": f"tcp:host={HOST},port={outside.bus_port},family=ipv4"}
        self.process = subprocess.Popen(
            [HERE / "run.sh", HERE / "guest-powercut.sh", "600", *disk.arguments(),
             "-nic", "user,model=virtio-net-pci"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
            env={**os.environ, "VM_PID_FILE": str(self.pid_file), "VM_MEM": "512",
                 "VM_ENV": " ".join(f"{name}={value}" for name, value in settings.items())})
        self.lines, self.said = [], queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            self.said.put(line)
        self.said.put(None)

    def wait_for(self, text, seconds=180):
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.said.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"the guest did not say {text!r} within {seconds} s") from None
            if line is None:
                raise AssertionError(f"the guest ended before it said {text!r}")
            if text in line:
                return

    def cut_power(self):
        """What ended by itself before, if anything did."""
        early = [line for line in self.lines if "the gateway ended" in line or "FAILED" in line or "Kernel panic" in line]
        try:
            os.kill(int(self.pid_file.read_text()), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            early.append("QEMU had ended")
        self.process.wait(60)
        return early


class Life:
    def __init__(self, seed, cuts, options, mount="defaults"):
        self.seed, self.cuts, self.options, self.mount = seed, cuts, options, mount
        self.random = random.Random(seed)
        self.bands = self.random.choice([1, 2, 4, 8])
        self.band_options = [
            "--seed", str(seed), "--records", str(self.random.choice([2000, 10000])),
            "--window", str(self.random.choice([8, 64])), "--time-scale", "20"]
        self.problems, self.results, self.known_acks = [], [], 0
        self.highest = {}
        self.records = self.acks_seen = self.stored = 0
        self.losses, self.always_under_load, self.has_account = LOSSES, False, True

    def describe(self):
        return f"seed {self.seed}: {self.bands} bands, {' '.join(self.band_options)}"

    def run(self):
        with tempfile.TemporaryDirectory(prefix="bandferry-powercut.") as directory:
            outside = Outside(self.options.bin, directory, self.bands, [*self.band_options, "--record-every", "5"])
            disk = Disk(directory, writes_a_second=self.random.choice([None, 100, 400]))
            guest = None
            try:
                outside.start()
                for number in range(1, self.cuts + 1):
                    disk.boot()
                    guest = Guest(outside, disk, self.mount)
                    self._cut(number, outside, disk, guest)
                if not self.has_account:
                    return self
                disk.boot()
                guest = Guest(outside, disk, self.mount)
                self._account(outside, disk, guest)
            except Exception as error:  # a life reports, the others go on
                problem = f"{type(error).__name__}: {error}"
                self._result("the life", [problem, *(guest.lines[-30:] if guest else []), *self._ends(outside)])
            finally:
                if guest and guest.process.poll() is None:
                    guest.cut_power()
                outside.close()
        return self

    @staticmethod
    def _ends(outside):
        """What the programs outside said last, and the status of one that ended by itself."""
        return [f"{process.name}, {'running' if process.running else f'ended: {process.popen and process.popen.returncode}'}: "
                f"{process.text()[-600:]}" for process in [outside.sim, outside.server, outside.bus]]

    def _result(self, text, problems):
        text = f"{self.describe()}: {text}"
        self.results.append((text, problems))
        if not self.has_account:
            return
        lines = [f"{'FAILED' if problems else 'ok'} {text}"]
        lines += ["    " + problem.replace("\n", "\n    ") for problem in problems]
        print("\n".join(lines), flush=True)

    def _cut(self, number, outside, disk, guest):
        began = time.monotonic()
        guest.wait_for("the disk is being mounted")
        booted = time.monotonic() - began
        loss = self.random.choice(self.losses)
        # One in four while it starts, recovers and checks; the others once acks of this boot arrive.
        under_load = self.random.random() < 0.75 or self.always_under_load
        if under_load:
            outside.wait(lambda: len(outside.acks()) > self.known_acks + 3, "acks", deadline=120)
        after = self.random.uniform(0, self.options.span)
        time.sleep(after)
        # Two in three within a commit: by the clock alone nearly every cut would lie between two.
        if self.random.random() < 2 / 3:
            disk.wait_for_write(2)
        problems = guest.cut_power()
        lost = disk.cut(self.random, loss)
        before = sum(self.highest.values())
        problems += self._look(outside, disk)
        moment = f"{after:.2f} s after {'the first acks' if under_load else 'the mount'}"
        text = (f"cut {number}, booted in {booted:.1f} s, cut {moment}: {lost}; {sum(self.highest.values()) - before} records "
                f"acked in this boot, {self.stored} stored")
        self._result(text, problems + (guest.lines[-20:] if problems else []))

    def _look(self, outside, disk):
        """What is wrong with the disk after a cut, given what the bands freed."""
        acks = outside.acks()
        self.acks_seen = len(acks)
        for line in acks[self.known_acks:]:
            if line["outcome"] == "honoured" and line["freed"] > 0:
                self.highest[line["ring"]] = max(self.highest.get(line["ring"], 0), line["seq"])
        self.known_acks, self.stored = len(acks), 0
        with tempfile.TemporaryDirectory(dir=outside.directory) as directory:
            problems = disk.files(directory, "/bandferry", ["gateway.db", "gateway.db-wal"])
            database = f"{directory}/gateway.db"
            problems += ledger.acks_ahead(acks, database)
            if os.path.exists(database):
                problems += self._database(database)
        return problems

    def _database(self, path):
        connection = sqlite3.connect(path)
        try:
            sound = [line for line, in connection.execute("PRAGMA integrity_check")]
            if sound != ["ok"]:
                return [f"integrity check: {sound[:3]}"]
            if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'samples'").fetchone():
                return []  # cut before there was anything
            self.samples = {}
            for ring, key, value, band_time in connection.execute(
                    "SELECT r.ring, s.key, s.value, s.band_time FROM samples AS s JOIN rings AS r ON r.id = s.key >> 40"):
                self.samples.setdefault(f"{ring:08x}", {})[key >> 8 & 0xFFFFFFFF, TYPES[key & 0xFF]] = (value, band_time)
            problems = []
            for ring, held in self.samples.items():
                seqs = {seq for seq, _ in held}
                self.stored += len(held)
                if len(seqs) != len(held):
                    problems.append(f"ring {ring}: a record is stored twice")
                missing = set(range(1, self.highest.get(ring, 0) + 1)) - seqs
                if missing:
                    problems.append(f"ring {ring}: {len(missing)} acked records are missing, as {sorted(missing)[:5]}")
            for table, what in [("gaps", "named as gaps"), ("conflicts", "in conflict"), ("raw", "kept raw"),
                                ("quarantine", "in quarantine")]:
                count, = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
                if count:
                    problems.append(f"{count} {what}, where nothing was lost")
            return problems
        except sqlite3.DatabaseError as error:
            return [f"the database does not open: {error}"]
        finally:
            connection.close()

    def _account(self, outside, disk, guest):
        """The bands stop recording; soon the server has what they recorded, and so has the disk."""
        guest.wait_for("the gateway starts")
        outside.sim.stop()
        truth = outside.truth()
        outside.sim.command = [word for word in outside.sim.command if word not in ("--record-every", "5")]
        outside.start_sim()
        end = time.monotonic() + 180
        while problems := ledger.check(truth, ledger.Server(outside.store), device_id, []):
            if time.monotonic() > end:
                break
            time.sleep(1)
        problems = problems[:12] + guest.cut_power()
        lost = disk.cut(self.random, "all")
        problems += self._look(outside, disk)
        recorded = {}
        for line in truth:
            if line["kind"] == "record":
                recorded.setdefault(line["ring"], {})[line["seq"], line["type"]] = (line["value"], line["band_time_ms"])
        if recorded != getattr(self, "samples", None):
            problems.append("the gateway's samples are not what the bands recorded")
        if count := self._stored_twice(outside):
            problems.append(f"the server has {count} samples twice")
        self.records = sum(map(len, recorded.values()))
        text = f"in the end {self.records} records, {self.acks_seen} acks; {lost}"
        self._result(text, problems + (guest.lines[-20:] if problems else []))

    @staticmethod
    def _stored_twice(outside):
        keys = "device_id || ' ' || ring || ' ' || type || ' ' || seq"
        return outside.query(outside.store, f"SELECT count(*) - count(DISTINCT {keys}) FROM samples")[0][0]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(
        os.environ.get("BANDFERRY_BIN") or os.environ.get("BUILD") or HERE.parents[1] / ".build" / "release"))
    parser.add_argument("--runs", type=int, default=5, help="cuts in all")
    parser.add_argument("--cuts", type=int, default=10, help="in one life, at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--span", type=float, default=4, help="a cut is at most so many seconds after the mount or the first acks")
    parser.add_argument("--without-barriers", type=int, default=1)
    return parser.parse_args()


def main():
    options = arguments()
    # Through the guest's own paths: no link of the build directory may lead elsewhere.
    options.bin = options.bin.resolve()
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    passed = failed = acked = records = cuts = 0
    lives, left = [], options.runs
    while left > 0:
        lives.append(Life(options.seed + len(lives), min(left, options.cuts), options))
        left -= options.cuts
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        for life in pool.map(Life.run, lives):
            for _, problems in life.results:
                passed, failed = passed + (not problems), failed + bool(problems)
            acked, records = acked + sum(life.highest.values()), records + life.records
        for number in range(options.without_barriers):
            # What one boot wrote and acked is gone, if the disk is never asked to flush it.
            life = Life(options.seed + number, 1, options, mount="barrier=0")
            life.losses, life.always_under_load, life.has_account = ["all"], True, False
            life.run()
            ahead = sum("durable" in problem or "no database" in problem for _, problems in life.results for problem in problems)
            print(f"{'ok' if ahead else 'FAILED'} seed {life.seed} without barriers: {ahead} acks were found ahead of the database",
                  *[f"({text})" for text, _ in life.results if not ahead], flush=True)
            passed, failed = passed + (ahead > 0), failed + (ahead == 0)
    print(f"{options.runs} cuts, {records} records, {acked} of them acked, in {time.monotonic() - started:.0f} s")
    print(f"powercut: {passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
