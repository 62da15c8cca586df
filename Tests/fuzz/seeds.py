#!/usr/bin/env python3
"""Writes the seeds of each fuzz target: well-formed input, so that the fuzzer begins behind the first checks.

    Tests/fuzz/seeds.py DIRECTORY
"""
import gzip
import pathlib
import struct
import sys

top = pathlib.Path(sys.argv[1])


def seed(target, name, data):
    directory = top / target
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(data)


def record(seq, kind=1, value=72):
    return struct.pack("<IIHbBhBB", seq, 1793079060, 250, 22, kind, value, 1, 0)


# Band History Profile 1.
samples = struct.pack("<BBH", 1, 0, 3) + b"".join(record(120443 + i) for i in range(15))
end = struct.pack("<BBHIIB", 1, 1, 3, 120457, 2, 0)
info = struct.pack("<BBHHHIIII", 1, 3, 3, 5, 64, 0xB5E5D00D, 7, 9, 1 << 20)
seed("band", "samples", b"\0" + samples)
seed("band", "end", b"\0" + end)
seed("band", "info", b"\1" + info)
seed("band", "clock", b"\2" + struct.pack("<qHHI", 1793079060000, 3, 0, 86461))
seed("band", "send-from", b"\3\1\1\0\0\0")
seed("band", "ack", b"\4\1\0\0\0")
seed("band", "address", b"\5F0:F1:F2:F3:F4:F5")
seed("band", "ring", b"\5b5e5d00d")
seed("band", "path", b"\5/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service000e/char0011/desc0013")

# The order on connect, then streams: bytes that choose the next event and its content.
seed("session", "own", bytes([0, 0]) + bytes([9, 1] * 200))
seed("session", "observe", bytes([1, 1]) + bytes([31, 3, 200, 7] * 100))
seed("session", "mixed", bytes((i * 37 + 11) % 256 for i in range(600)))


# D-Bus: a captured shape of PropertiesChanged, and bodies under a header that the target makes.
def string(text):
    return struct.pack("<I", len(text)) + text.encode() + b"\0"


def pad(data, size):
    return data + b"\0" * (-len(data) % size)


body = string("org.bluez.Device1")
body = pad(body, 4) + struct.pack("<I", 0)
array = pad(body, 8)
entry = string("RSSI") + b"\1n\0"
entry = pad(entry, 2) + struct.pack("<h", -60)
body = body[:-4] + struct.pack("<I", len(entry)) + array[len(body):] + entry
body = pad(body, 4) + struct.pack("<I", 0)
alphabet = "ybnqiuxtdsogav(){}h"


def under_header(signature, data):
    return bytes([1, len(signature)]) + bytes(alphabet.index(c) for c in signature) + data


seed("bus", "properties", under_header("sa{sv}as", body))
seed("bus", "bytes", under_header("ay", struct.pack("<I", 4) + b"\1\2\3\4"))
seed("bus", "variant", under_header("v", b"\1s\0\0" + string("text")))
seed("bus", "structs", under_header("a(iu)", struct.pack("<II", 8, 0) + struct.pack("<iI", -1, 2)))
fields = b"\1\1o\0" + string("/a")
fields = pad(fields, 8) + b"\2\1s\0" + string("a.b")
fields = pad(fields, 8) + b"\3\1s\0" + string("C")
seed("bus", "whole", b"\0" + pad(b"l\4\0\1" + struct.pack("<III", 0, 1, len(fields)) + fields, 8))

# Ingest API 1.
sample = (
    '{"type":"heart_rate","seq":120443,"value":72,"recorded_at":"2026-10-27T05:31:00.000Z","tz_offset_min":330,'
    '"version":1,"provenance":"device","band_time_ms":1793079060000,"clock_id":3,"flags":1}'
)
batch = (
    '{"device_id":"band_F0F1F2F3F4F5","ring":"b5e5d00d","sync_id":"0b0f3a1e","sample_count":2,'
    '"complete_through":120444,"samples":[%s,%s]}' % (sample, sample.replace("heart_rate", "steps"))
).encode()
seed("ingest", "batch", b"\0" + batch)
seed("ingest", "gaps", b'\1{"gaps":[{"ring":"b5e5d00d","first_seq":1,"last_seq":null,"cause":"overwritten"}]}')
seed("ingest", "time", b"\0022026-10-27T05:31:00.000+05:30")
seed(
    "ingest",
    "answer",
    b'\3\0\0{"sync_id":"id","accepted":3,"duplicates":0,"corrected":0,"conflicts":[],"rejected":[],'
    b'"ack_seq":{"heart_rate":3,"steps":2}}',
)
seed("ingest", "refusal", b'\3\1\x0530   {"error":{"code":"malformed","message":"no"}}')
seed("ingest", "state", b'\4{"device_id":"band_F0F1F2F3F4F5","rings":[],"max_version":1,"counts":{}}')

seed("gzip", "batch", b"\3" + gzip.compress(batch, mtime=0))
seed("gzip", "zeros", b"\3" + gzip.compress(bytes(1 << 16), mtime=0))
seed("gzip", "members", b"\2" + gzip.compress(b"one", mtime=0) + gzip.compress(b"two", mtime=0))

seed(
    "configuration",
    "whole",
    b"\1[gateway]\nstate_directory = /var/lib/bandferry\n[bands]\nadopt = F0:F1:F2:F3:F4:F5, any\n"
    b"[band F0:F1:F2:F3:F4:F5]\nmode = own\nname = Left ; wrist\n"
    b"[upload]\nurl = https://ingest.example.org\ntoken_file = /etc/bandferry/token\nbatch_size = 500\n",
)
seed("configuration", "script", b"\0drop:0.01,overwrite@100:50 unreadable=1234 never-answer:WriteValue@3")
