#!/bin/bash
# Says what is left to do after `make install`, and does what only needs a running system.
set -euo pipefail

destination=${1:-}
configuration=${2:-/etc/bandferry}
documents=${3:-/usr/local/share/doc/bandferry}
if [ -z "$destination" ] && [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then
    # The user first: the bus ignores a policy for a user that it does not know.
    systemd-sysusers bandferry.conf bandferry-ingest.conf
    systemctl daemon-reload
    busctl call org.freedesktop.DBus / org.freedesktop.DBus ReloadConfig >/dev/null
else
    cat <<'TEXT'
Not done, because this is not the running system:
  systemd-sysusers bandferry.conf bandferry-ingest.conf && systemctl daemon-reload && systemctl reload dbus
TEXT
fi
cat <<TEXT
Next:
  1. Edit $configuration/bandferry.conf.
  2. Put the server's token into $configuration/token:
       install -m 0600 -o bandferry TOKEN-FILE $configuration/token
  3. systemctl enable --now bandferryd
  4. usermod -aG bandferry YOU, log in again, and: bandferry status
For a server on this machine instead: $documents/docs/server.md.
TEXT
