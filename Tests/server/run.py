#!/usr/bin/env python3
"""Tests of bandferry-ingest as a process: hostile clients, slow ones, many of them, tokens, TLS, its stop, and its
API beside docs/openapi.yaml.

    Tests/server/run.py                    everything
    Tests/server/run.py test_tls           one file

schemathesis is kept in a virtual environment in $BANDFERRY_CACHE (default ~/.cache/bandferry). The last line is
`N passed, M failed, K skipped`; the exit code is 1 when something failed.
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

SCHEMATHESIS = "schemathesis==4.32.5"


def main() -> int:
    if "--inside" not in sys.argv:
        try:
            interpreter = environments.interpreter("server", [SCHEMATHESIS])
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"schemathesis could not be installed: {error}", file=sys.stderr)
            print("0 passed, 1 failed, 0 skipped")
            return 1
        return subprocess.run([str(interpreter), str(HERE / "run.py"), "--inside", *sys.argv[1:]]).returncode
    missing = [name for name in ("openssl", "prlimit") if shutil.which(name) is None]
    if missing:
        print(f"not installed: {', '.join(missing)} (Debian packages openssl and util-linux)", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    sys.path.insert(0, str(HERE))
    import bed

    bed.raise_descriptor_limit()
    names = [argument for argument in sys.argv[1:] if argument != "--inside"]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
