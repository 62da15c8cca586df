#!/bin/bash
# What goes wrong with a real Bluetooth stack, one after the other: bluetoothd is killed, a band vanishes, the host loses a bond,
# rfkill blocks the radio, the adapter is pulled out and comes back under another name. Each time the gateway says what it is and goes
# on by itself, and in the end no record is missing.
#
# A bond that the band has lost is not here: the kernel (6.1) dies of the refused encryption, in hci_chan_del, and bluetoothd with it.
#
# hci0: a plain independent band      hci1: an independent band that needs a bond
# hci2: the gateway's dongle, later hci3, while another one is hci2
. "$(sed 's/.*vmlib=\([^ ]*\).*/\1/' /proc/cmdline)/guest-lib.sh"

build=${BUILD:-$vmlib/../../.build/release}
plain=F0:F1:F2:F3:F4:01
encrypted=F0:F1:F2:F3:F4:02

plug_in() {
    /usr/bin/python3 "$vmlib/dongle.py" >>/run/dongle.log 2>&1 &
    dongle_pid=$!
    wait_for 12 test -e "/sys/kernel/debug/bluetooth/hci$1/features"
}
# Without a word of the shell's about it. (A zombie would hold nothing, but the name of the adapter is to be free.)
pull_out() {
    kill -KILL "$1"
    wait "$1" 2>/dev/null
}

# says EXPRESSION: of `bandferry --json status`, with plain and encrypted for the two bands, and codes for all codes told.
says() {
    sleep 2 # Looking costs more than syncing here.
    gateway --json status >/run/status.json && /usr/bin/python3 - "$1" "$plain" "$encrypted" <<'PY'
import json, sys
status = json.load(open("/run/status.json"))
plain, encrypted = ([band for band in status["bands"] if band["address"] == address][0] for address in sys.argv[2:4])
def codes(tree):
    if isinstance(tree, dict):
        found = {tree["code"]} if isinstance(tree.get("code"), str) else set()
        return found.union(*map(codes, tree.values()))
    return set().union(*map(codes, tree)) if isinstance(tree, list) else set()
def is_in(band, name):
    newest = max(json.loads(line)["seq"] for line in open(f"/run/{name}.records"))
    return band["problem"] is None and band["pending"] == 0 and band["next_seq"] == newest + 1
sys.exit(not eval(sys.argv[1]))
PY
}
all_is_in() { says 'is_in(plain, "plain") and is_in(encrypted, "encrypted")'; }

# doctor_says TEXT: the fix as it stands.
doctor_says() {
    gateway doctor >/run/doctor.txt 2>&1
    grep -qF "$1" /run/doctor.txt || { cat /run/doctor.txt; return 1; }
}

# in_mid_stream NAME: the band has more, and some of it is under way.
in_mid_stream() {
    local before
    before=$(wc -l <"/run/$1.acks")
    kill -USR1 "$(band_pid "$1")"
    wait_for 60 acknowledged_more "$1" "$before"
}
acknowledged_more() { [ "$(wc -l <"/run/$1.acks")" -gt $(($2 + 1)) ]; }

# The bands hear nothing any more: what a supervision timeout ends on a real radio. Before the adapter goes, for btvirt dies of a
# packet to one that is gone.
bands_lose_their_links() {
    local name
    for name in plain encrypted; do kill -WINCH "$(band_pid "$name")"; done
}

is_the_dongle() { test "$(adapter_address "$1")" = "$dongle"; }

prepare_for_gateway
start_bus
need "two controllers" start_air 2 -s
add_band plain 0 "$plain" --records 1500 --add 1500 --window 16 --pace-ms 20
add_band encrypted 1 "$encrypted" --records 300 --add 300 --window 16 --encrypted --state /run/encrypted.state
need "two independent bands" start_bands
need "the gateway's dongle" plug_in 2
/usr/libexec/bluetooth/bluetoothd --nodetach -d >>/run/bluetoothd.log 2>&1 &
bluetoothd_pid=$!
need "bluetoothd" wait_for 20 adapter_is_powered hci2
dongle=$(adapter_address hci2)
need "the server" start_ingest_server "$build"
need "the gateway" start_gateway "$build" hci2 "$plain, $encrypted"
need "both histories are in and up" wait_for 180 all_is_in
check "the encrypted band was bonded" grep -q '"event": "paired"' /run/encrypted.log

say "bluetoothd is killed"
need "in the middle of a stream" in_mid_stream plain
kill -KILL "$bluetoothd_pid"
wait "$bluetoothd_pid" 2>/dev/null
check "it is told" wait_for 40 says '"bluetoothd_gone" in codes(status)'
/usr/libexec/bluetooth/bluetoothd --nodetach -d >>/run/bluetoothd.log 2>&1 &
bluetoothd_pid=$!
check "all is in once it is back" wait_for 180 all_is_in

say "the band vanishes"
need "in the middle of a stream" in_mid_stream plain
kill -PROF "$(band_pid plain)"
check "it is away" wait_for 20 grep -q '"event": "away"' /run/plain.log
check "all is in once it is back" wait_for 180 all_is_in

say "the host loses the bond"
before=$(grep -c '"event": "paired"' /run/encrypted.log)
kill "$bluetoothd_pid"
wait "$bluetoothd_pid" 2>/dev/null
rm -rf /var/lib/bluetooth/*/"$encrypted"
/usr/libexec/bluetooth/bluetoothd --nodetach -d >>/run/bluetoothd.log 2>&1 &
bluetoothd_pid=$!
wait_for 20 adapter_is_powered hci2
kill -USR1 "$(band_pid encrypted)"
check "it is made anew where that needs nobody, and all is in" wait_for 180 all_is_in
check "by a second pairing" test "$(grep -c '"event": "paired"' /run/encrypted.log)" -gt "$before"

say "rfkill blocks the radio"
need "in the middle of a stream" in_mid_stream plain
radio=$(echo /sys/class/bluetooth/hci2/rfkill*)
bands_lose_their_links
echo 1 >"$radio/soft"
check "it is told" wait_for 60 says '"adapter_blocked" in codes(status)'
check "and the doctor says how to mend it" doctor_says "rfkill unblock bluetooth"
echo 0 >"$radio/soft"
check "all is in once it is free" wait_for 180 all_is_in

say "the dongle is pulled out"
need "in the middle of a stream" in_mid_stream plain
bands_lose_their_links
pull_out "$dongle_pid"
check "it is told" wait_for 40 says '{"adapter_missing", "adapter_off"} & codes(status)'
check "and the doctor says how to mend it" doctor_says "Plug a Bluetooth dongle in"
btvirt -L -l1 >/run/other.log 2>&1 & # on an air of its own
check "another one takes its name" wait_for 12 adapter_is_powered hci2
plug_in 3
check "it is back under another name" wait_for 20 is_the_dongle hci3
check "all is in once it is back" wait_for 180 all_is_in

check "the gateway stops" stop_gateway
stop_ingest_server
check "the plain band: each record once, none missing" \
    "$python" "$vmlib/check_gateway.py" records "$plain" /run/plain.records /run/ingest.db
check "the bonded band: each record once, none missing" \
    "$python" "$vmlib/check_gateway.py" records "$encrypted" /run/encrypted.records /run/ingest.db
finish
