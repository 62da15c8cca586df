#!/bin/bash
# Prepares the guest with the real Linux Bluetooth stack, under ${BANDFERRY_CACHE:-~/.cache/bandferry}/vm.
#
# The guest is Debian's kernel with its modules in an initramfs; its root is this machine's root, read-only,
# under an overlay in memory. Needs root; installs Debian packages and, into a private environment, two Python
# packages. Safe to run again: what is ready is kept, and every part appears under its name only when finished.
# Prints the folder.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${BANDFERRY_CACHE:-$HOME/.cache/bandferry}/vm
debian=(qemu-system-x86 bluez bluez-test-tools dbus busybox-static cpio kmod iproute2 python3 python3-venv curl sqlite3 strace)
python=(bumble==0.0.236 bleak==3.1.0)
# In load order. The hash and cipher sockets are what btvirt needs to open a controller, the rest of the crypto
# is for LE Secure Connections and must be there before bluetooth starts.
modules=(
    virtio_pci virtio_blk virtio_net ext4 9p 9pnet_virtio overlay
    jitterentropy_rng drbg hmac sha256_generic sha512_generic ctr ecb cmac aes_generic
    af_alg algif_hash algif_skcipher ecc ecdh_generic
    bluetooth hci_vhci uhid
)

mkdir -p "$cache"
exec {lock}>"$cache/lock"
flock "$lock"

missing=()
for package in "${debian[@]}"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ ! -d "$cache/kernel" ]; then
    rm -rf "$cache/kernel.partial"
    mkdir -p "$cache/kernel.partial"
    (
        cd "$cache/kernel.partial"
        find_image() { apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image-/{print $2; exit}'; }
        image=$(find_image)
        [ -n "$image" ] || { apt-get update -qq >/dev/null; image=$(find_image); }
        apt-get download -qq "$image" >/dev/null 2>&1 || { apt-get update -qq >/dev/null && apt-get download -qq "$image" >/dev/null; }
        dpkg -x "$image"_*.deb . && rm -f "$image"_*.deb
        depmod -b . "$(ls lib/modules)"
    )
    mv "$cache/kernel.partial" "$cache/kernel"
fi

if [ "$(cat "$cache/python/packages" 2>/dev/null)" != "${python[*]}" ]; then
    # Debian's own Python: one built without bluetooth.h has no AF_BLUETOOTH.
    rm -rf "$cache/python"
    /usr/bin/python3 -m venv "$cache/python"
    "$cache/python/bin/pip" -q install --disable-pip-version-check "${python[@]}"
    echo "${python[*]}" >"$cache/python/packages" # last: an environment without it is built again
fi

recipe=$(sha256sum "$here/prepare.sh" | cut -d' ' -f1)
if [ "$(cat "$cache/initramfs.recipe" 2>/dev/null)" != "$recipe" ] || [ ! -e "$cache/initramfs.gz" ]; then
    tree=$cache/initramfs.partial
    version=$(ls "$cache/kernel/lib/modules")
    rm -rf "$tree" "$cache/initramfs.recipe"
    mkdir -p "$tree"/{bin,lib/modules,proc,sys,dev,newroot,host,overlay}
    cp /bin/busybox "$tree/bin/"
    number=100
    for module in "${modules[@]}"; do
        modprobe -d "$cache/kernel" -S "$version" --show-depends "$module" 2>/dev/null | awk '/^insmod/{print $2}'
    done | awk '!seen[$0]++' | while read -r file; do
        number=$((number + 1))
        cp "$file" "$tree/lib/modules/$number-$(basename "$file")"
    done
    cat >"$tree/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
# BLUETOOTH=no: what comes before it is all that is needed, and a guest is up sooner.
bluetooth=$($b sed -n 's/.*BLUETOOTH=no.*/no/p' /proc/cmdline)
for module in /lib/modules/*; do
    case $bluetooth$module in no*-jitterentropy*) break ;; esac
    $b insmod "$module" 2>/dev/null || echo "insmod $module failed"
done
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 hostroot /host
$b mount -t tmpfs tmpfs /overlay
$b mkdir /overlay/upper /overlay/work
$b mount -t overlay -o lowerdir=/host,upperdir=/overlay/upper,workdir=/overlay/work overlay /newroot
for d in proc sys dev; do $b mount --move /$d /newroot/$d; done
exec $b switch_root /newroot /bin/bash "$($b sed 's/.*guest=\([^ ]*\).*/\1/' /newroot/proc/cmdline)"
INIT
    chmod +x "$tree/init"
    (cd "$tree" && find . | cpio -o -H newc 2>/dev/null | gzip -1) >"$cache/initramfs.gz.partial"
    mv "$cache/initramfs.gz.partial" "$cache/initramfs.gz"
    rm -rf "$tree"
    echo "$recipe" >"$cache/initramfs.recipe"
fi
echo "$cache"
