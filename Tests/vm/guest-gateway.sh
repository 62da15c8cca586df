#!/bin/bash
# The whole gateway on the real Bluetooth stack, with bands that share no code with it.
#
# hci0: bluetoothd, for the gateway     hci1: bluetoothd, for `bandsim radio --adapter hci1`
# hci2: a plain independent band        hci3: an independent band that needs a bond
# EXCHANGE_MTU=N sets bluetoothd's; RECORDS=N is the history of each band.
. "$(sed 's/.*vmlib=\([^ ]*\).*/\1/' /proc/cmdline)/guest-lib.sh"

build=${BUILD:-$vmlib/../../.build/release}
records=${RECORDS:-3000}
plain=F0:F1:F2:F3:F4:01
encrypted=F0:F1:F2:F3:F4:02

start_band_on_the_air() {
    "$build/bandsim" radio --adapter hci1 --records "$records" --seed 9 --window 64 --state /run/radio \
        --ack-log /run/radio.acks --address-file /run/radio.address >/run/radio.log 2>&1 &
    wait_for 60 test -s /run/radio.address
}

all_is_uploaded() {
    sleep 4 # Looking costs more than syncing here.
    gateway --json status >/run/status.json && "$python" "$vmlib/check_gateway.py" calm /run/status.json
}

[ -z "${EXCHANGE_MTU:-}" ] || configure_bluetoothd GATT ExchangeMTU "$EXCHANGE_MTU"
prepare_for_gateway
start_bus
need "four controllers" start_air 4
start_trace
add_band plain 2 "$plain" --records "$records" --window 64 --clocks 3
add_band encrypted 3 "$encrypted" --records "$records" --window 32 --encrypted --state /run/encrypted.state
need "two independent bands" start_bands
need "bluetoothd" start_bluetoothd
need "bluetoothd owns hci1 too" wait_for 10 adapter_is_powered hci1
need "the server" start_ingest_server "$build"
need "the simulated band on the air" start_band_on_the_air
radio=$(cat /run/radio.address)
# The trace shows each sync of the database before the ack that it allows.
need "the gateway, as its own user under its own bus policy" start_gateway "$build" hci0 "$plain, $encrypted, $radio" \
    strace -f --seccomp-bpf -ttt -s 8 -xx -e trace=fdatasync,fsync,sendto,sendmsg -o /run/gateway.strace
need "every history is in and up" wait_for 300 all_is_uploaded
cp /run/gateway.strace /run/gateway.strace.done
"$python" "$vmlib/att_writes.py" /run/air.btsnoop >/run/writes.jsonl
gateway status
check "the gateway stops" stop_gateway
stop_ingest_server
pkill -x bandsim && wait_for 20 sh -c '! pgrep -x bandsim'
"$build/bandsim" truth --state /run/radio >/run/radio.truth

check "the plain band: each record once, none missing" \
    "$python" "$vmlib/check_gateway.py" records "$plain" /run/plain.records /run/ingest.db
check "the bonded band: each record once, none missing" \
    "$python" "$vmlib/check_gateway.py" records "$encrypted" /run/encrypted.records /run/ingest.db
check "the simulated band on the air: each record once, none missing" \
    "$python" "$vmlib/check_gateway.py" records "$radio" /run/radio.truth /run/ingest.db
check "the encrypted band was bonded" grep -q '"event": "paired"' /run/encrypted.log
for band in "$plain=247" "$encrypted=247" "$radio=${EXCHANGE_MTU:-517}"; do
    check "the MTU of $band" "$python" "$vmlib/check_gateway.py" mtu "${band%=*}" "${band#*=}" /run/status.json
done
check "each commit before its ack, by the trace" \
    "$python" "$vmlib/check_gateway.py" order /run/gateway.strace.done /run/writes.jsonl
finish
