#!/usr/bin/env python3
"""Uploads a second that bandferry-ingest takes, on PostgreSQL and on SQLite, beside the floor of a bare libpq loop.

    ingest.py [--bin DIR] [--seconds N] [--rounds N] [--stored N] [--devices N] [--trends] [--layouts]

One upload is 300 new samples of one of many devices, gzip over a kept connection, answered when it is durable. Load,
server and database share this machine. The floor stores the same samples as a row each, without any server before it.
All parties take short rounds in turn, each on a database made anew but for the one with `--stored` samples in it, so
that what else the machine does hits all of them. Then 280 uploads a second, which is a million wearers once an hour.

`--trends` measures how fast stored trends follow, and how large they are. `--layouts` measures instead what the layout of the tables was chosen by. Nothing is asserted here.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lab"), str(HERE)]

from ingest_store import PostgreSQLStore, SQLiteStore  # noqa: E402
from postgresql import PostgreSQL  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
SAMPLES = 300
RATE = 280
CONNECTIONS = 64
# Beside Debian's defaults. All parties have the same server.
SETTINGS = {
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "1GB",
    "max_wal_size": "8GB", "checkpoint_timeout": "15min", "wal_buffers": "64MB", "max_connections": "200",
}


def compile_c(directory, name, libraries):
    program = pathlib.Path(directory) / name
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *libraries], capture_output=True, text=True,
                           check=True).stdout.split()
    subprocess.run(["cc", "-O2", "-o", program, HERE / f"{name}.c", *flags, "-lpthread", "-lm"], check=True)
    return program


def processor_seconds(process):
    """Of a process, and of those that it waited for."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15]) / TICKS


class Figures:
    """One round of one party."""

    def __init__(self, line, processor):
        words = line.split()
        self.values = {name: float(value) for name, value in zip(words[::2], words[1::2])}
        self.uploads = self.values["uploads"]
        self.rate = self.uploads / self.values["seconds"]
        self.processor = {name: seconds / max(self.uploads, 1) * 1e6 for name, seconds in processor.items()}
        self.next = int(self.values["next"])


