"""A virtual disk that forgets at a power cut what a real one may forget.

The guest's page cache dies with QEMU. What QEMU was given to write survives in this machine's page cache, so a killed QEMU
alone would be a disk without a cache of its own: kinder than an SD card. QEMU's `blklogwrites` therefore writes down every write and
every flush in their order (the format of the kernel's dm-log-writes), and after the kill the disk is made anew: the image of
before the boot, all that was written before the last flush, and of the rest nothing, some sectors, or everything.
"""

import os
import struct
import subprocess
import time

SECTOR = 512
MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD = 1, 2, 4
ENTRY = struct.Struct("<QQQQ")

# What the disk's own cache loses: everything in it, some of it, nothing.
LOSSES = ["all", "some", "nothing"]


class Disk:
    """One image; `boot` before QEMU starts with `arguments`, `cut` after it was killed."""

    def __init__(self, directory, megabytes=128, writes_a_second=None):
        self.writes_a_second = writes_a_second
        self.image, self.before, self.log = (f"{directory}/{name}" for name in ["state.img", "before.img", "writes.log"])
        with open(self.image, "wb") as file:
            file.truncate(megabytes << 20)
        # Nothing is left to be initialised later: every write that is logged is one of the guest's own.
        subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", self.image], check=True)

    def boot(self):
        copy(self.image, self.before)
        open(self.log, "wb").close()

    def arguments(self):
        # no-flush, to spare this machine's disk: it is QEMU that dies here, never this machine, so what QEMU has
        # handed to it stays. A flush of the guest is in the log, which is all that `cut` looks at.
        quick = "cache.direct=off,cache.no-flush=on"
        slow, top = [], "state"
        if self.writes_a_second:
            # As a card: the time from a write to the flush after it is long enough to be met by a cut.
            slow = ["-object", f"throttle-group,id=card,x-iops-write={self.writes_a_second}",
                    "-blockdev", "driver=throttle,node-name=slow,throttle-group=card,file=state"]
            top = "slow"
        return ["-blockdev", f"driver=file,node-name=image,filename={self.image},{quick}",
                "-blockdev", f"driver=file,node-name=log,filename={self.log},{quick}",
                "-blockdev", "driver=blklogwrites,node-name=state,file=image,log=log,log-sector-size=512",
                *slow, "-device", f"virtio-blk-pci,drive={top},discard=off,write-zeroes=off,write-cache=on"]

    def wait_for_write(self, seconds):
        """Returns at the next write, before the flush that follows it where that is possible; after so many seconds anyway."""
        end, size = time.monotonic() + seconds, os.stat(self.log).st_size
        while os.stat(self.log).st_size <= size and time.monotonic() < end:
            pass

    def cut(self, random, loss):
        """Makes the image what is left of it; says what was lost."""
        writes, flushed, whole = read_log(self.log)
        if not whole:
            # QEMU died within a write that a later one overtook: the log ends there and can't say what was flushed.
            return "the log is torn: nothing lost"
        kept = writes[:flushed]
        for at, data in writes[flushed:]:
            if loss == "nothing":
                kept.append((at, data))
            elif loss == "some":
                # Sector by sector: a write may be torn, and a later one outlive an earlier.
                likely = random.choice([0.1, 0.5, 0.9, 1])
                kept += [(at + offset, data[offset:offset + SECTOR]) for offset in range(0, len(data), SECTOR)
                         if random.random() < likely]
        copy(self.before, self.image)
        with open(self.image, "r+b") as file:
            for at, data in kept:
                file.seek(at)
                file.write(data)
        return f"{flushed} writes flushed, {len(writes) - flushed} in the disk's cache, of which it lost {loss}"

    def files(self, directory, inside, names):
        """Copies files out of the image as they are after the file system's recovery; e2fsck's complaints, if any."""
        mounted = f"{directory}/recovered.img"
        copy(self.image, mounted)
        # The journal first, as a mount does; then there must be nothing left to mend.
        subprocess.run(["e2fsck", "-E", "journal_only", "-y", mounted], capture_output=True)
        checked = subprocess.run(["e2fsck", "-f", "-n", mounted], capture_output=True, text=True)
        for name in names:
            subprocess.run(["debugfs", "-R", f"dump {inside}/{name} {directory}/{name}", mounted], capture_output=True)
            if os.path.exists(f"{directory}/{name}") and os.path.getsize(f"{directory}/{name}") == 0:
                os.remove(f"{directory}/{name}")
        os.remove(mounted)
        return [f"the file system: {checked.stdout[-600:]}"] if checked.returncode else []


def read_log(path):
    """Writes as (offset, bytes), how many of them lie before the last flush, and whether the log could be read to its end."""
    writes, flushed = [], 0
    with open(path, "rb") as file:
        content = file.read()
    if not content:
        return [], 0, True
    magic, version, _, size = struct.unpack_from("<QQQL", content)
    # The head is written with the first flush.
    assert (magic, version, size) in [(MAGIC, 1, SECTOR), (0, 0, 0)], "not a log of blklogwrites"
    at = SECTOR
    # Its own count of entries is written down only now and then; the entries follow each other without a space.
    while at + ENTRY.size <= len(content):
        sector, sectors, flags, _ = ENTRY.unpack_from(content, at)
        if not flags and not sectors:
            return writes, flushed, not any(content[at:])
        at += SECTOR
        if sectors and not flags & DISCARD:
            data = content[at:at + sectors * SECTOR]
            writes.append((sector * SECTOR, data.ljust(sectors * SECTOR, b"\0")))
            at += sectors * SECTOR
        if flags & (FLUSH | FUA):
            flushed = len(writes)
    return writes, flushed, True


def copy(source, destination):
    """With its holes."""
    if os.path.exists(destination):
        os.remove(destination)
    subprocess.run(["cp", "--sparse=always", source, destination], check=True)
