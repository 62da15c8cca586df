#!/usr/bin/env python3
"""Speed of bandferryd on the simulated bus, as ratios within one run.

    run.py [--bin DIR] [--samples N] [--peer-samples N] [--rounds N]

Beside it, with the same durability, schema, columns and indexes and one ack a chunk, upload off:
  floor  a small C program that reads the same socket and commits the same chunks
  bleak  a script with bleak and sqlite3, one transaction a notification
Then a slow medium, memory with eight bands (also with the upload on), and bytes a sample. Nothing is asserted here.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lab"), str(HERE.parent / "clients")]

import environments  # noqa: E402
from run import BLEAK  # noqa: E402  Tests/clients/run.py
from stack import Stack  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_kib(pid):
    """What was resident at most, pages of files (its own and its libraries') included."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


class Figures:
    def __init__(self, samples, seconds, cpu):
        self.rate, self.cpu_per_sample = samples / seconds, cpu / samples


def speed(acks):
    """Samples and seconds between the first and the last ack: start-up is not what is measured."""
    return acks[-1]["seq"] - acks[0]["seq"], (acks[-1]["monotonic_ns"] - acks[0]["monotonic_ns"]) / 1e9


def last_ack(stack):
    """Reads the end of the log only: looking must cost next to nothing."""
    try:
        with open(stack.ack_log, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - 400))
            tail = log.read().decode().splitlines()
    except FileNotFoundError:
        return 0
    for line in reversed(tail):
        if line.endswith("}") and '"seq":' in line:
            return int(line.split('"seq":', 1)[1].split(",", 1)[0])
    return 0


