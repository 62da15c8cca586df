#!/usr/bin/env python3
"""Runs real clients (bluetoothctl and bleak) against `bandsim bus` on a private bus.

bleak is kept in a virtual environment in $BANDFERRY_CACHE (default ~/.cache/bandferry). The last line printed is
`N passed, M failed, K skipped`; the exit code is 1 when something failed.
"""

import logging
import pathlib
import shutil
import subprocess
import sys
import unittest

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import environments  # noqa: E402

BLEAK = "bleak>=0.22"


def main() -> int:
    if "--inside" not in sys.argv:
        try:
            interpreter = environments.interpreter("clients", [BLEAK])
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"bleak could not be installed: {error}", file=sys.stderr)
            print("0 passed, 1 failed, 0 skipped")
            return 1
        return subprocess.run([str(interpreter), str(HERE / "run.py"), "--inside", *sys.argv[1:]]).returncode
    missing = [name for name in ("dbus-daemon", "bluetoothctl") if shutil.which(name) is None]
    if missing:
        print(f"not installed: {', '.join(missing)} (Debian packages dbus-daemon and bluez)", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    # bleak keeps a bus of its own open; that the test's bus is gone before it is no news.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    suite = unittest.defaultTestLoader.discover(str(HERE))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
