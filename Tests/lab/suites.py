"""How the runners of unittest's tests run them, and what they print last: `N passed, M failed, K skipped`."""

import concurrent.futures
import pathlib
import re
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


def run_beside_each_other(script, names, workers=4) -> int:
    """The same for tests that wait more than they work: each in a process of its own, some at a time."""
    here = pathlib.Path(script).resolve().parent
    sys.path.insert(0, str(here))
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(here))
    tests = [test.id() for test in _flat(suite)]
    if len(tests) == 1:
        return run(here, names)

    def one(test):
        return subprocess.run([sys.executable, str(script), test], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    counts = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for test, done in zip(tests, pool.map(one, tests)):
            count = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped\s*\Z", done.stdout)
            found = [int(number) for number in count.groups()] if count else [0, 1, 0]
            if done.returncode and not found[1]:
                found = [0, 1, 0]
            counts = [sum(pair) for pair in zip(counts, found)]
            word = "FAILED" if found[1] else "skipped" if found[2] else "ok"
            print(f"{word} {test}" + ("\n" + done.stdout if found[1] else ""), flush=True)
    print("{} passed, {} failed, {} skipped".format(*counts), flush=True)
    return 1 if counts[1] or not sum(counts) else 0


def _flat(suite):
    for test in suite:
        yield from _flat(test) if isinstance(test, unittest.TestSuite) else [test]


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
