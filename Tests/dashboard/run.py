#!/usr/bin/env python3
"""Looks at the dashboard in headless Chromium: its numbers, its gaps, its manners.

    Tests/dashboard/run.py [TEST...]    such as test_views.TodayTests

selenium and axe are kept in a virtual environment in $BANDFERRY_CACHE (default ~/.cache/bandferry). BANDFERRY_SHOTS names a directory for
pictures of every view. The last line printed is `N passed, M failed, K skipped`; the exit code is 1 when something failed.
"""

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

PACKAGES = ["selenium>=4.15", "axe-selenium-python==2.1.6"]
# The axe inside axe-selenium-python is years old and calls valid markup wrong; this one brings today's, and is wanted for that file alone.
AXE = "axe-playwright-python>=0.1.7"


def main() -> int:
    if "--inside" not in sys.argv:
        try:
            interpreter = environments.interpreter("dashboard", PACKAGES, ["--no-deps", AXE])
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{' and '.join(PACKAGES)} could not be installed: {error}", file=sys.stderr)
            print("0 passed, 1 failed, 0 skipped")
            return 1
        return subprocess.run([str(interpreter), str(HERE / "run.py"), "--inside", *sys.argv[1:]]).returncode
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if missing:
        print(f"not installed: {', '.join(missing)} (Debian packages chromium and chromium-driver)", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    sys.path.insert(0, str(HERE))
    import bed
    names = [argument for argument in sys.argv[1:] if argument != "--inside"]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE))
    try:
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    finally:
        bed.close()
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
