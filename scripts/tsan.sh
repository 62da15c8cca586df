#!/bin/bash
# Runs the unit tests once under the thread sanitizer, in a build directory of its own.
#
#   scripts/tsan.sh [ARGUMENTS OF swift test]      for instance --filter StoreTests
#
# A data race makes the process end with a status of its own, also when every test passed. Left out are system tests, whose
# programs are not built this way, and long random tests of one thread, from which the sanitizer learns nothing.
set -euo pipefail

cd "$(dirname "$0")/.."
swift=$(scripts/find-swift.sh)
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0}
# A life of a simulation, or of a server, has all the threads that a dozen have.
export BANDFERRY_CONVERGENCE_SEEDS=${BANDFERRY_CONVERGENCE_SEEDS:-1} BANDFERRY_TREND_SEEDS=${BANDFERRY_TREND_SEEDS:-2}

# So many tests at a time keep the machine as busy as all at once, and need far fewer files and threads.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-24}

read -ra flags <<<"${SWIFTFLAGS:-}"
skipped=(SystemTests TrendsTests CivilTimeTests TimeSimulationTests DerivationCrashTests FaultTests StoreTests.PropertyTests)
exec "$swift" test --sanitize=thread --scratch-path .build-threads "${flags[@]}" "${skipped[@]/#/--skip=}" "$@"
