#!/bin/bash
# The gateway under load, its state on the disk; powercut.py kills the machine. Bands and server are on the host: no power
# cut of the gateway's reaches them, and what they know is the truth to compare with.
# CONFIG is the gateway's configuration, BUS the address of the bands' bus, MOUNT options of the mount.
. "$(sed 's/.*vmlib=\([^ ]*\).*/\1/' /proc/cmdline)/guest-lib.sh"

export DBUS_SYSTEM_BUS_ADDRESS=$BUS
ip link set lo up
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
mkdir -p /state
say "the disk is being mounted"
check "the disk is mounted" mount -t ext4 -o "${MOUNT:-defaults}" /dev/vda /state
[ "$failures" = 0 ] || finish
mkdir -p /state/bandferry
say "the gateway starts"
"${BUILD:?}/bandferryd" --config "$CONFIG"
# It is killed with the machine, or was asked to end.
say "the gateway ended with status $?"
umount /state
finish
