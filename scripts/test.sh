#!/bin/bash
# What `make test` runs after the packages are there: every part within its budget, whatever the others did.
# The last line is "N passed, M failed, K skipped".
set -uo pipefail

cd "$(dirname "$0")/.."
swift=$(scripts/find-swift.sh) || exit 1
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
export PARTS=$results

read -ra flags <<<"${SWIFTFLAGS:-}"
# The budgets, in minutes, are some times what a part takes: they end what hangs. All together would be more than CI gives the whole,
# which ends what is slow everywhere.
timeout 12m "$swift" build -c release --static-swift-stdlib "${flags[@]}" || echo "== the programs could not be built"
BANDFERRY_BIN=$("$swift" build -c release --show-bin-path)
# As the tests of other programs know the programs.
export BANDFERRY_BIN BANDSIM=$BANDFERRY_BIN/bandsim BUILD=$BANDFERRY_BIN

# So many tests at a time keep the machine as busy as all at once, and need far fewer files and threads.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-24}
scripts/part.sh swift 11 "$swift" test "${flags[@]}"
# The same tests of the server once more, on its other engine.
export BANDFERRY_TREND_SEEDS=3
BANDFERRY_TEST_STORE=postgresql scripts/part.sh postgresql 4 \
    "$swift" test "${flags[@]}" --skip-build --no-parallel --filter IngestServiceTests
unset BANDFERRY_TREND_SEEDS
scripts/part.sh install 1 scripts/test-install.sh
scripts/part.sh clients 3 Tests/clients/run.py
scripts/part.sh server 6 Tests/server/run.py
scripts/part.sh gateway 13 Tests/gateway/run.py
scripts/part.sh radio 6 Tests/radio/run.py
scripts/part.sh dashboard 6 Tests/dashboard/run.py
scripts/part.sh field 8 Tests/field/run.py
scripts/part.sh faults 7 Tests/faults/run.py
scripts/part.sh doctor 6 Tests/doctor/run.py
# More lives of the whole line are run by `make chaos`.
SEEDS=4 MINUTES=2 scripts/part.sh chaos 6 Tests/chaos/run.py
# A month is lived by `make soak`.
DAYS=2 scripts/part.sh soak 3 Tests/soak/run.py
scripts/part.sh vm 17 Tests/vm/test.sh
scripts/part.sh fuzz 3 scripts/fuzz.sh
scripts/part.sh threads 15 make threads
scripts/part.sh --sum
