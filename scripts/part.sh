#!/bin/bash
# Runs one part of the tests with a budget, counts what it did, and writes that down.
#
#   scripts/part.sh NAME MINUTES COMMAND...   in $PARTS: NAME.log, and a line "NAME N M K" in the file "parts"
#   scripts/part.sh --sum                     prints what the parts in $PARTS did, "N passed, M failed, K skipped" last
#   scripts/part.sh --self-test
#
# A part counts by its last line "N passed, M failed, K skipped" (a word with a colon may stand before it), or by
# what swift test prints. One that fails without a failed test, prints no count, runs no test, or does not end in
# time counts as a failure itself.
set -uo pipefail

# Prints "N M K" for a log, or nothing.
count() {
    local line
    line=$(grep -E '^([^ ]+: )?[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$1" | tail -1)
    if [ -n "$line" ]; then
        sed -E 's/^([^ ]+: )?([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\2 \3 \5/' <<<"$line" |
            awk '{ print $1, $2, $3 + 0 }'
        return
    fi
    # Swift Testing prints a line a test and one for the run; XCTest is not used. What tests themselves print can
    # spoil the line of a test: where the run came to its end, its own count is believed.
    grep -qE '^[^ ]+ +Test run (with|started)' "$1" || return
    awk '
        /^[^ ]+ +Test run with [0-9]+ tests?/ { all = $5; next }
        /^[^ ]+ +Test run started/ { next }
        /^[^ ]+ +Test .* passed after / { passed++ }
        /^[^ ]+ +Test .* failed after / { failed++ }
        /^[^ ]+ +Test .* skipped(:|\.|$)/ { skipped++ }
        END { if (all) passed = all - failed - skipped; print passed + 0, failed + 0, skipped + 0 }' "$1"
}

run() {
    local name=$1 minutes=$2 log status began=$SECONDS
    shift 2
    mkdir -p "$PARTS"
    log=$PARTS/$name.log
    echo "== $name: $*"
    # The limit goes to the part alone; tee ends when the part's output does.
    timeout --kill-after=30 "${minutes}m" "$@" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    local counts passed failed skipped
    counts=$(count "$log")
    read -r passed failed skipped <<<"${counts:-0 0 0}"
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then
        echo "== $name: did not end within $minutes minutes"
        failed=$((failed + 1))
    elif [ -z "$counts" ]; then
        echo "== $name: ended with status $status and printed no count"
        failed=$((failed + 1))
    elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        echo "== $name: ended with status $status although no test failed"
        failed=$((failed + 1))
    elif [ "$((passed + failed))" = 0 ]; then
        echo "== $name: ran no test"
        failed=$((failed + 1))
    fi
    [ "$failed" = 0 ] || told "$name" "$log" "$status" >>"$PARTS/failures"
    echo "$name $passed $failed $skipped" >>"$PARTS/parts"
    echo "== $name: took $((SECONDS - began)) s: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}

# Prints the lines of a log that say what failed, for whoever sees only the end of it all.
told() {
    echo "-- $1 ended with status $3:"
    grep -aE '✘|^(FAIL|ERROR): |^failed: |[Ee]rror: |[Ff]atal|signal code|did not end within|printed no count' "$2" |
        grep -avE '✘ (Suite|Test run) ' | cut -c1-300 | tail -25
}

sum() {
    [ ! -f "$PARTS/failures" ] || cat "$PARTS/failures"
    awk '
        { printf "%-12s %6d passed %4d failed %4d skipped\n", $1, $2, $3, $4; p += $2; f += $3; s += $4 }
        END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }' "$PARTS/parts"
}

self_test() {
    local directory status=0
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' RETURN
    expect() {
        local name=$1 expected=$2 printed=$3 ends=$4 parts
        parts=$(mktemp -d -p "$directory")
        PARTS=$parts run "$name" 1 bash -c 'printf "%s" "$1"; exit "$2"' bash "$printed" "$ends" >/dev/null
        [ "$(cat "$parts/parts")" = "$name $expected" ] || {
            echo "part: $name: expected '$expected', counted '$(cat "$parts/parts")'" >&2
            status=1
        }
    }
    expect plain "3 0 1" $'noise\n3 passed, 0 failed, 1 skipped\n' 0
    expect prefixed "3 2 0" $'check: 3 passed, 2 failed\n' 1
    expect last "5 0 0" $'1 passed, 1 failed\n5 passed, 0 failed\n' 0
    expect swift "2 1 1" $'◇ Test run started.\n✔ Test a() passed after 0.1 seconds.\n✔ Test "b" with 3 test cases passed after 1.0 seconds.\n✘ Test c() failed after 0.1 seconds with 1 issue.\n➜ Test d() skipped: "no"\n✘ Test run with 4 tests in 1 suite failed after 0.2 seconds with 1 issue.\n' 1
    expect silent "0 1 0" $'all well\n' 0
    expect crashed "2 1 0" $'2 passed, 0 failed\n' 139
    expect empty "0 1 0" $'0 passed, 0 failed\n' 0
    return "$status"
}

case ${1:-} in
    --sum) sum ;;
    --self-test) self_test ;;
    '' | -*) sed -n '2,11p' "$0"; exit 2 ;;
    *) run "$@" ;;
esac
