#!/usr/bin/env python3
"""Time of a trend over days from a store with ten million samples, beside the same trend from an almost empty one.

    trends.py [--bin DIR] [--rows N] [--requests N]

Both stores have the same days of one band; the large one has other bands and days besides. The server stores
what days come to by itself, as after uploads; then the same requests go to both in turn. Nothing is asserted here.
"""

import argparse
import datetime
import http.client
import json
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
# Type, its name, minutes between samples, the range of its values.
KINDS = [
    (1, "heart_rate", 1, (48, 150)), (2, "steps", 5, (0, 400)), (3, "spo2", 60, (930, 1000)),
    (4, "sleep_stage", 30, (0, 4)),
]
ROWS_A_DAY = sum(1440 // minutes for _, _, minutes, _ in KINDS)
BATCH = 500


class Store:
    """A server of its own."""

    def __init__(self, options, directory, name):
        self.path = pathlib.Path(directory) / f"{name}.sqlite"
        self.tokens = pathlib.Path(directory) / "tokens"
        self.program = pathlib.Path(options.bin) / "bandferry-ingest"
        self.start()

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
        """Bands 1 to `bands`, each with as many days; the last ASKED_DAYS of band 1 are the same in every store.

        Through the API, as gateways do it; all bands have the same samples.
        """
        rows = 0
        for day in range(FIRST_DAY - days, FIRST_DAY):
            for body, count in self._batches(day):
                for band in range(1, bands + 1):
                    person = '"person"' if band == 1 else "null"
                    self._post(body.replace("BAND", f"band_{band:012X}").replace('"PERSON"', person), count)
                    rows += count
        return rows

    def _post(self, body, count):
        self.connection.request("POST", "/v1/samples:batch", body=body, headers={
            "Authorization": "Bearer bench-token", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200 or json.loads(text)["accepted"] != count:
            raise SystemExit(f"a batch was not taken: {answer.status} {text[:200]}")

    @staticmethod
    def _batches(day):
        """The bodies of one day, with marks in place of band and person."""
        samples = []
        for number, name, minutes, (low, high) in KINDS:
            values = random.Random(f"{day} {number}")
            for at in range(0, 1440, minutes):
                minute = day * 1440 + at
                recorded = (minute - OFFSET) * MINUTE_MS
                samples.append({
                    "type": name, "seq": minute * 4 + number - 1, "value": values.randint(low, high),
                    "recorded_at": f"{datetime.datetime.fromtimestamp(recorded / 1000, datetime.timezone.utc):%FT%T}.000Z",
                    "tz_offset_min": OFFSET, "version": 1, "provenance": "device", "band_time_ms": recorded,
                    "clock_id": 1, "flags": 1, "time_bound_ms": 500, "person": "PERSON"})
        samples.sort(key=lambda sample: sample["seq"])
        for start in range(0, len(samples), BATCH):
            part = samples[start:start + BATCH]
            yield json.dumps({
                "device_id": "BAND", "ring": "00000001", "sync_id": f"{day}-{start}", "sample_count": len(part),
                "samples": part}), len(part)

    def wait(self):
        """Until the server has computed every day."""
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        while database.execute("SELECT EXISTS (SELECT 1 FROM devices WHERE touched <> '')").fetchone()[0]:
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
