#!/usr/bin/env python3
"""Checks the units: what is left open to them is what is written here, each line has its reason, and systemd finds no fault.

    check-units.py               both units
    check-units.py --self-test   takes each line of each unit's sandbox away, and each reason: every time the check must complain

A unit's exposure by `systemd-analyze security --offline=true` is 1.5 at most. That alone would let a line go as long as others
hold the sum down, so what it finds open is compared one by one, and what it does not look at has to be there as written here.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

UNITS = pathlib.Path(__file__).resolve().parents[1] / "systemd"
EXPOSURE = 15  # in tenths; a unit without a sandbox has some 95

# What is open, by systemd-analyze's names, and why.
OPEN = {
    "bandferryd.service": {
        "PrivateNetwork": "the server is somewhere on the network",
        "RestrictAddressFamilies_AF_INET_INET6": "so is it",
        "IPAddressDeny": "at an address that only the configuration knows",
        "RestrictAddressFamilies_AF_UNIX": "the message bus and the journal",
        "ProtectClock": "it takes away asking whether the clock is synchronised",
        "SystemCallFilter_clock": "clock_adjtime asks that",
        "SystemCallFilter_privileged": "which is one of these too",
        "SystemCallFilter_resources": "setpriority, for the nice values of the runtime's threads",
        "ProcSubset": "/proc/sys/kernel/random/boot_id",
        "RootDirectoryOrRootImage": "the programs are installed in the machine's own root",
    },
    "bandferry-ingest.service": {
        "PrivateNetwork": "clients are somewhere on the network",
        "RestrictAddressFamilies_AF_INET_INET6": "so are they",
        "IPAddressDeny": "at addresses that nobody knows",
        "RestrictAddressFamilies_AF_UNIX": "PostgreSQL and the journal",
        "AmbientCapabilities": "CAP_NET_BIND_SERVICE, for port 443",
        "CapabilityBoundingSet_CAP_NET_BIND_SERVICE_BROADCAST_RAW)": "the same",
        "SystemCallFilter_resources": "setpriority, for the nice values of the runtime's threads",
        "PrivateUsers": "the capability would not count in a namespace",
        "DeviceAllow": "ProtectClock makes it: the hardware clock may be read, if there were a node for it",
        "RootDirectoryOrRootImage": "the programs are installed in the machine's own root",
    },
}
# What systemd-analyze does not weigh, or weighs the same without the line; it must stand in the unit.
WRITTEN = {
    "bandferryd.service": [
        "Type=notify", "User=bandferry", "Group=bandferry", "StateDirectory=bandferry", "StateDirectoryMode=0700", "WatchdogSec=60",
        "DevicePolicy=closed", "PrivateIPC=yes", "KeyringMode=private",
        "SystemCallFilter=~@privileged @resources",
        "SystemCallFilter=adjtimex clock_adjtime clock_adjtime64", "SystemCallFilter=setpriority", "LimitNICE=-4",
        "SystemCallErrorNumber=EPERM", "MemoryMax=256M", "TasksMax=64"],
    "bandferry-ingest.service": [
        "Type=notify", "User=bandferry-ingest", "Group=bandferry-ingest", "StateDirectory=bandferry-ingest", "StateDirectoryMode=0700",
        "AmbientCapabilities=CAP_NET_BIND_SERVICE", "DevicePolicy=closed", "PrivateIPC=yes", "KeyringMode=private",
        "SystemCallFilter=~@privileged @resources",
        "SystemCallFilter=setpriority", "LimitNICE=-4", "SystemCallErrorNumber=EPERM", "LimitNOFILE=65536", "MemoryMax=2G", "TasksMax=256"],
}
MARK = "# --- Hardening."


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})


def version():
    return int(re.search(r"systemd (\d+)", analyze("--version").stdout)[1])


def sandbox(lines):
    """The numbers of the lines that belong to the sandbox: who it runs as, where it writes, and all after the mark."""
    mark, end = next(n for n, line in enumerate(lines) if line.startswith(MARK)), lines.index("[Install]")
    identity = [n for n, line in enumerate(lines[:mark]) if re.match(r"(User|Group|StateDirectory|StateDirectoryMode|UMask)=", line)]
    return identity + [n for n in range(mark, end) if re.match(r"\w+=", lines[n])]


def complaints(name, text, quick=False):
    lines = text.splitlines()
    found = [f"{line} is missing" for line in WRITTEN[name] if line not in lines]
    if MARK not in text:
        return [*found, f"no line begins with {MARK!r}"]
    mark = next(n for n, line in enumerate(lines) if line.startswith(MARK))
    found += [f"{lines[n]}: no reason stands before it" for n in sandbox(lines) if n > mark and not lines[n - 1].startswith("#")]
    with tempfile.TemporaryDirectory() as directory:
        unit = pathlib.Path(directory) / name
        # The programs need not be installed to check the units that start them.
        unit.write_text(re.sub(r"(?m)^ExecStart=.*", "ExecStart=/bin/true", text))
        if not quick:
            verified = analyze("verify", "--man=no", str(unit))
            found += [line for line in verified.stderr.splitlines() if str(unit) in line or line.startswith(name)]
        exposure = analyze("security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE}", str(unit))
        if exposure.returncode:
            found += [(exposure.stdout.strip() or exposure.stderr).splitlines()[-1]]
        # Others weigh other things.
        if version() == 252:
            answers = json.loads(analyze("security", "--offline=true", "--json=short", str(unit)).stdout)
            is_open = {answer["json_field"] for answer in answers if answer["set"] is False}
            found += [f"{field} is open" for field in sorted(is_open - set(OPEN[name]))]
            found += [f"{field} is not open any more: say so here" for field in sorted(set(OPEN[name]) - is_open)]
    return found


def self_test():
    missed = []
    for name in OPEN:
        text = (UNITS / name).read_text()
        lines = text.splitlines()
        for number in sandbox(lines):
            without = [*lines[:number], *lines[number + 1:]]
            if not complaints(name, "\n".join(without) + "\n", quick=True):
                missed.append(f"{name}: nobody misses {lines[number]}")
            if number and lines[number - 1].startswith("#") and number > lines.index(next(x for x in lines if x.startswith(MARK))):
                bare = [line for at, line in enumerate(lines) if at >= number or not is_reason(lines, at, number)]
                if not complaints(name, "\n".join(bare) + "\n", quick=True):
                    missed.append(f"{name}: nobody misses the reason of {lines[number]}")
        if not complaints(name, text.replace("[Install]", "ProtectHom=yes\n\n[Install]")):
            missed.append(f"{name}: nobody sees a key that does not exist")
    return missed


def is_reason(lines, at, number):
    return all(lines[between].startswith("#") for between in range(at, number))


def main():
    if not pathlib.Path("/usr/bin/systemd-analyze").exists():
        print("no systemd-analyze here")
        return 77
    if "--self-test" in sys.argv and version() != 252:
        print("what a line is worth is known for systemd 252 only")
        return 77
    found = self_test() if "--self-test" in sys.argv else [
        f"{name}: {complaint}" for name in OPEN for complaint in complaints(name, (UNITS / name).read_text())]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
