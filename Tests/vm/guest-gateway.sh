#!/bin/bash
# The whole gateway on the real Bluetooth stack, with bands that share no code with it.
#
# hci0: bluetoothd, for the gateway     hci1: bluetoothd, for `bandsim radio --adapter hci1`
# hci2: a plain independent band        hci3: an independent band that needs a bond
. "$(sed 's/.*vmlib=\([^ ]*\).*/\1/' /proc/cmdline)/guest-lib.sh"

checkout=$(cd "$vmlib/../.." && pwd)
build=${BUILD:-$checkout/.build/debug}

[ -z "${EXCHANGE_MTU:-}" ] || configure_bluetoothd GATT ExchangeMTU "$EXCHANGE_MTU"
configure_bluetoothd GATT Channels 1
configure_bluetoothd General ControllerMode le

start_bus
check "four controllers" start_air 4
start_trace
add_band plain 2 F0:F1:F2:F3:F4:01 --records "${RECORDS:-3000}" --window 64 --clocks 3
add_band encrypted 3 F0:F1:F2:F3:F4:02 --records "${RECORDS:-3000}" --window 32 --encrypted --state /run/encrypted.state
check "two independent bands" start_bands
check "bluetoothd" start_bluetoothd
check "bluetoothd owns hci1 too" wait_for 10 adapter_is_powered hci1

# The gateway's part.
if [ -x "$build/bandferryd" ] && [ "${GATEWAY:-0}" = 1 ]; then
    : # ingest on 127.0.0.1:8080, the simulator on hci1, bandferryd, then the comparison of every record
else
    # Until then: the topology itself.
    check "bluetoothd leaves the bands' controllers alone" test "$(bluetoothctl list | wc -l)" = 2
    check "the plain band" timeout 120 "$python" "$vmlib/check_band.py" F0:F1:F2:F3:F4:01 /run/plain.records
    check "an agent" start_agent
    check "the encrypted band" timeout 120 "$python" "$vmlib/check_band.py" F0:F1:F2:F3:F4:02 /run/encrypted.records --pair
    "$python" "$vmlib/att_writes.py" /run/air.btsnoop >/run/writes.jsonl
    acks=$(cat /run/plain.acks /run/encrypted.acks | wc -l)
    check "the trace has every ack ($acks)" test "$(wc -l </run/writes.jsonl)" = "$acks"
    head -2 /run/writes.jsonl
    head -2 /run/plain.acks
fi
finish
