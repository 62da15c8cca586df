#!/bin/bash
# Runs the unit tests once under the thread sanitizer, in a build directory of its own.
#
#   scripts/tsan.sh [ARGUMENTS OF swift test]      for instance --filter StoreTests
#
# A data race makes the process end with a status of its own, which counts as a failure even when every test
# passed. System tests start programs that are not built this way; they are left out, and so are
# the long random tests of pure values, which have no threads. The last line is
# "N passed, M failed, K skipped".
set -uo pipefail

cd "$(dirname "$0")/.."
swift=$(scripts/find-swift.sh) || exit 1
PARTS=$(mktemp -d)
export PARTS
trap 'rm -rf "$PARTS"' EXIT
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0}

# A life of a simulation has all the threads that a hundred have.
export BANDFERRY_TIME_SEEDS=${BANDFERRY_TIME_SEEDS:-2} BANDFERRY_CONVERGENCE_SEEDS=${BANDFERRY_CONVERGENCE_SEEDS:-2}

read -ra flags <<<"${SWIFTFLAGS:-}"
scripts/part.sh threads 30 "$swift" test --sanitize=thread --scratch-path .build-threads "${flags[@]}" \
    --skip SystemTests --skip TrendsTests --skip CivilTimeTests --skip TimeSimulation \
    --skip answersAreThoseOfAllSamples --skip aChangeIsFeltAsFarAsSleepsReach --skip DerivationCrash --skip ConvergenceTests \
    --skip FaultTests --skip StoreTests.PropertyTests "$@"
scripts/part.sh --sum
