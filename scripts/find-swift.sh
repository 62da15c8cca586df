#!/bin/bash
# Prints the swift command to use: $SWIFT, the one in PATH, Debian's swiftlang, or a toolchain under /opt/swift.
set -euo pipefail

for candidate in "${SWIFT:-}" "$(command -v swift || true)" /usr/libexec/swift/bin/swift /usr/libexec/swift/usr/bin/swift \
    /opt/swift/usr/bin/swift; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
        echo "$candidate"
        exit 0
    fi
done
cat >&2 <<'TEXT'
No Swift toolchain was found in PATH, /usr/libexec/swift or /opt/swift.
What to do: on Debian 13 and Raspberry Pi OS 'apt-get install swiftlang'; elsewhere unpack a toolchain of
Swift 6.0.3 or newer from swift.org to /opt/swift, or set SWIFT=/path/to/swift.
TEXT
exit 1