class Bench:
    def __init__(self, options, directory):
        self.options, self.directory = options, pathlib.Path(directory)
        self.floor = self.directory / "floor"
        self.powercut = self.directory / "powercut.so"
        flags = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "dbus-1", "sqlite3"], capture_output=True, text=True,
            check=True).stdout.split()
        subprocess.run(["cc", "-O2", "-o", str(self.floor), str(HERE / "floor.c"), *flags], check=True)
        subprocess.run([str(HERE.parent / "powercut" / "build.sh"), str(self.powercut)], check=True)
        self.python = str(environments.interpreter("clients", [BLEAK]))
        self.empty = self._empty_database()

    def stack(self, samples, bands=1, **more):
        options = ["--records", str(samples), "--seed", "7", *more.pop("band_options", [])]
        return Stack(self.options.bin, bands=bands, band_options=options, **{"upload": False, **more})

    def _empty_database(self):
        """As bandferryd makes it."""
        stack = Stack(self.options.bin, bands=1, modes={}, upload=False)
        try:
            stack.start_bus().start_daemon()
            stack.wait(lambda: (stack.state / "gateway.db").exists(), "the database")
            time.sleep(1)
            stack.daemon.stop()
            copy = self.directory / "empty.db"
            shutil.copy(stack.state / "gateway.db", copy)
            return copy
        finally:
            stack.close()

    def gateway(self, samples):
        stack = self.stack(samples)
        try:
            stack.start()
            stack.wait(lambda: last_ack(stack) >= samples, "the history", deadline=600)
            cpu = cpu_seconds(stack.daemon.popen.pid)
            stack.daemon.stop()
            size = (stack.state / "gateway.db").stat().st_size
            return Figures(*speed(stack.acks()), cpu), size / samples
        finally:
            stack.close()

    def eight(self, samples, bands=8):
        """The same with eight bands at once, which share the samples."""
        stack = self.stack(samples // bands, bands=bands)
        try:
            stack.start()
            stack.wait(lambda: stack.daemon.text().count("end=caught_up") >= bands, "eight bands", deadline=600)
            cpu = cpu_seconds(stack.daemon.popen.pid)
            stack.daemon.stop()
            acks = stack.acks()
            took = (acks[-1]["monotonic_ns"] - acks[0]["monotonic_ns"]) / 1e9
            size = (stack.state / "gateway.db").stat().st_size
            return Figures(samples, took, cpu), size / samples
        finally:
            stack.close()

    def peer(self, samples, command):
        """A program that ends by itself; its processor time is what the kernel counted for it."""
        stack = self.stack(samples)
        try:
            stack.start_bus().start_sim()
            database = stack.directory / "peer.db"
            shutil.copy(self.empty, database)
            environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": stack.bus_address}
            process = subprocess.Popen(command(stack, database, environment), env=environment,
                                       stdout=subprocess.PIPE, text=True)
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            if status or f"records {samples}" not in output:
                raise SystemExit(f"the peer ended with {status}: {output}")
            return Figures(*speed(stack.acks()), usage.ru_utime + usage.ru_stime)
        finally:
            stack.close()

    def run_floor(self, samples):
        def command(stack, database, environment):
            paths = subprocess.run(
                [self.python, str(HERE / "connect.py"), stack.bands[0]], env=environment, capture_output=True,
                text=True, check=True).stdout.split()
            device = paths[0].rsplit("/service", 1)[0]
            return [str(self.floor), stack.bus_address, device, *paths, str(database)]
        return self.peer(samples, command)

    def run_bleak(self, samples):
        return self.peer(samples, lambda stack, database, _: [
            self.python, str(HERE / "bleak_peer.py"), stack.bands[0], str(database)])

    def slow_medium(self, seconds=20, rate=420, bands=1):
        """Every fsync takes 30 ms more, as on an SD card; each band sends `rate` notifications a second. The slowest band's share of
        that, and the sessions' ends."""
        samples = seconds * rate * 15
        stack = self.stack(
            samples, bands=bands, band_options=["--rate", str(rate), "--window", "0"], powercut=self.powercut,
            powercut_environment={"POWERCUT_BUFFER": "0", "POWERCUT_SYNC_DELAY_MS": "30"})
        try:
            stack.start()
            stack.wait(lambda: stack.daemon.text().count("end=caught_up") >= bands, "the histories", deadline=600)
            shares = []
            for band in stack.bands:
                count, took = speed([ack for ack in stack.acks() if ack["band"] == band])
                shares.append(count / 15 / took / rate)
            lines = [line for line in stack.daemon.text().splitlines() if "session ended" in line]
            return min(shares), lines[0]
        finally:
            stack.close()

    def memory(self, bands=8, samples=40_000, upload=False):
        stack = self.stack(samples, bands=bands, upload=upload)
        try:
            stack.start()
            stack.wait(lambda: stack.daemon.text().count("session ended") >= bands, "eight bands", deadline=600)
            if upload:
                stack.wait(lambda: not stack.gateway("SELECT 1 FROM unconfirmed"), "the upload", deadline=600)
            return memory_kib(stack.daemon.popen.pid)
        finally:
            stack.close()


def median(figures, name):
    return statistics.median(getattr(figure, name) for figure in figures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(HERE.parents[1] / ".build" / "release"))
    parser.add_argument("--samples", type=int, default=300_000)
    parser.add_argument("--peer-samples", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bandferry-bench.") as directory:
        bench = Bench(options, directory)
        gateway, floor, bleak, sizes = [], [], [], []
        for _ in range(options.rounds):
            figures, size = bench.gateway(options.samples)
            gateway.append(figures)
            sizes.append(size)
            floor.append(bench.run_floor(options.samples))
            bleak.append(bench.run_bleak(options.peer_samples))
        for name, figures in [("bandferryd", gateway), ("floor", floor), ("bleak", bleak)]:
            print(f"{name:12} {median(figures, 'rate'):10,.0f} samples/s "
                  f"{median(figures, 'cpu_per_sample') * 1e6:9.2f} us of CPU a sample")
        own = median(gateway, "cpu_per_sample")
        print(f"CPU a sample: bleak / bandferryd = {median(bleak, 'cpu_per_sample') / own:.1f} (asked: at least 20)")
        print(f"CPU a sample: bandferryd / floor = {own / median(floor, 'cpu_per_sample'):.2f} (asked: at most 1.5)")
        print(f"samples/s:    floor / bandferryd = {median(floor, 'rate') / median(gateway, 'rate'):.2f} (asked: at most 1.5)")
        print(f"bytes of database a sample: {statistics.median(sizes):.1f} (asked: at most 48)")
        eight, sizes = zip(*[bench.eight(options.samples) for _ in range(options.rounds)])
        own = median(eight, "cpu_per_sample")
        print(f"8 bands at once: {median(eight, 'rate'):,.0f} samples/s, {own * 1e6:.2f} us of CPU a sample: "
              f"bleak's is {median(bleak, 'cpu_per_sample') / own:.1f} times that (asked: at least 20), "
              f"the floor's goes {own / median(floor, 'cpu_per_sample'):.2f} times in (asked: at most 1.5); "
              f"{statistics.median(sizes):.1f} bytes a sample")
        share, line = bench.slow_medium()
        print(f"fsync 30 ms slower, 420 notifications/s: {share:.3f} of the band's rate; {line}")
        share, line = bench.slow_medium(rate=52, bands=8)
        print(f"fsync 30 ms slower, 8 bands with 52 notifications/s each: the slowest {share:.3f} of its rate; {line}")
        print(f"memory with 8 bands syncing: {bench.memory() / 1024:.1f} MiB at its highest (asked: under 24), "
              f"with the upload on {bench.memory(upload=True) / 1024:.1f}")


if __name__ == "__main__":
    main()
