#!/usr/bin/env python3
"""Prints the ATT writes in a btmon trace as JSON lines, in the order in which they reached the controllers.

    att_writes.py /run/air.btsnoop [--adapter 0] [--opcode 0x52]

wall is the kernel's time of the packet, in seconds since 1970: compare it with `strace -ttt` of the gateway (its
fdatasync must come first), or with the band's ack log. Only what an adapter sent is printed; opcode 0x52 is Write
Command (acks), 0x12 Write Request (Control Point).
"""

import argparse
import json
import struct

EPOCH = 0x00E03AB44A676000 - 946_684_800_000_000  # what btmon writes for 1970, in microseconds
EVENT, ACL_SENT = 3, 4  # the monitor's packet types


def packets(path):
    with open(path, "rb") as file:
        identifier, version, kind = struct.unpack(">8sII", file.read(16))
        if identifier != b"btsnoop\0" or kind != 2001:
            raise SystemExit("not a trace of btmon")
        while len(header := file.read(24)) == 24:
            _, length, flags, _, time = struct.unpack(">IIIIQ", header)
            yield (time - EPOCH) / 1e6, flags >> 16, flags & 0xFFFF, file.read(length)


def writes(path, adapter, opcode):
    peers = {}
    for wall, index, kind, data in packets(path):
        if index != adapter:
            continue
        if kind == EVENT and len(data) >= 14 and data[0] == 0x3E and data[2] in (0x01, 0x0A) and data[3] == 0:
            # LE Connection Complete, also the enhanced one: handle, role, address type, address
            peers[struct.unpack_from("<H", data, 4)[0]] = ":".join(f"{byte:02X}" for byte in reversed(data[8:14]))
        if kind == ACL_SENT and len(data) >= 11:
            handle, _, length, channel = struct.unpack_from("<HHHH", data)
            if (handle >> 12) & 3 in (0, 2) and channel == 4 and data[8] == opcode:
                yield {
                    "wall": wall,
                    "peer": peers.get(handle & 0xFFF),
                    "handle": struct.unpack_from("<H", data, 9)[0],
                    "value": data[11 : 8 + length].hex(),
                }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("--adapter", type=int, default=0)
    parser.add_argument("--opcode", type=lambda text: int(text, 0), default=0x52)
    options = parser.parse_args()
    for write in writes(options.trace, options.adapter, options.opcode):
        print(json.dumps(write))


main()
