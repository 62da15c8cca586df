"""The peer of `make bench`: the same job as most people would write it, with bleak and sqlite3.

    bleak_peer.py ADDRESS DATABASE

One transaction a notification with the gateway's own schema, columns, indexes and durability, then one ack.
DATABASE was made by bandferryd and is empty. Prints "records N" when END came.
"""

import asyncio
import sqlite3
import struct
import sys

from bleak import BleakClient, BleakScanner

BASE = "-9c4e-4f6b-8d2a-5e7a10b3c6f4"
CONTROL, DATA, ACK = ("bf1e0004" + BASE, "bf1e0005" + BASE, "bf1e0006" + BASE)
HEADER = struct.Struct("<BBH")
RECORD = struct.Struct("<IIHbBhBB")
INSERT = """INSERT INTO samples (key, value, recorded_at, band_time, tz_offset, clock_id, flags, version,
    provenance, time_uncertain, time_bound, offset_source) VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, 0, 120, 0)
    ON CONFLICT DO NOTHING"""


def open_database(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute(
        "INSERT INTO bands (id, device, address, mode, configured, adopted) VALUES (1, 'peer', 1, 'own', 1, 1)")
    database.execute("INSERT INTO rings (id, band, ring, next_seq, first_seen, last_seen) VALUES (1, 1, 1, 1, 0, 0)")
    database.execute(
        "INSERT INTO clock_readings (id, ring, clock_id, band_time, host_time, host_monotonic, boot_id, bound,"
        " seconds_since_boot, newest_seq) VALUES (1, 1, 1, 0, 0, 0, '', 0, 0, 0)")
    database.execute("INSERT INTO clock_spans VALUES (1, 1, 1, 1, 0, 0)")
    database.execute("INSERT INTO unconfirmed VALUES (1, 1, 1)")
    return database


def rows(notification, clock_id):
    for seq, seconds, milliseconds, offset, kind, value, flags, _ in RECORD.iter_unpack(notification[4:]):
        time = seconds * 1000 + milliseconds
        yield (1 << 40 | seq << 8 | kind, value, time + 1234, time, offset, clock_id, flags)


def commit(database, notification, clock_id):
    batch = list(rows(notification, clock_id))
    last = batch[-1][0] >> 8 & 0xFFFFFFFF
    database.execute("BEGIN IMMEDIATE")
    database.executemany(INSERT, batch)
    database.execute("UPDATE unconfirmed SET last_seq = ? WHERE ring = 1", (last,))
    database.execute(
        "UPDATE rings SET next_seq = ?, stored = stored + ?, last_seen = 0 WHERE id = 1", (last + 1, len(batch)))
    database.execute(
        "UPDATE clock_spans SET last_seq = ?, last_band_time = ? WHERE ring = 1 AND clock_id = 1", (last, batch[-1][3]))
    database.execute(
        "INSERT INTO days VALUES (1, ?1, ?2, ?2) ON CONFLICT DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)",
        (batch[-1][2] // 86_400_000, last))
    database.execute("COMMIT")
    return last, len(batch)


async def main(address, path):
    database = open_database(path)
    device = await BleakScanner.find_device_by_address(address, timeout=20)
    if device is None:
        sys.exit(f"bleak_peer: {address} was not found")
    arrived = asyncio.Queue()
    records = 0
    async with BleakClient(device) as client:
        await client.start_notify(DATA, lambda _, data: arrived.put_nowait(bytes(data)))
        await client.write_gatt_char(CONTROL, struct.pack("<BI", 1, 1), response=True)
        while True:
            notification = await asyncio.wait_for(arrived.get(), 30)
            _, kind, clock_id = HEADER.unpack_from(notification)
            if kind == 1:
                break
            last, count = commit(database, notification, clock_id)
            records += count
            await client.write_gatt_char(ACK, struct.pack("<I", last), response=False)
    print("records", records)


asyncio.run(main(*sys.argv[1:]))
