#!/bin/bash
# Boots the guest, runs a script in it as its init, and prints its console.
#
#   Tests/vm/run.sh GUEST_SCRIPT [TIMEOUT_S] [more qemu arguments...]
#
# The script must stand on this machine's root file system: the guest sees every path as it is here, and can
# write anywhere, in memory only. NAME=VALUE pairs in VM_ENV reach it on the kernel command line, from where
# guest-lib.sh takes them. Exits 0 when the guest printed "guest: passed", 1 when it did not, 124 at the timeout.
#
# A disk that outlives the guest:  truncate -s 256M state.img
#                                  run.sh ... -drive file=state.img,if=virtio,format=raw
# Killing QEMU (its process id is written to $VM_PID_FILE, if that is set) is a power cut.
set -euo pipefail

cache=${BANDFERRY_CACHE:-$HOME/.cache/bandferry}/vm
[ $# -ge 1 ] || { sed -n '2,5p' "$0"; exit 2; }
guest=$(realpath "$1")
limit=${2:-180}
shift $(($# < 2 ? $# : 2))
[ -e "$cache/initramfs.recipe" ] || { echo "run.sh: run Tests/vm/prepare.sh first" >&2; exit 2; }

console=$(mktemp)
trap 'rm -f "$console"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
set +e
timeout --foreground "$limit" qemu-system-x86_64 \
    -accel tcg,thread=multi -cpu max -smp "${VM_CPUS:-2}" -m "${VM_MEM:-2048}" -nodefaults -no-reboot \
    -display none -monitor none -serial stdio ${VM_PID_FILE:+-pidfile "$VM_PID_FILE"} \
    -kernel "$cache"/kernel/boot/vmlinuz-* -initrd "$cache/initramfs.gz" \
    -append "console=ttyS0 quiet panic=-1 vmlib=$here vmcache=$cache ${VM_ENV:-} guest=$guest" \
    -fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=root,mount_tag=hostroot "$@" </dev/null | tee "$console"
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || exit "$status"
grep -q '^guest: passed' "$console"
