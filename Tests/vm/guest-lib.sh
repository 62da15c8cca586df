# Functions for guest scripts. A guest script is the guest's init; it starts with
#     . "$(sed 's/.*vmlib=\([^ ]*\).*/\1/' /proc/cmdline)/guest-lib.sh"
# Every service logs to /run/NAME.log.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C.UTF-8
# Not where systemd has done it.
if [ $$ = 1 ]; then
    mount -t tmpfs tmpfs /run
    mkdir -p /dev/pts /dev/shm
    mount -t devpts devpts /dev/pts
    mount -t tmpfs tmpfs /dev/shm
    ln -sf /proc/self/fd /dev/fd # devtmpfs has no such links
    ln -sf /proc/self/fd/0 /dev/stdin
    ln -sf /proc/self/fd/1 /dev/stdout
    ln -sf /proc/self/fd/2 /dev/stderr
fi
for word in $(cat /proc/cmdline); do
    case $word in
        vmlib=* | vmcache=* | [A-Z]*=*) export "${word?}" ;;
    esac
done
python=$vmcache/python/bin/python
failures=0

say() { printf '[%6.1f] %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*"; }

# check TEXT COMMAND...: one line, "ok" or "FAILED".
check() {
    local text=$1
    shift
    if "$@"; then say "ok: $text"; else
        say "FAILED: $text"
        failures=$((failures + 1))
    fi
}

# need TEXT COMMAND...: a check that everything after it stands on.
need() {
    local before=$failures
    check "$@"
    [ "$failures" = "$before" ] || finish
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
    local end=$(($(date +%s) + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$end" ] || return 1
        sleep 0.2
    done
}

# finish: the verdict, and power off.
finish() {
    if [ "$failures" = 0 ]; then echo "guest: passed"; else
        for log in /run/*.log; do
            echo "--- $log"
            tail -n "${LOG_LINES:-40}" "$log"
        done
        echo "guest: $failures failed"
    fi
    sync
    echo o >/proc/sysrq-trigger
    sleep 10
}

# mount_state FOLDER: the first virtio disk, formatted when it is new. It outlives the guest, also a power cut.
mount_state() {
    mkdir -p "$1"
    mount -t ext4 /dev/vda "$1" 2>/dev/null || { mkfs.ext4 -q /dev/vda && mount -t ext4 /dev/vda "$1"; }
}

# start_bus: the system bus. Policies of our own go to /etc/dbus-1/system.d before this (the guest's /etc is writable).
start_bus() {
    mkdir -p /run/dbus /var/lib/bluetooth
    mount -t tmpfs tmpfs /var/lib/bluetooth
    ip link set lo up
    dbus-uuidgen --ensure
    dbus-daemon --system --fork
}

# start_air N [btvirt options...]: N LE-only controllers, hci0 to hci(N-1), on one emulated air. Again, when the kernel gave one up because btvirt
# did not get to answer in time.
start_air() {
    mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
    local emulator
    for _ in 1 2 3; do
        btvirt "${@:2}" -L "-l$1" >/run/btvirt.log 2>&1 &
        emulator=$!
        wait_for 12 controllers_are_set_up "$1" && return
        kill "$emulator"
        wait "$emulator"
    done
    return 1
}

# The kernel makes this file when a controller has answered all that it asks of a new one.
controllers_are_set_up() {
    local number
    for number in $(seq 0 $(($1 - 1))); do test -e "/sys/kernel/debug/bluetooth/hci$number/features" || return 1; done
}

# start_trace: everything on the HCI of every controller, with microsecond times, to /run/air.btsnoop.
start_trace() {
    btmon --write /run/air.btsnoop >/run/btmon.log 2>&1 &
    sleep 1
}

# add_band NAME HCI ADDRESS [band.py options...], then start_bands: bands added since the last start_bands start
# together, and are waited for. They must have their controllers before bluetoothd sees them.
# /run/NAME.log has a band's events, /run/NAME.acks and /run/NAME.records its files; band_pid NAME prints its process.
band_arguments=()
added_bands=()
add_band() {
    local name=$1 controller=$2 address=$3
    shift 3
    [ ${#band_arguments[@]} = 0 ] || band_arguments+=(--)
    band_arguments+=("hci-socket:$controller" "$address" --name "$name" --log "/run/$name.log"
        --ack-log "/run/$name.acks" --record-file "/run/$name.records" "$@")
    added_bands+=("$name")
    : >"/run/$name.log"
}

start_bands() {
    local name names=("${added_bands[@]}")
    "$python" "$vmlib/band.py" "${band_arguments[@]}" &
    band_arguments=()
    added_bands=()
    for name in "${names[@]}"; do
        wait_for 60 grep -q '"event": "ready"' "/run/$name.log" || return 1
    done
}

band_pid() { sed -n 's/.*"event": "ready", "pid": \([0-9]*\).*/\1/p' "/run/$1.log" | tail -1; }

# start_agent: a default agent that agrees to Just Works, for clients that bring none.
start_agent() {
    sleep 100000 | bluetoothctl --agent NoInputNoOutput >/run/agent.log 2>&1 &
    wait_for 10 grep -q 'Agent registered' /run/agent.log
}

# configure_bluetoothd SECTION KEY VALUE: sets one key of main.conf. Before start_bluetoothd.
configure_bluetoothd() {
    local file=/etc/bluetooth/main.conf
    sed -i "/^#* *$2 *=/d" "$file"
    grep -q "^\[$1\]" "$file" || printf '\n[%s]\n' "$1" >>"$file"
    sed -i "s/^\[$1\]/&\n$2 = $3/" "$file"
}

# start_bluetoothd [options...]: owns every controller that no band took. Sets bluetoothd_pid.
start_bluetoothd() {
    /usr/libexec/bluetooth/bluetoothd --nodetach -d "$@" >>/run/bluetoothd.log 2>&1 &
    bluetoothd_pid=$!
    wait_for 20 adapter_is_powered hci0
}

# adapter_address hciN
adapter_address() {
    dbus-send --system --print-reply=literal --dest=org.bluez "/org/bluez/$1" org.freedesktop.DBus.Properties.Get \
        string:org.bluez.Adapter1 string:Address | grep -o '[0-9A-F:]\{17\}'
}

adapter_is_powered() {
    dbus-send --system --print-reply --dest=org.bluez "/org/bluez/$1" org.freedesktop.DBus.Properties.Get \
        string:org.bluez.Adapter1 string:Powered 2>/dev/null | grep -q 'boolean true'
}

# prepare_for_gateway: its user, its bus policy, and what bluetoothd is told. Before start_bus.
prepare_for_gateway() {
    configure_bluetoothd GATT Channels 1
    configure_bluetoothd General ControllerMode le
    useradd --system bandferry
    cp "$vmlib/../../dbus-policy/org.bandferry.conf" /etc/dbus-1/system.d/
}

# start_ingest_server BUILD: logs to /run/ingest.log, stores to /run/ingest.db.
start_ingest_server() {
    printf 'token-of-the-guest\n' >/run/token
    chmod 0600 /run/token
    chown bandferry /run/token
    "$1/bandferry-ingest" --listen 127.0.0.1:8080 --store sqlite:/run/ingest.db --token-file /run/token \
        >/run/ingest.log 2>&1 &
    wait_for 60 grep -q 'listening on' /run/ingest.log
}

# start_gateway BUILD hciN BANDS [command to run it under...]: as its own user, for the bands' addresses "A, B".
start_gateway() {
    install -d -o bandferry -m 0700 /run/state
    cat >/run/bandferry.conf <<CONF
[gateway]
state_directory = /run/state
adapter = $(adapter_address "$2")
max_links = 1
sync_interval = 5
log_level = debug
[bands]
adopt = $3
[upload]
url = http://127.0.0.1:8080
token_file = /run/token
CONF
    # Where its user may read it, wherever the checkout is.
    install -m 0755 "$1/bandferryd" "$1/bandferry" /usr/local/bin/
    setpriv --reuid bandferry --regid bandferry --clear-groups "${@:4}" \
        /usr/local/bin/bandferryd --config /run/bandferry.conf >/run/gateway.log 2>&1 &
    wait_for 60 gateway status
}

stop_gateway() { kill "$(pgrep -x bandferryd)" && wait_for 30 sh -c '! pgrep -x bandferryd'; }

stop_ingest_server() { pkill -x bandferry-inges && wait_for 20 sh -c '! pgrep -x bandferry-inges'; }

# gateway COMMAND...: the command line of the gateway that start_gateway started.
gateway() { /usr/local/bin/bandferry --config /run/bandferry.conf "$@"; }
