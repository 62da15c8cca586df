#!/usr/bin/env python3
"""Time of a trend over days from a store with ten million samples, beside the same trend from an almost empty one.

    trends.py [--bin DIR] [--rows N] [--requests N]

Both stores have the same days of one band; the large one has other bands and days besides. The server stores
what days come to by itself, as after uploads; then the same requests go to both in turn. Nothing is asserted here.
"""

import argparse
import datetime
import http.client
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DAY_MS = 86_400_000
MINUTE_MS = 60_000
OFFSET = 330
ASKED_DAYS = 30
FIRST_DAY = (datetime.date(2026, 1, 1) - datetime.date(1970, 1, 1)).days
# Type, minutes between samples, the range of its values.
KINDS = [(1, 1, (48, 150)), (2, 5, (0, 400)), (3, 60, (930, 1000)), (4, 30, (0, 4))]
HEART_RATE = 1
ROWS_A_DAY = sum(1440 // minutes for _, minutes, _ in KINDS)


class Store:
    """A server of its own on a database that is filled while the server does not run."""

    def __init__(self, options, directory, name):
        self.path = pathlib.Path(directory) / f"{name}.sqlite"
        self.tokens = pathlib.Path(directory) / "tokens"
        self.program = pathlib.Path(options.bin) / "bandferry-ingest"
        self.start()
        self.stop()

    def start(self):
        self.tokens.write_text("bench-token account gateway\n")
        self.tokens.chmod(0o600)
        self.process = subprocess.Popen(
            [self.program, "--listen", "127.0.0.1:0", "--store", f"sqlite:{self.path}", "--token-file", self.tokens],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        host, port = self.process.stdout.readline().split("http://")[1].strip().split(":")
        self.connection = http.client.HTTPConnection(host, int(port))

    def stop(self):
        self.process.terminate()
        self.process.wait(30)

    def fill(self, bands, days):
        """Bands 1 to `bands`, each with as many days; the last ASKED_DAYS of band 1 are the same in every store."""
        database = sqlite3.connect(self.path, isolation_level=None)
        # What is lost at a power cut is not what is measured.
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -1000000")
        database.execute("INSERT INTO accounts (id, name) VALUES (1, 'account')")
        database.execute("INSERT INTO persons (id, account_id, name) VALUES (1, 1, 'person')")
        for band in range(1, bands + 1):
            database.execute("BEGIN")
            database.execute(
                "INSERT INTO devices (id, account_id, name, greatest_offset_min) VALUES (?, 1, ?, ?)",
                (band, f"band_{band:012X}", OFFSET))
            person = 1 if band == 1 else None
            if person:
                database.execute("INSERT INTO person_devices (person_id, device_id) VALUES (1, 1)")
            for kind in KINDS:
                database.executemany(
                    """
                    INSERT INTO samples (device_id, ring, type, seq, value, band_time_ms, clock_id, flags, provenance,
                        version, recorded_at_ms, tz_offset_min, time_bound_ms, time_uncertain, person_id)
                    VALUES (?, 1, ?, ?, ?, ?, 1, 1, 1, 1, ?, ?, 500, 0, ?)
                    """, self._samples(band, kind, days, person))
                for subject in (0, person) if person else (0,):
                    database.executemany(
                        "INSERT INTO touched_days VALUES (?, ?, ?, ?, 0)",
                        ((band, subject, kind[0], day) for day in range(FIRST_DAY - days, FIRST_DAY)))
            database.execute("COMMIT")
        rows = database.execute("SELECT count(*) FROM samples").fetchone()[0]
        database.close()
        return rows

    @staticmethod
    def _samples(band, kind, days, person):
        number, minutes, (low, high) = kind
        for day in range(FIRST_DAY - days, FIRST_DAY):
            values = random.Random(f"{band} {day} {number}")
            for at in range(0, 1440, minutes):
                minute = day * 1440 + at
                recorded = (minute - OFFSET) * MINUTE_MS
                yield (band, number, minute * 4 + number, values.randint(low, high), recorded, recorded, OFFSET, person)

    def wait(self):
        """Until the server has computed every day."""
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        while database.execute("SELECT EXISTS (SELECT 1 FROM touched_days)").fetchone()[0]:
            time.sleep(1)
        database.close()

    def ask(self, target):
        """The answer, and the seconds that it took."""
        begin = time.perf_counter()
        self.connection.request("GET", target, headers={"Authorization": "Bearer bench-token"})
        answer = self.connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - begin
        if answer.status != 200:
            raise SystemExit(f"{target}: {answer.status} {body}")
        return body, took


def compare(large, small, target, requests):
    times = {large: [], small: []}
    for number in range(requests + 20):
        answers = []
        for store in (large, small) if number % 2 else (small, large):
            body, took = store.ask(target)
            answers.append(body)
            # The first ones fill caches and open connections.
            if number >= 20:
                times[store].append(took)
        if answers[0] != answers[1]:
            raise SystemExit(f"the stores differ: {target}")
    return [statistics.median(times[store]) * 1000 for store in (large, small)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / ".build" / "release"))
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--requests", type=int, default=1000)
    options = parser.parse_args()
    days = 4 * ASKED_DAYS
    bands = -(-options.rows // (ROWS_A_DAY * days))
    with tempfile.TemporaryDirectory(prefix="bandferry-bench.") as directory:
        stores = []
        for name, bands, days in [("large", bands, days), ("small", 1, ASKED_DAYS + 5)]:
            store = Store(options, directory, name)
            begin = time.monotonic()
            rows = store.fill(bands, days)
            filled = time.monotonic()
            store.start()
            stores.append(store)
            store.wait()
            print(f"{name}: {rows:,} rows of {bands} bands in {filled - begin:.0f} s, "
                  f"{store.path.stat().st_size / 1e6:,.0f} MB; {bands * days:,} days of each type computed in "
                  f"{time.monotonic() - filled:.0f} s", flush=True)
        last = datetime.date(1970, 1, 1) + datetime.timedelta(FIRST_DAY - 1)
        first = last - datetime.timedelta(ASKED_DAYS - 1)
        for subject in (f"device_id=band_{1:012X}", "person=person"):
            for kind in ("heart_rate", "sleep_stage"):
                target = f"/v1/aggregates?{subject}&type={kind}&from={first}&to={last}&bucket=day&tz=Asia/Kolkata"
                large, small = compare(*stores, target, options.requests)
                print(f"{ASKED_DAYS} days of {kind} by {subject.split('=')[0]}, median of {options.requests}: "
                      f"{large:.3f} ms beside {small:.3f} ms, ratio {large / small:.2f} "
                      f"(asked: at most 1.2, or 1 ms more)", flush=True)
        for store in stores:
            store.stop()


if __name__ == "__main__":
    sys.exit(main())
