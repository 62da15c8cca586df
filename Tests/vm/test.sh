#!/bin/bash
# The virtual machine's tests: first the test of the bed, then the gateway's, each in a guest of its own.
# The last line is "vm: N passed, M failed", the checks of all guests together.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
"$here/prepare.sh" >/dev/null || { echo "vm: 0 passed, 1 failed"; exit 1; }
passed=0 failed=0
[ $# -gt 0 ] || set -- guest-bleak.sh guest-gateway.sh
for guest in "$@"; do
    console=$(mktemp)
    echo "vm: $guest"
    "$here/run.sh" "$here/$guest" "${VM_TIMEOUT:-400}" | tee "$console"
    status=${PIPESTATUS[0]}
    passed=$((passed + $(grep -cE '^\[ *[0-9.]+\] ok: ' "$console")))
    now=$(grep -cE '^\[ *[0-9.]+\] FAILED: ' "$console")
    [ "$status" = 0 ] || [ "$now" != 0 ] || now=1 # a guest that did not get to its end
    failed=$((failed + now))
    rm -f "$console"
done
echo "vm: $passed passed, $failed failed"
[ "$failed" = 0 ]