class Machine:
    """PostgreSQL, the programs of the bench, and the server under test."""

    def __init__(self, options, directory, postgresql):
        self.options, self.directory, self.postgresql = options, pathlib.Path(directory), postgresql
        self.load = compile_c(directory, "ingest_load", ["zlib"])
        self.floor = compile_c(directory, "ingest_floor", ["libpq"])
        self.server = pathlib.Path(options.bin) / "bandferry-ingest"
        self.tokens = self.directory / "tokens"
        self.tokens.write_text("bench-token account gateway\n")
        self.tokens.chmod(0o600)
        self.numbers = 0

    def name(self):
        self.numbers += 1
        return f"ingest{self.numbers}"

    def settle(self):
        """What the last round left to write is not the next one's."""
        self.postgresql.query("postgres", "CHECKPOINT")
        os.sync()

    def _database_processor(self):
        """Of all of its processes, those that ended included."""
        total = 0
        for process in os.listdir("/proc"):
            try:
                if process.isdigit() and os.readlink(f"/proc/{process}/cwd") == str(self.postgresql.data):
                    total += processor_seconds(process)
            except OSError:
                pass
        return total

    def run_floor(self, *arguments):
        database, program = self._database_processor(), os.times()
        command = [self.floor, self.postgresql.conninfo("floor"), *map(str, arguments)]
        line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return Figures(line, self._processor(database, program))

    def _processor(self, database, program, server=None, server_before=0):
        # Backends that end are counted by their parent a moment later.
        time.sleep(0.2)
        after = os.times()
        return {
            "load": after.children_user + after.children_system - program.children_user - program.children_system,
            "PostgreSQL": self._database_processor() - database,
            "server": processor_seconds(server.pid) - server_before if server else 0,
        }

    def run_load(self, store, *arguments, devices=None, afterwards=lambda: None):
        """A server on a store, for one round."""
        self.settle()
        server = subprocess.Popen(
            [self.server, "--listen", "127.0.0.1:0", "--store", store.uri, "--token-file", self.tokens],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = server.stdout.readline().strip().rsplit(":", 1)[1]
            before, database, program = processor_seconds(server.pid), self._database_processor(), os.times()
            command = [self.load, port, "bench-token", "--devices", str(devices or self.options.devices), "--first",
                       str(store.next), "--connections", str(CONNECTIONS), *map(str, arguments)]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode:
                print(f"  {store.label}: {result.stderr.strip()}", flush=True)
            figures = Figures(result.stdout, self._processor(database, program, server, before))
            afterwards()
            store.next = figures.next
            store.uploads += int(figures.uploads)
            return figures
        finally:
            server.terminate()
            server.wait(60)

    def new_store(self, kind, stored=0):
        """A store that knows all devices, with about so many samples of them."""
        store = kind(self)
        uploads = -(-stored // (self.options.devices * SAMPLES))
        begin = time.monotonic()
        store.make(self.options.devices, uploads)
        if stored:
            print(f"  {store.label}: {uploads * self.options.devices * SAMPLES / 1e6:,.0f} million samples filled in "
                  f"{time.monotonic() - begin:.0f} s", flush=True)
        return store


def median(figures, key=lambda figure: figure.rate):
    return statistics.median(key(figure) for figure in figures)


def best_connections(machine):
    """The floor takes as many connections as serve it best."""
    rates = {}
    for connections in (4, 8, 16, 32):
        machine.settle()
        rates[connections] = machine.run_floor("--fresh", "--seconds", 3, "--connections", connections).rate
    best = max(rates, key=rates.get)
    print("floor by connections: " + ", ".join(f"{count}: {rate:,.0f}/s" for count, rate in rates.items())
          + f"; {best} from here on", flush=True)
    return best


def floor_round(machine, connections, *arguments):
    machine.settle()
    return machine.run_floor("--fresh", "--seconds", machine.options.seconds, "--connections", connections, *arguments)


def sustained(machine):
    """Rounds of all parties in turn."""
    options = machine.options
    connections = best_connections(machine)
    full = [machine.new_store(kind, options.stored) for kind in (PostgreSQLStore, SQLiteStore)]
    figures = {}
    empty = {}
    for _ in range(options.rounds):
        figures.setdefault("floor", []).append(floor_round(machine, connections))
        for kind, filled in zip((PostgreSQLStore, SQLiteStore), full):
            if kind in empty:
                empty[kind].close()
            empty[kind] = machine.new_store(kind)
            for store, label in ((empty[kind], kind.label), (filled, f"{kind.label}, stored")):
                figures.setdefault(label, []).append(machine.run_load(store, "--seconds", options.seconds))
    print(f"\n{'':20}{'uploads/s':>10}{'samples/s':>11}  us of processor an upload")
    for label, rounds in figures.items():
        processor = ", ".join(f"{name} {median(rounds, lambda figure: figure.processor[name]):,.0f}"
                              for name in ("server", "PostgreSQL", "load"))
        print(f"{label:20}{median(rounds):10,.0f}{median(rounds) * SAMPLES:11,.0f}  {processor}")
    return figures, list(empty.values()), full


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(HERE.parents[1] / ".build" / "release"))
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stored", type=int, default=10_000_000)
    parser.add_argument("--devices", type=int, default=20_000)
    parser.add_argument("--layouts", action="store_true")
    parser.add_argument("--trends", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bandferry-bench.") as directory, \
            PostgreSQL(settings=SETTINGS) as postgresql:
        version = postgresql.query("postgres", "SHOW server_version")[0][0]
        print(f"PostgreSQL {version}, " + ", ".join(f"{name}={value}" for name, value in SETTINGS.items()))
        print(f"{options.devices:,} devices, {CONNECTIONS} connections, uploads of {SAMPLES} samples, {os.cpu_count()} "
              "processors for load, server and database together", flush=True)
        machine = Machine(options, directory, postgresql)
        postgresql.database("floor")
        if options.layouts:
            return layouts(machine)
        if options.trends:
            return trends(machine)
        figures, empty, full = sustained(machine)
        report(machine, figures, empty, full)


def report(machine, figures, empty, full):
    floor = median(figures["floor"])
    for label in ("PostgreSQL", "SQLite"):
        rate = median(figures[label])
        stored = median(figures[f"{label}, stored"])
        asked = " (asked: at least 1, and 1,000 uploads/s)" if label == "PostgreSQL" else ""
        print(f"{label} / floor in samples/s: {rate / floor:.2f}{asked}")
        print(f"{label} with {machine.options.stored / 1e6:,.0f} million samples stored / empty: {stored / rate:.2f} "
              "(asked: at least 0.8 with 100)")
    for group in (4, 16):
        rounds = [floor_round(machine, 8, "--group", group)]
        print(f"floor with {group * SAMPLES:,} rows a transaction, 8 connections: {median(rounds):,.0f} uploads/s", flush=True)
    for store in empty:
        steady = machine.run_load(store, "--seconds", 2 * machine.options.seconds, "--rate", RATE)
        print(f"{store.label} at {RATE} uploads/s: p50 {steady.values['p50']:.1f} ms, p99 {steady.values['p99']:.1f} ms, "
              f"longest {steady.values['max']:.1f} ms (asked: p99 under 100), {steady.values['errors']:.0f} errors, "
              f"{sum(steady.processor.values()) * RATE / 1e6:.2f} processors busy", flush=True)
    for store in full:
        sizes = store.sizes()
        samples = store.uploads * SAMPLES
        print(f"{store.label}: {sum(sizes.values()) / samples:.2f} bytes a sample in {samples / 1e6:,.1f} million (asked: at most 24); "
              + ", ".join(f"{name} {size / samples:.2f}" for name, size in sizes.items()), flush=True)


def trends(machine):
    """Devices a second whose stored trends are brought up to date, and what a day of a device takes."""
    # So many uploads are some two days and a half of a device.
    options, uploads = machine.options, 24
    options.devices = 2000
    for kind in (PostgreSQLStore, SQLiteStore):
        store = machine.new_store(kind, options.devices * uploads * SAMPLES)
        rates = []

        def caught_up():
            begin, before = time.monotonic(), store.touched()
            store.wait_for_trends()
            rates.append(before / (time.monotonic() - begin))

        for _ in range(options.rounds):
            machine.run_load(store, "--uploads", options.devices, afterwards=caught_up)
        size, days = store.days()
        steady = []
        load = machine.run_load(store, "--seconds", 4 * options.seconds, "--rate", RATE,
                                afterwards=lambda: steady.append(store.touched()))
        print(f"{store.label}: trends of {statistics.median(rates):,.0f} devices/s brought up to date with nothing else to do; at {RATE} "
              f"uploads/s {steady[0]:,} devices behind after {4 * options.seconds:.0f} s, "
              f"{sum(load.processor.values()) * RATE / 1e6:.2f} processors busy, p99 {load.values['p99']:.1f} ms; "
              f"{size / days:,.0f} bytes a day of a device", flush=True)


def layouts(machine):
    """Samples a second and bytes a sample of the three layouts, under the same loop."""
    # Each device's day is uploaded in eleven parts.
    machine.options.devices = 2000
    uploads = 22_000
    rounds = {}
    for _ in range(machine.options.rounds):
        for layout, group in [("rows", 1), ("rows", 16), ("days", 1), ("days", 16), ("chunks", 1), ("chunks", 16)]:
            machine.settle()
            figures = machine.run_floor(
                "--fresh", "--layout", layout, "--uploads", uploads, "--devices", 2000, "--connections", 8,
                "--group", group, *(["--time-index"] if layout == "rows" else []))
            size = machine.postgresql.query("floor", f"SELECT pg_total_relation_size('floor_{layout}')")[0][0]
            figures.size = int(size) / (figures.uploads * SAMPLES)
            rounds.setdefault((layout, group), []).append(figures)
    for (layout, group), figures in rounds.items():
        print(f"{layout:7} {group:3} uploads a transaction: {median(figures):8,.0f} uploads/s, "
              f"{median(figures) * SAMPLES:10,.0f} samples/s, {median(figures, lambda f: f.processor['PostgreSQL']):6,.0f} us of "
              f"PostgreSQL an upload, {median(figures, lambda f: f.size):6.2f} bytes a sample", flush=True)


if __name__ == "__main__":
    sys.exit(main())
