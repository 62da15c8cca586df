#!/usr/bin/env python3
"""Kills and faults on the whole line, seed by seed.

    run.py [--bin DIR] [--seeds N] [--first SEED] [--workers N] [--without-sync N]

Each seed starts bands with faults, the daemon and the server, kills them (and the simulated bluetoothd) with SIGKILL at
random moments, and then compares what was recorded with what the server holds. Under the programs lies an SQLite VFS that
forgets at the kill whatever was not synced. --without-sync runs N seeds with synchronous=OFF: the test must fail there.
The last line is `N passed, M failed, K skipped`.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from scenario import Run  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("BANDFERRY_BIN") or str(HERE.parents[1] / ".build" / "debug"))
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--without-sync", type=int, default=4)
    return parser.parse_args()


def run(seed, options, powercut, synchronous=None):
    started = time.monotonic()
    scenario = Run(seed, options.bin, powercut, synchronous)
    problems = scenario.run()
    return scenario.describe(), problems, time.monotonic() - started


def main():
    options = arguments()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="bandferry-faults.") as directory:
        powercut = pathlib.Path(directory) / "powercut.so"
        subprocess.run([str(HERE.parent / "powercut" / "build.sh"), str(powercut)], check=True)
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            seeds = range(options.first, options.first + options.seeds)
            for text, problems, took in pool.map(lambda seed: run(seed, options, powercut), seeds):
                print(f"{'FAILED' if problems else 'ok'} {text} ({took:.1f} s)", flush=True)
                for problem in problems[:12]:
                    print("    " + problem.replace("\n", "\n    "), flush=True)
                passed, failed = passed + (not problems), failed + bool(problems)
            if options.without_sync:
                seeds = range(options.first, options.first + options.without_sync)
                results = list(pool.map(lambda seed: run(seed, options, powercut, "OFF"), seeds))
                ahead = sum(any("durable" in p or "database" in p for p in problems) for _, problems, _ in results)
                print(f"with synchronous=OFF {ahead} of {len(results)} runs had acks ahead of the durable store")
                passed, failed = passed + (ahead > 0), failed + (ahead == 0)
    print(f"{passed} passed, {failed} failed, 0 skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
