#!/usr/bin/env python3
"""Tests of bandferry-ingest as a process: hostile clients, slow ones, many of them, tokens, TLS, its stop, and its
API beside docs/openapi.yaml.

    Tests/server/run.py                    everything
    Tests/server/run.py test_tls           one file

schemathesis is kept in a virtual environment in $BANDFERRY_CACHE (default ~/.cache/bandferry). The last line is
`N passed, M failed, K skipped`; the exit code is 1 when something failed.
"""

import pathlib
import sys

# The checkout stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import suites  # noqa: E402

SCHEMATHESIS = "schemathesis==4.32.5"


def run(here, names) -> int:
    sys.path.insert(0, str(here))
    import bed
    bed.raise_descriptor_limit()
    return suites.run(here, names)


if __name__ == "__main__":
    sys.exit(suites.run_inside(__file__, "server", [SCHEMATHESIS], {"openssl": "openssl", "prlimit": "util-linux"}, body=run))
