#!/bin/bash
# Shows that `make install` lays down everything, under any prefix, and keeps a configuration that is there.
# The last line is "N passed, M failed, K skipped".
set -uo pipefail

cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
passed=0 failed=0
claim() {
    local name=$1
    shift
    if "$@" >"$root/output" 2>&1; then
        echo "passed: $name"
        passed=$((passed + 1))
    else
        cat "$root/output"
        echo "FAILED: $name"
        failed=$((failed + 1))
    fi
}
has_mode() { [ "$(stat -c %a "$1")" = "$2" ]; }

claim "installs" make -s install DESTDIR="$root/dest" PREFIX=/usr
for program in bandferryd bandferry bandferry-ingest bandsim; do
    claim "lays down $program" has_mode "$root/dest/usr/bin/$program" 755
done
claim "the unit starts the installed program" \
    grep -q '^ExecStart=/usr/bin/bandferryd --config /etc/bandferry/bandferry.conf$' \
    "$root/dest/usr/lib/systemd/system/bandferryd.service"
claim "lays down the bus policy" has_mode "$root/dest/usr/share/dbus-1/system.d/org.bandferry.conf" 644
claim "lays down the user" test -f "$root/dest/usr/lib/sysusers.d/bandferry.conf"
claim "lays down the example configuration" test -f "$root/dest/etc/bandferry/bandferry.conf"
echo '# mine' >"$root/dest/etc/bandferry/bandferry.conf"
claim "installs again" make -s install DESTDIR="$root/dest" PREFIX=/usr
claim "keeps a configuration that is there" grep -qx '# mine' "$root/dest/etc/bandferry/bandferry.conf"
claim "installs under another prefix" make -s install DESTDIR="$root/other" PREFIX=/opt/bandferry
claim "the unit follows the prefix" \
    grep -q '^ExecStart=/opt/bandferry/bin/bandferryd ' \
    "$root/other/opt/bandferry/lib/systemd/system/bandferryd.service"
claim "the installed programs run without the build's libraries" \
    env -i "$root/dest/usr/bin/bandferry" version
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
