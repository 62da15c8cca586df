#!/usr/bin/env python3
"""Tests of the daemon's radio: many bands, and a Bluetooth that misbehaves.

    run.py [TEST ...]

They mostly wait for deadlines, so several run at a time, each in a process of its own. The last line is
`N passed, M failed, K skipped`.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import unittest

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("lab", "gateway", "doctor")] + [str(HERE)]
import suites  # noqa: E402

WORKERS = 5


def names(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from names(test)
        else:
            yield test.id()


def run(name):
    """The output of one test, and what it counted."""
    done = subprocess.run([sys.executable, __file__, suites.INSIDE, name], capture_output=True, text=True)
    counts = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped\s*$", done.stdout)
    return done.stdout + done.stderr, [int(count) for count in counts.groups()] if counts else [0, 1, 0]


def body(here, chosen):
    if chosen:
        return suites.run(here, chosen)
    total = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for output, counts in pool.map(run, names(unittest.defaultTestLoader.discover(str(here)))):
            print(output, end="", flush=True)
            total = [sum(pair) for pair in zip(total, counts)]
    print("{} passed, {} failed, {} skipped".format(*total), flush=True)
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    # Some need another program on the bus.
    sys.exit(suites.run_inside(__file__, "radio", ["dbus-fast>=2"], {"dbus-daemon": "dbus-daemon"}, body=body))
