#!/usr/bin/env python3
"""`bandferry doctor` and the metrics against real programs: each finding that they can be made to show, and its fix.

dbus-fast and prometheus_client are kept in a virtual environment in $BANDFERRY_CACHE (default ~/.cache/bandferry). The last line
is `N passed, M failed, K skipped`.
"""

import pathlib
import sys

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import suites  # noqa: E402

if __name__ == "__main__":
    sys.exit(suites.run_inside(
        __file__, "doctor", ["dbus-fast>=2", "prometheus_client>=0.20"],
        {"dbus-daemon": "dbus-daemon", "openssl": "openssl", "gcc": "gcc"}))
