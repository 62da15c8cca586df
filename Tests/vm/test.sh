#!/bin/bash
# The virtual machine's tests: first the test of the bed, then the gateway's with two settings of bluetoothd, each in
# a guest of its own. An argument is a guest script, with settings before it: "EXCHANGE_MTU=247 guest-gateway.sh".
# The last line is "vm: N passed, M failed", the checks of all guests together.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
"$here/prepare.sh" >/dev/null || { echo "vm: 0 passed, 1 failed"; exit 1; }
passed=0 failed=0
[ $# -gt 0 ] || set -- guest-bleak.sh "EXCHANGE_MTU=247 guest-gateway.sh" "EXCHANGE_MTU=517 guest-gateway.sh"
for run in "$@"; do
    console=$(mktemp)
    echo "vm: $run"
    guest=${run##* }
    VM_ENV="${VM_ENV:-} ${BANDFERRY_BIN:+BUILD=$(realpath "$BANDFERRY_BIN")} ${run% *}" "$here/run.sh" "$here/$guest" "${VM_TIMEOUT:-400}" | tee "$console"
    status=${PIPESTATUS[0]}
    passed=$((passed + $(grep -cE '^\[ *[0-9.]+\] ok: ' "$console")))
    now=$(grep -cE '^\[ *[0-9.]+\] FAILED: ' "$console")
    [ "$status" = 0 ] || [ "$now" != 0 ] || now=1 # a guest that did not get to its end
    failed=$((failed + now))
    rm -f "$console"
done
echo "vm: $passed passed, $failed failed"
[ "$failed" = 0 ]
