#!/bin/bash
# systemd itself as init: the installed units start on a running system, under the installed bus policy, and sync a band.
#
# First this script is the guest's init: it makes itself a service and hands over to systemd. Then it is that service.
# INSTALLED is a tree that `make install DESTDIR=` has laid down; WATCHDOG shortens the unit's, to spare time.
. "$(sed 's/.*vmlib=\([^ ]*\).*/\1/' /proc/cmdline)/guest-lib.sh"

checkout=$(cd "$vmlib/../.." && pwd)
band=F0:F1:F2:F3:F4:01
records=${RECORDS:-1500}

become_systemd() {
    # The band takes its controller before there is a bluetoothd, and its time to start while systemd does.
    if start_air 2; then
        add_band plain 1 "$band" --records "$records" --window 64 --add 300
        start_bands &
    fi
    # This machine's own services and devices are not the guest's; of what every boot has, it needs the journal and the bus.
    # (systemd-tmpfiles would empty /tmp, which is this machine's, file by file.)
    rm -rf /etc/systemd/system/* /lib/systemd/system/{sysinit,local-fs,timers,sockets}.target.wants/*
    mkdir -p /lib/systemd/system/sockets.target.wants
    for unit in dbus.socket systemd-journald.socket systemd-journald-dev-log.socket; do
        ln -s "../$unit" /lib/systemd/system/sockets.target.wants/
    done
    : >/etc/fstab
    systemd-machine-id-setup >/dev/null 2>&1
    cat >/etc/systemd/system/guest.target <<UNIT
[Unit]
Requires=basic.target dbus.socket
Wants=guest.service
After=basic.target
AllowIsolate=yes
UNIT
    cat >/etc/systemd/system/guest.service <<UNIT
[Unit]
After=basic.target dbus.socket
[Service]
ExecStart=/bin/bash $vmlib/guest-systemd.sh
StandardOutput=file:/dev/ttyS0
StandardError=file:/dev/ttyS0
UNIT
    # The console belongs to the test.
    echo 1 >/proc/sys/kernel/printk
    exec /lib/systemd/systemd --unit=guest.target --show-status=no --log-level=warning
}
[ $$ != 1 ] || become_systemd

property() { systemctl show --value -p "$2" "$1"; }
is() { [ "$(property "$1" "$2")" = "$3" ] || { echo "$1: $2 is '$(property "$1" "$2")'"; return 1; }; }
of_process() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$(property bandferryd.service MainPID)/status"; }

need() {
    check "$@"
    [ "$failures" = 0 ] || give_up
}
give_up() {
    dmesg | grep -iE 'bluetooth|hci[0-9]' | tail
    journalctl -b --no-pager -o cat -u bandferryd -u bandferry-ingest -u bluetooth -u dbus | tail -60
    finish
}

install_it() {
    cp -a "$INSTALLED/." / || return 1
    mkdir -p /etc/systemd/system/bandferryd.service.d
    printf '[Service]\nWatchdogSec=%s\n' "${WATCHDOG:-20}" >/etc/systemd/system/bandferryd.service.d/watchdog.conf
    "$checkout/scripts/after-install.sh" '' /etc/bandferry >/run/after-install.log
}

configure() {
    printf 'token-of-the-guest\n' >/etc/bandferry/token
    printf 'token-of-the-guest guest\n' >/etc/bandferry/tokens
    chmod 0600 /etc/bandferry/token /etc/bandferry/tokens
    chown bandferry /etc/bandferry/token
    chown bandferry-ingest /etc/bandferry/tokens
    echo 'BANDFERRY_INGEST_OPTIONS=--token-file /etc/bandferry/tokens' >/etc/bandferry/ingest.env
    cat >/etc/bandferry/bandferry.conf <<CONF
[gateway]
state_directory = /var/lib/bandferry
sync_interval = 5
[bands]
adopt = $band
[upload]
url = http://127.0.0.1:8787
token_file = /etc/bandferry/token
CONF
}

# As network time would: the kernel calls its clock synchronised.
synchronise_clock() {
    python3 -c '
import ctypes, struct
state = bytearray(256)
struct.pack_into("Iqqqi", state, 0, 0x10 | 0x04, 0, 0, 1000, 0)  # ADJ_STATUS, ADJ_MAXERROR: 1 ms, status 0
assert ctypes.CDLL(None).adjtimex((ctypes.c_char * 256).from_buffer(state)) >= 0'
}

status() { bandferry --json status >/run/status.json && python3 -c '
import json, sys
status = json.load(open("/run/status.json"))
sys.exit(not eval(sys.argv[1], {"json": json, "status": status, "band": status["bands"][0]}))' "$1"; }

# uploaded N: the band's first N records.
uploaded() {
    sleep 1
    status "band['problem'] is None and band['pending'] == 0 and band['next_seq'] == $1 + 1"
}

server_holds() {
    systemctl stop bandferry-ingest
    "$python" "$vmlib/check_gateway.py" records "$band" /run/plain.records /var/lib/bandferry-ingest/ingest.sqlite
}

# as USER COMMAND...
as() { setpriv --reuid "$1" --regid "$(id -g "$1")" --clear-groups "${@:2}"; }
refused() { "$@" >/run/refusal 2>&1; grep -q 'AccessDenied\|not allowed' /run/refusal || { cat /run/refusal; return 1; }; }
# take_name NAME [as USER]
take_name() {
    "${@:2}" dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.RequestName "string:$1" uint32:4
}
owner_of_name() {
    local id
    id=$(dbus-send --system --print-reply=literal --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.GetConnectionUnixUser string:org.bandferry)
    [ "${id##* }" = "$(id -u bandferry)" ]
}
introspect() {
    "$@" dbus-send --system --print-reply --dest=org.bandferry /org/bandferry org.freedesktop.DBus.Introspectable.Introspect
}

say "systemd $(systemctl --version | awk 'NR == 1 { print $2 }') is init"
need "systemd is the init" test "$(cat /proc/1/comm)" = systemd
need "an independent band on the air" wait_for 60 grep -q '"event": "ready"' /run/plain.log
mount -t tmpfs tmpfs /var/lib/bluetooth
configure_bluetoothd General ControllerMode le
need "bluetoothd, by its own unit" systemctl start bluetooth
need "the adapter is on" wait_for 60 adapter_is_powered hci0
ip link set lo up
synchronise_clock

need "make install's tree, and what it does on a running system" install_it
configure
need "the server starts" systemctl start bandferry-ingest
need "the gateway starts" systemctl enable --now bandferryd
check "it is ready" is bandferryd.service ActiveState active
check "it runs as its user" test "$(stat -c %U "/proc/$(property bandferryd.service MainPID)")" = bandferry
check "with no capability" test "$(of_process CapEff)$(of_process CapBnd)$(of_process CapAmb)" = "$(printf '0%.0s' $(seq 48))"
check "under a filter of system calls" test "$(of_process Seccomp) $(of_process NoNewPrivs)" = "2 1"
check "the state directory is its own" test "$(stat -c '%U %a' /var/lib/bandferry)" = "bandferry 700"
check "it has its name on the bus" wait_for 20 owner_of_name
introspect >/run/introspection
check "root may ask it" grep -q '<interface' /run/introspection
check "another user may not" refused introspect as nobody
check "its name is not for root" refused take_name org.bandferry
check "nor for another user" refused take_name org.bandferry as nobody
check "no other name is for it" refused take_name org.bandferrier as bandferry

need "the band's history is in and up" wait_for 120 uploaded "$records"
check "within the sandbox it sees that the clock is synchronised" \
    status 'not any("clock" in json.dumps(problem) for problem in status["problems"])'
say "STATUS=$(property bandferryd.service StatusText)"
check "its status is seen" test -n "$(property bandferryd.service StatusText)"

restarts=$(property bandferryd.service NRestarts)
stopped=$(property bandferryd.service MainPID)
check "it was not restarted until now" test "$restarts" = 0
kill -STOP "$stopped"
say "stopped process $stopped"
is_up_again() { is bandferryd.service NRestarts 1 && systemctl -q is-active bandferryd; }
check "the watchdog restarts it" wait_for 100 is_up_again
check "because of the watchdog" sh -c 'journalctl -b -u bandferryd --no-pager | grep -q "Watchdog timeout"'
check "as another process" test "$(property bandferryd.service MainPID)" != "$stopped"
kill -USR1 "$(band_pid plain)" # records 300 more
check "and it syncs on" wait_for 60 uploaded "$((records + 300))"
check "each record is at the server once, none missing" server_holds
check "the sandbox refuses nothing that they miss" \
    sh -c '! journalctl -b --no-pager -u bandferryd -u bandferry-ingest | grep -iE "failed to set|not permitted"'
check "the gateway stops when it is asked to" systemctl stop bandferryd
check "and says that it ended well" is bandferryd.service Result success

cp /usr/share/doc/bandferry/short-intervals.conf /etc/systemd/system/bandferryd.service.d/
check "it starts with the drop-in for short intervals" sh -c 'systemctl daemon-reload && systemctl start bandferryd'
check "and has that one capability" test "$(of_process CapEff)$(of_process CapBnd)" = 00000000000010000000000000001000
[ "$failures" = 0 ] || give_up
finish
