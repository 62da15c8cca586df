#!/bin/bash
# Makes sure that the Debian packages are there which bandferry needs. Quick when they are.
#
#   scripts/install-packages.sh build    to build and run the programs
#   scripts/install-packages.sh demo     to build, and to run the demo
#   scripts/install-packages.sh test     to build, and to run every test
#
# Needs root only when something is missing; otherwise it says what to install.
set -euo pipefail

# What a library is found by, and the package that brings it. libcurl has several: any will do.
libraries=(
    dbus-1:libdbus-1-dev bluez:libbluetooth-dev sqlite3:libsqlite3-dev libpq:libpq-dev libsystemd:libsystemd-dev
    libcurl:libcurl4-openssl-dev libmicrohttpd:libmicrohttpd-dev gnutls:libgnutls28-dev zlib:zlib1g-dev inih:libinih-dev
)
# The Swift libraries that go into the programs are partly C++.
commands=(pkg-config:pkg-config g++:g++)
case ${1:-build} in
    build) ;;
    demo) commands+=(dbus-daemon:dbus python3:python3) ;;
    test)
        commands+=(
            dbus-daemon:dbus bluetoothctl:bluez python3:python3 sqlite3:sqlite3 gcc:gcc git:git timeout:coreutils openssl:openssl
            systemd-analyze:systemd chromium:chromium chromedriver:chromium-driver
        )
        ;;
    *) sed -n '2,7p' "$0" >&2; exit 2 ;;
esac

missing=()
# The zones of the wearers; GLib reads them.
[ -e "${TZDIR:-/usr/share/zoneinfo}/Europe/London" ] || missing+=(tzdata)
for entry in "${commands[@]}"; do
    command -v "${entry%%:*}" >/dev/null || missing+=("${entry#*:}")
done
for entry in "${libraries[@]}"; do
    pkg-config --exists "${entry%%:*}" 2>/dev/null || missing+=("${entry#*:}")
done
# Loaded at run time, so pkg-config does not know.
ldconfig -p | grep -q 'libglib-2\.0\.so\.0' || missing+=(libglib2.0-0)
# The dashboard's charts.
if [ "${1:-build}" != build ] && [ ! -e /usr/share/javascript/chart.js/chart.min.js ]; then
    missing+=(libjs-chart.js)
fi
if [ "${1:-build}" = test ] && ! /usr/bin/python3 -c 'import ensurepip' 2>/dev/null; then
    missing+=(python3-venv)
fi
# Its programs are not in PATH. Tests start servers of their own.
if [ "${1:-build}" = test ] && ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then
    missing+=(postgresql)
fi
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install-packages: missing: ${missing[*]} (names as in Debian); install them and try again" >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "install-packages: missing packages; run: sudo apt-get install ${missing[*]}" >&2
    exit 1
fi
echo "install-packages: ${missing[*]}" >&2
log=$(mktemp)
# Debian's package makes and starts a server when it is installed, unless it reads otherwise.
no_cluster=/etc/postgresql-common/createcluster.d/bandferry-tests.conf
trap 'rm -f "$log" "$no_cluster"' EXIT
case " ${missing[*]} " in
    *" postgresql "*)
        mkdir -p "${no_cluster%/*}"
        echo 'create_main_cluster = false' >"$no_cluster"
        ;;
esac
install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1
}
# The package lists may be missing or old: read them only then.
install || { apt-get update -qq >"$log" 2>&1 && install; } || {
    tail -20 "$log" >&2
    echo "install-packages: could not install ${missing[*]}; the lines above say why" >&2
    exit 1
}
