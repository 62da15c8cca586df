#!/usr/bin/env python3
"""What breaks at people's homes, each kind as a test on the whole line: bands, BlueZ, gateway, server.

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
