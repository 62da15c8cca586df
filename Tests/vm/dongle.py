#!/usr/bin/env python3
"""A Bluetooth dongle that can be pulled out: a controller of the running `btvirt -s`, given to the kernel by /dev/vhci.

It is plugged in as long as this program runs. The kernel names it; its address is the same each time, as btvirt makes it of
the first free place in its list.
"""

import os
import selectors
import socket
import struct
import sys

# Of each kind of packet (Bluetooth Core, Vol 4, Part A, 2): its head's bytes, where in it the length is, and in what form.
HEADS = {1: (4, 3, "<B"), 2: (5, 3, "<H"), 3: (4, 3, "<B"), 4: (3, 2, "<B"), 5: (5, 3, "<H")}


def packets(received):
    """Takes the whole packets from the front of a bytearray: the kernel wants each with a write of its own."""
    while received:
        head, at, form = HEADS[received[0]]
        if len(received) < head:
            return
        end = head + struct.unpack_from(form, received, at)[0]
        if len(received) < end:
            return
        yield bytes(received[:end])
        del received[:end]


def main():
    air = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    air.connect("/tmp/bt-server-le")
    kernel = os.open("/dev/vhci", os.O_RDWR)
    os.write(kernel, b"\xff\x00")  # the driver's own packet: make a controller
    selector = selectors.DefaultSelector()
    selector.register(air, selectors.EVENT_READ)
    selector.register(kernel, selectors.EVENT_READ)
    received = bytearray()
    while True:
        for key, _ in selector.select():
            if key.fileobj is air:
                data = air.recv(65536)
                if not data:
                    sys.exit("btvirt has ended")
                received += data
                for packet in packets(received):
                    os.write(kernel, packet)
            else:
                packet = os.read(kernel, 4096)
                if packet[0] != 0xFF:
                    air.sendall(packet)


if __name__ == "__main__":
    main()
