#!/usr/bin/env python3
"""What the gateway's guest asks about its results. Each ends with 0 when it holds, and says why when it does not.

    check_gateway.py calm STATUS.json               every band is read to its end and nothing waits for the server
    check_gateway.py records ADDRESS RECORDS DB     the server holds each record of the band once, and no other
    check_gateway.py mtu ADDRESS N STATUS.json      the ATT MTU that `status` shows
    check_gateway.py order STRACE WRITES            a sync of the database lies before each ack, and the air has them
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
import serverstore

TYPES = {1: "heart_rate", 2: "steps", 3: "spo2", 4: "sleep_stage"}


def calm(status):
    bands = json.load(open(status))["bands"]
    return len(bands) == 3 and all(
        band["problem"] is None and band["pending"] == 0 and band["next_seq"] and band["newest_seq"]
        and band["next_seq"] > band["newest_seq"] for band in bands)


def recorded(path):
    """Of band.py's record file or of `bandsim truth`."""
    for line in map(json.loads, open(path)):
        if line.get("kind", "record") != "record":
            raise SystemExit(f"the band lost records: {line}")
        kind = line["type"] if isinstance(line["type"], str) else TYPES[line["type"]]
        yield kind, line["seq"], line["value"], line["band_time_ms"], line["clock_id"], line["flags"]


def records(address, path, database):
    rows = serverstore.connect(database).execute(
        "SELECT type, seq, value, band_time_ms, clock_id, flags FROM samples AS s JOIN devices AS d "
        "ON d.id = s.device_id WHERE d.name = ?", ("band_" + address.replace(":", ""),)).fetchall()
    held, known = sorted((TYPES[kind], *rest) for kind, *rest in rows), sorted(recorded(path))
    print(f"recorded {len(known)}, on the server {len(held)}")
    if not known or held != known:
        print("first differences:", list(set(known) ^ set(held))[:4])
        return False
    return True


def mtu(address, expected, status):
    found = [band["mtu"] for band in json.load(open(status))["bands"] if band["address"] == address]
    if found != [int(expected)]:
        print(f"status shows {found}")
    return found == [int(expected)]


def order(trace, writes):
    """`strace` has the program's own order: between an ack and a higher one before it, a sync must have ended.

    The air has no ack that the program did not send. It may have fewer: one written while the link ends is lost.
    """
    synced, last, rises, acks = False, {}, 0, []
    for line in open(trace):
        if re.search(r"f(data)?sync(\(| resumed).*= 0$", line):
            synced = True
        sent = re.search(r"sendto\((\d+), \"((?:\\x[0-9a-f]{2}){4})\", 4,", line)
        if not sent:
            continue
        seq = int.from_bytes(bytes.fromhex(sent[2].replace("\\x", "")), "little")
        acks.append(seq)
        # A lower one is another link's: the kernel gives a closed socket's number again.
        if seq > last.get(sent[1], 0):
            if not synced:
                print(f"ack {seq} without a sync before it")
                return False
            rises += 1
            synced = False
        last[sent[1]] = seq
    air = [int.from_bytes(bytes.fromhex(json.loads(line)["value"]), "little") for line in open(writes)
           if len(json.loads(line)["value"]) == 8]
    print(f"{len(acks)} acks sent by the program, {len(air)} on the air")
    return rises > 3 and set(air) <= set(acks) and max(air, default=0) == max(acks)


if __name__ == "__main__":
    checks = {"calm": calm, "records": records, "mtu": mtu, "order": order}
    sys.exit(0 if checks[sys.argv[1]](*sys.argv[2:]) else 1)
