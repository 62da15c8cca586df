#!/bin/bash
# Builds the checkout and runs its unit tests on Debian 13, with Debian's own Swift.
#
#   scripts/debian13.sh            build, then test
#   scripts/debian13.sh shell      a shell in the same chroot, the checkout at /src
#   scripts/debian13.sh prepare    only make the chroot
#
# The chroot is made once, by debootstrap, under ${BANDFERRY_CACHE:-~/.cache/bandferry}/debian13, from the
# Debian mirror in the host's own apt sources. It needs root. The checkout is mounted read-only; build products
# stay in the cache, so the next run is incremental. Test targets named *IntegrationTests or *SystemTests are
# skipped: they need a machine, not a chroot. The last line is "debian13: N passed, M failed, K skipped".
set -euo pipefail

suite=trixie
packages=(
    swiftlang pkg-config ca-certificates
    libdbus-1-dev libbluetooth-dev libsqlite3-dev libsystemd-dev libcurl4-openssl-dev libmicrohttpd-dev
    libgnutls28-dev libpq-dev zlib1g-dev libinih-dev libglib2.0-0t64 tzdata
    g++ dbus sqlite3 git make procps python3-minimal bash
)
skipped='IntegrationTests|SystemTests'

checkout=$(cd "$(dirname "$0")/.." && pwd)
cache=${BANDFERRY_CACHE:-$HOME/.cache/bandferry}/debian13
root=$cache/root
task=${1:-test}

die() {
    echo "debian13: $*" >&2
    exit 2
}

[ "$(id -u)" = 0 ] || die "needs root, for chroot and mounts"

# Everything below runs in mount and process namespaces of its own: when this script ends, in whatever way,
# the mounts and every process inside are gone.
if [ "${DEBIAN13_INSIDE:-}" != 1 ]; then
    mkdir -p "$cache"
    exec {lock}>"$cache/lock"
    flock -n "$lock" || { echo "debian13: waiting for another run" >&2; flock "$lock"; }
    DEBIAN13_INSIDE=1 unshare --mount --propagation private --pid --fork --kill-child "$0" "$@" <&0 &
    trap 'kill -KILL $! 2>/dev/null || true' EXIT
    trap 'exit 143' TERM INT HUP
    wait $! && exit 0 || exit $?
fi

# The Debian mirror of the host: the first archive in its apt sources that carries the suite.
mirror() {
    {
        cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
            sed -nE 's/^URIs: *//p' | tr ' ' '\n'
        cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
            sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p'
    } | awk 'NF && !seen[$0]++' | while read -r uri; do
        case $uri in *security* | "") continue ;; esac
        if /usr/lib/apt/apt-helper download-file "${uri%/}/dists/$suite/Release" "$cache/release" >/dev/null 2>&1; then
            grep -q '^Origin: Debian$' "$cache/release" && echo "${uri%/}" && break
        fi
    done
    rm -f "$cache/release"
}

# Removes a chroot, but never what someone may have mounted in it.
remove() {
    awk -v under="$1/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n1 umount -l
    rm -rf --one-file-system "$1"
}

prepare() {
    local stamp=$root/etc/bandferry-packages partial=$cache/root.partial
    [ "$(cat "$stamp" 2>/dev/null)" = "${packages[*]}" ] && return
    command -v debootstrap >/dev/null || {
        apt-get update -qq >/dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
    }
    local archive
    archive=$(mirror)
    [ -n "$archive" ] || die "no archive in this machine's apt sources has $suite"
    remove "$root"
    remove "$partial" # only a finished chroot ever has the name "root"
    mkdir -p "$partial"
    echo "debian13: making a $suite chroot, about two minutes the first time" >&2
    debootstrap --variant=minbase "$suite" "$partial" "$archive" >"$cache/debootstrap.log" 2>&1 ||
        { tail -20 "$cache/debootstrap.log" >&2; die "debootstrap failed"; }
    apt-config dump | grep -E '^Acquire::(http|https|Check|Retries|IndexTargets)' >"$partial/etc/apt/apt.conf.d/00host" || true
    printf '#!/bin/sh\nexit 101\n' >"$partial/usr/sbin/policy-rc.d"
    chmod +x "$partial/usr/sbin/policy-rc.d"
    enter "$partial"
    {
        chroot "$partial" apt-get update -qq &&
            chroot "$partial" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
                apt-get install -y -qq --no-install-recommends "${packages[@]}" &&
            chroot "$partial" apt-get clean
    } >>"$cache/debootstrap.log" 2>&1 ||
        { tail -20 "$cache/debootstrap.log" >&2; die "installing packages failed"; }
    leave "$partial"
    echo "${packages[*]}" >"$partial/etc/bandferry-packages"
    rm -rf "$cache/build"
    mv "$partial" "$root"
}

enter() {
    cp -L /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null || true
    cp -L /etc/hosts "$1/etc/hosts" 2>/dev/null || true
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/tmp"
    mount -t tmpfs tmpfs "$1/run"
}

leave() {
    umount -l "$1/proc" "$1/sys" "$1/dev" "$1/tmp" "$1/run"
}

inside() {
    chroot "$root" env -i HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 TERM="${TERM:-dumb}" \
        CI="${CI:-}" bash -c 'cd /src && exec "$@"' bash "$@"
}

prepare
enter "$root"
mkdir -p "$root/src" "$root/build" "$cache/build"
mount --bind "$checkout" "$root/src"
mount -o remount,bind,ro "$root/src"
mount --bind "$cache/build" "$root/build"

case $task in
    prepare) exit 0 ;;
    shell) inside bash -i; exit ;;
    test) ;;
    *) die "usage: $0 [test|shell|prepare]" ;;
esac

log=$cache/test.log
status=0
# One test after the other: this Swift starts all at once otherwise, and on two cores those that wait for a server in their
# own process take the threads that it needs.
inside swift --version 2>&1 | head -1
{
    inside swift build --scratch-path /build --build-tests &&
        inside swift test --no-parallel --scratch-path /build --skip-build --skip "$skipped"
} 2>&1 | tee "$log" || status=$?

# Both test frameworks print one line for each test that ended; a crash ends the run without one.
# What a test prints may stand before it on the line.
count() { grep -acE "$1" "$log" || true; }
passed=$(count 'Test Case .* passed \(|[^ ] +Test .* passed after ')
passed=$((passed - $(count '[^ ] +Test run with .* passed after ')))
failed=$(count 'Test Case .* failed \(|[^ ] +Test .* failed after ')
failed=$((failed - $(count '[^ ] +Test run with .* failed after ')))
skips=$(count 'Test Case .* skipped \(|[^ ] +Test .* skipped(:|\.|$)')
if [ "$status" = 0 ]; then
    left=$(inside swift test list --scratch-path /build --skip-build 2>/dev/null | grep -cE "$skipped" || true)
    skips=$((skips + left))
    [ "$((passed + failed))" -gt 0 ] || { echo "debian13: no test ran" >&2; status=1; }
elif [ "$failed" = 0 ]; then
    echo "debian13: the build or the test program itself failed" >&2
    failed=1
fi
echo "debian13: $passed passed, $failed failed, $skips skipped"
[ "$status" = 0 ] && [ "$failed" = 0 ]
