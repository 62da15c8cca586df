#!/bin/bash
# Shows that `make install` lays down everything, under any prefix, and keeps a configuration that is there.
# The last line is "N passed, M failed, K skipped".
set -uo pipefail

cd "$(dirname "$0")/.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
passed=0 failed=0 skipped=0
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
claim "the server's unit starts the installed program" \
    grep -q '^ExecStart=/usr/bin/bandferry-ingest --listen ' "$root/dest/usr/lib/systemd/system/bandferry-ingest.service"
claim "lays down the server's user" test -f "$root/dest/usr/lib/sysusers.d/bandferry-ingest.conf"
documents=$root/dest/usr/share/doc/bandferry
claim "lays down the API's description" test -f "$documents/docs/openapi.yaml"
# Every relative link and picture of every document, from where it lies.
links_lead() {
    python3 - "$1" <<'PYTHON'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1])
files = list(root.rglob("*.md"))
links = [(file, target) for file in files for target in re.findall(r'\]\(([^)#\s]+)|src="([^"]+)"', file.read_text()) for target in target if target]
dead = [f"{file.relative_to(root)}: {target}" for file, target in links if "://" not in target and not (file.parent / target).exists()]
print(*dead, sep="\n")
sys.exit(1 if dead or len(files) < 20 or len(links) < 50 else 0)
PYTHON
}
claim "no link of a document is dead" links_lead "$documents"
# What units, examples and the configuration name is there.
names_lead() {
    local found name
    found=$(grep -rohE "$2/doc/bandferry/[A-Za-z0-9_/.-]+\.(md|conf)" "$1/etc" "$1$2" --include='*.service' --include='*.conf' --include='*.example') || return 1
    for name in $found; do test -f "$1$name" || { echo "$name is not there"; return 1; }; done
    # None is left that only a checkout has.
    ! grep -rnE '^#.* docs/' "$1/etc" "$1${2%/share}/lib" "$1$2/doc" --include='*.service' --include='*.conf' --include='*.example'
}
claim "what is named is there" names_lead "$root/dest" /usr/share
claim "lays down the bus policy" has_mode "$root/dest/usr/share/dbus-1/system.d/org.bandferry.conf" 644
claim "lays down the user" test -f "$root/dest/usr/lib/sysusers.d/bandferry.conf"
page=$root/dest/usr/share/bandferry/dashboard
claim "lays down the dashboard" diff -r dashboard "$page"
claim "the dashboard can be read by the server's user" has_mode "$page/views/today.js" 644
claim "lays down the example configuration" test -f "$root/dest/etc/bandferry/bandferry.conf"
echo '# mine' >"$root/dest/etc/bandferry/bandferry.conf"
claim "installs again" make -s install DESTDIR="$root/dest" PREFIX=/usr
claim "keeps a configuration that is there" grep -qx '# mine' "$root/dest/etc/bandferry/bandferry.conf"
claim "installs under another prefix" make -s install DESTDIR="$root/other" PREFIX=/opt/bandferry
claim "the unit follows the prefix" \
    grep -q '^ExecStart=/opt/bandferry/bin/bandferryd ' \
    "$root/other/opt/bandferry/lib/systemd/system/bandferryd.service"
claim "the server's unit follows the prefix" \
    grep -q '^ExecStart=/opt/bandferry/bin/bandferry-ingest ' \
    "$root/other/opt/bandferry/lib/systemd/system/bandferry-ingest.service"
claim "so does what they name" names_lead "$root/other" /opt/bandferry/share
claim "uninstalls" make -s uninstall DESTDIR="$root/other" PREFIX=/opt/bandferry
leaves_configuration() { [ "$(cd "$root/other" && find . -type f)" = ./etc/bandferry/bandferry.conf ] && ! [ -e "$root/other/opt/bandferry/share/doc/bandferry" ]; }
claim "and leaves the configuration alone" leaves_configuration
claim "the installed programs run without the build's libraries" \
    env -i "$root/dest/usr/bin/bandferry" version
claim "so does the server" env -i "$root/dest/usr/bin/bandferry-ingest" --version

# The installed server finds the installed page by itself.
serves_page() {
    local url served=1
    printf 'token-of-a-test a read\n' >"$root/tokens"
    chmod 0600 "$root/tokens"
    "$root/dest/usr/bin/bandferry-ingest" --listen 127.0.0.1:0 --store "sqlite:$root/ingest.db" --token-file "$root/tokens" \
        >"$root/server" 2>&1 &
    local server=$!
    for _ in $(seq 100); do grep -q '^listening on' "$root/server" && break; sleep 0.1; done
    url=$(sed -n 's/^listening on //p' "$root/server")
    python3 - "$url" <<'PYTHON' || served=0
import sys, urllib.request
for path, text in [("/", "<title>Bandferry</title>"), ("/dashboard/views/today.js", "export")]:
    assert text in urllib.request.urlopen(sys.argv[1] + path, timeout=30).read().decode(), path
PYTHON
    kill "$server"
    wait "$server"
    [ "$served" = 1 ]
}
claim "the installed server serves the installed dashboard" serves_page

# The policy on a bus of its own, as the system's bus reads it.
chmod 0755 "$root"
cat >"$root/bus.conf" <<XML
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=$root/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/>
<allow send_type="signal"/><allow send_type="method_return"/><allow send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
<allow receive_type="signal"/><allow send_destination="org.freedesktop.DBus"/></policy>
<include>$root/dest/usr/share/dbus-1/system.d/org.bandferry.conf</include></busconfig>
XML
take_name() {
    "$@" dbus-send --bus="unix:path=$root/bus" --print-reply --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.RequestName string:org.bandferry uint32:4
}
is_refused() { ! take_name "$@" 2>"$root/refusal" && grep -q AccessDenied "$root/refusal"; }
if [ "$(id -u)" = 0 ]; then
    dbus-daemon --config-file="$root/bus.conf" --nofork --nopidfile >"$root/bus.log" 2>&1 &
    bus=$!
    for _ in $(seq 100); do [ -S "$root/bus" ] && break; sleep 0.1; done
    # That its own user may is for the virtual machine to show: this one need not have it.
    claim "root may not take the name" is_refused env
    claim "nor may another user" is_refused setpriv --reuid=65534 --regid=65534 --clear-groups
    kill "$bus"
else
    echo "skipped: the policy (needs root)"
    skipped=2
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
