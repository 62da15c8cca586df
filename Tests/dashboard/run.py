#!/usr/bin/env python3
"""Looks at the dashboard in headless Chromium: its numbers, its gaps, its manners.

    Tests/dashboard/run.py [TEST...]    such as test_views.TodayTests

selenium and axe are kept in a virtual environment in $BANDFERRY_CACHE (default ~/.cache/bandferry). BANDFERRY_SHOTS names a directory for
pictures of every view. The last line printed is `N passed, M failed, K skipped`; the exit code is 1 when something failed.
"""

import pathlib
import sys

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import suites  # noqa: E402

PACKAGES = ["selenium>=4.15", "axe-selenium-python==2.1.6"]
# The axe inside axe-selenium-python is years old and calls valid markup wrong; this one brings today's, and is wanted for that file alone.
AXE = "axe-playwright-python>=0.1.7"


def run(here, names) -> int:
    sys.path.insert(0, str(here))
    import bed
    try:
        return suites.run(here, names)
    finally:
        bed.close()


if __name__ == "__main__":
    sys.exit(suites.run_inside(
        __file__, "dashboard", PACKAGES, {"chromium": "chromium", "chromedriver": "chromium-driver"}, ["--no-deps", AXE], body=run))
