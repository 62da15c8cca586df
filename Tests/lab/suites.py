"""How the runners of unittest's tests run them, and what they print last: `N passed, M failed, K skipped`."""

import pathlib
import shutil
import subprocess
import sys
import unittest

import environments

INSIDE = "--inside"


def run(here, names) -> int:
    """The named tests of a directory, or all of them; the exit status is 1 when something failed or none ran."""
    sys.path.insert(0, str(here))
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(here))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    # Of one test several parts may fail.
    failed = len({getattr(test, "test_case", test) for test, _ in result.failures + result.errors} | set(result.unexpectedSuccesses))
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not result.testsRun else 0


def run_inside(script, name, packages, programs, *further, body=run) -> int:
    """The same in the virtual environment `name`, which has `packages` and what `further` installs name. `programs`: those that the
    tests need, by the Debian package that has them."""
    script = pathlib.Path(script)
    if INSIDE not in sys.argv:
        try:
            interpreter = environments.interpreter(name, packages, *further)
        except (OSError, subprocess.CalledProcessError) as error:
            return _cannot(f"{' and '.join(packages)} could not be installed: {error}")
        return subprocess.run([str(interpreter), str(script), INSIDE, *sys.argv[1:]]).returncode
    missing = [f"{program} (Debian package {package})" for program, package in programs.items() if shutil.which(program) is None]
    if missing:
        return _cannot(f"not installed: {', '.join(missing)}")
    return body(script.resolve().parent, [argument for argument in sys.argv[1:] if argument != INSIDE])


def _cannot(reason) -> int:
    print(reason, file=sys.stderr)
    print("0 passed, 1 failed, 0 skipped", flush=True)
    return 1
