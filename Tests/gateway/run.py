#!/usr/bin/env python3
"""Tests of bandferryd as a process: what goes wrong around it, and what it says and does then.

The last line is `N passed, M failed, K skipped`.
"""

import pathlib
import sys

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import suites  # noqa: E402

if __name__ == "__main__":
    sys.exit(suites.run_beside_each_other(__file__, sys.argv[1:]))
