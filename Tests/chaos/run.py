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

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import suites  # noqa: E402

if __name__ == "__main__":
    sys.exit(suites.run(HERE, sys.argv[1:]))
