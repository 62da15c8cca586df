#!/usr/bin/env python3
"""Runs real clients (bluetoothctl and bleak) against `bandsim bus` on a private bus.

bleak is kept in a virtual environment in $BANDFERRY_CACHE (default ~/.cache/bandferry). The last line printed is
`N passed, M failed, K skipped`; the exit code is 1 when something failed.
"""

import logging
import pathlib
import sys

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import suites  # noqa: E402

BLEAK = "bleak>=0.22"


def run(here, names) -> int:
    # bleak keeps a bus of its own open; that the test's bus is gone before it is no news.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    return suites.run(here, names)


if __name__ == "__main__":
    sys.exit(suites.run_inside(__file__, "clients", [BLEAK], {"dbus-daemon": "dbus-daemon", "bluetoothctl": "bluez"}, body=run))
