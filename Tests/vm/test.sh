#!/bin/bash
# The virtual machine's tests, each in a guest of its own: the test of the bed, the gateway's with two settings of bluetoothd, the
# installed units under systemd, and power cuts. An argument is a guest script with settings before it, as
# "EXCHANGE_MTU=247 guest-gateway.sh", or "powercut.py" with its options after it.
# The last line is "vm: N passed, M failed", the checks of all guests together.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
"$here/prepare.sh" >/dev/null || { echo "vm: 0 passed, 1 failed"; exit 1; }
build=$(realpath "${BANDFERRY_BIN:-${BUILD:-$here/../../.build/release}}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
[ $# -gt 0 ] || set -- guest-bleak.sh "EXCHANGE_MTU=247 guest-gateway.sh" "EXCHANGE_MTU=517 guest-gateway.sh" guest-systemd.sh guest-trouble.sh \
    "powercut.py --runs 5"
for run in "$@"; do
    echo "vm: $run"
    began=$SECONDS
    if [ "${run%% *}" = powercut.py ]; then
        # shellcheck disable=SC2086
        "$here"/$run --bin "$build" | tee "$work/console"
        status=${PIPESTATUS[0]} ok='^ok ' wrong='^FAILED '
    else
        # Laid down here, where it takes no time; the guest puts it into place.
        case $run in *guest-systemd.sh)
            make -s -C "$here/../.." install DESTDIR="$work/installed" PREFIX=/usr RELEASEDIR="$build" >"$work/install.log" 2>&1 ||
                cat "$work/install.log" ;;
        esac
        VM_ENV="${VM_ENV:-} BUILD=$build INSTALLED=$work/installed ${run% *}" \
            "$here/run.sh" "$here/${run##* }" "${VM_TIMEOUT:-400}" | tee "$work/console"
        status=${PIPESTATUS[0]} ok='^\[ *[0-9.]+\] ok: ' wrong='^\[ *[0-9.]+\] FAILED: '
    fi
    passed=$((passed + $(grep -cE "$ok" "$work/console")))
    now=$(grep -cE "$wrong" "$work/console")
    [ "$status" = 0 ] || [ "$now" != 0 ] || now=1 # a guest that did not get to its end
    failed=$((failed + now))
    echo "vm: $run: took $((SECONDS - began)) s"
done
echo "vm: $passed passed, $failed failed"
[ "$failed" = 0 ]
