#!/usr/bin/env python3
"""Several ingest nodes on one PostgreSQL, alone and as the far end of a whole line in which everything is killed.

    Tests/chaos/run.py                       everything, within three minutes
    Tests/chaos/run.py test_nodes            one file
    SEEDS=100 MINUTES=20 Tests/chaos/run.py test_chaos

SEEDS: how many lives of the line, FIRST: the seed of the first. MINUTES: no life is begun after that. WORKERS: lives at a time.
The last line is `N passed, M failed, K skipped`; the exit code is 1 when something failed.
"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent


def main():
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(str(HERE))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
