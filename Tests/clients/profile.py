"""Band History Profile 1, as a client needs it: written from the text, not from the gateway's code."""

import struct


def uuid(number: int) -> str:
    return f"bf1e{number:04x}-9c4e-4f6b-8d2a-5e7a10b3c6f4"


SERVICE, INFO, CLOCK, CONTROL_POINT, HISTORY_DATA, ACK = (uuid(number) for number in range(1, 7))


def info(value: bytes) -> dict:
    names = ("version", "flags", "clock_id", "format_count", "window", "ring_id", "oldest", "newest", "capacity")
    return dict(zip(names, struct.unpack("<BBHHHIIII", value)))


def clock(value: bytes) -> dict:
    return dict(zip(("time_ms", "clock_id", "reserved", "since_boot"), struct.unpack("<qHHI", value)))


def send_from(seq: int) -> bytes:
    return struct.pack("<BI", 1, seq)


def ack(seq: int) -> bytes:
    return struct.pack("<I", seq)


def notification(value: bytes):
    """("samples", [seqs]) or ("end", last_seq, oldest_seq, status)."""
    version, kind, _ = struct.unpack_from("<BBH", value)
    assert version == 1, f"version {version}"
    if kind == 1:
        return ("end", *struct.unpack_from("<IIB", value, 4))
    assert kind == 0 and (len(value) - 4) % 16 == 0, f"kind {kind}, {len(value)} bytes"
    return ("samples", [struct.unpack_from("<I", value, at)[0] for at in range(4, len(value), 16)])
