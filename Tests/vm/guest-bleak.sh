#!/bin/bash
# The test of the test bed: a plain and an encrypted band, read empty by bleak through the real bluetoothd.
. "$(sed 's/.*vmlib=\([^ ]*\).*/\1/' /proc/cmdline)/guest-lib.sh"

say "guest is up, kernel $(uname -r)"
[ -z "${EXCHANGE_MTU:-}" ] || configure_bluetoothd GATT ExchangeMTU "$EXCHANGE_MTU"
configure_bluetoothd GATT Channels 1
start_bus
check "three controllers" start_air 3
[ -z "${TRACE:-}" ] || start_trace
add_band plain 1 F0:F1:F2:F3:F4:01 --records "${RECORDS:-3000}" --window 64 --clocks 3
add_band encrypted 2 F0:F1:F2:F3:F4:02 --records 1500 --window 20 --encrypted --state /run/encrypted.state
check "two bands" start_bands
check "bluetoothd" start_bluetoothd
bluetoothctl list

check "the plain band" timeout 120 "$python" "$vmlib/check_band.py" F0:F1:F2:F3:F4:01 /run/plain.records
check "an agent" start_agent
check "the encrypted band" timeout 120 "$python" "$vmlib/check_band.py" F0:F1:F2:F3:F4:02 /run/encrypted.records --pair
check "the bond holds" timeout 120 "$python" "$vmlib/check_band.py" F0:F1:F2:F3:F4:02 /run/encrypted.records --again
check "it was encrypted" grep -q '"event": "encryption", "on": true' /run/encrypted.log
check "each ack is in the log" test "$(wc -l </run/plain.acks)" -gt 3
cat /run/plain.log
tail -3 /run/plain.acks
cat /run/encrypted.log
say "memory: $(free -m | awk '/Mem/{print $3}') MB used"
finish
