#!/usr/bin/env python3
"""Pulls a band empty with bleak through the real bluetoothd, and compares with what the band says it holds.

The test of the test bed: if this fails, a failing gateway proves nothing.
"""

import argparse
import asyncio
import json
import struct
import sys
import time

from bleak import BleakClient, BleakScanner
from bleak.exc import BleakError

BASE = "-9c4e-4f6b-8d2a-5e7a10b3c6f4"
INFO, CLOCK, CONTROL, HISTORY, ACK = (f"bf1e000{n}{BASE}" for n in range(2, 7))


def expect(condition, text):
    print(("ok: " if condition else "FAILED: ") + text, flush=True)
    if not condition:
        sys.exit(1)


async def refused(client, value, code):
    try:
        await client.write_gatt_char(CONTROL, value, response=True)
    except BleakError as error:
        expect(f"0x{code:02x}" in str(error).lower(), f"{value.hex()} is refused with 0x{code:02x}: {error}")
    else:
        expect(False, f"{value.hex()} is refused")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("records")
    parser.add_argument("--adapter", default="hci0")
    parser.add_argument("--pair", action="store_true")
    parser.add_argument("--mtu", type=int, default=247)
    parser.add_argument("--again", action="store_true", help="bonded and pulled before: expect an empty band")
    options = parser.parse_args()
    held = {record["seq"]: record for record in map(json.loads, open(options.records))}

    start = time.monotonic()
    bluez = {"adapter": options.adapter}
    device = await BleakScanner.find_device_by_address(options.address, 20, bluez=bluez)
    expect(device is not None, f"found in {time.monotonic() - start:.1f} s")
    packets = asyncio.Queue()
    async with BleakClient(device, pair=options.pair, timeout=60, bluez=bluez) as client:
        print(f"connected in {time.monotonic() - start:.1f} s")
        # On a reconnect no signal carries the new MTU, and bleak keeps the 23 of the moment before its exchange.
        if not options.again:
            mtu = client.services.get_characteristic(HISTORY).max_write_without_response_size + 3
            expect(mtu == options.mtu, f"ATT MTU {mtu}")
        info = await client.read_gatt_char(INFO)
        expect(len(info) == 24, "Info has 24 bytes")
        version, flags, clock_id, formats, window, ring_id, oldest, newest, capacity = struct.unpack("<BBHHHIIII", info)
        print(f"ring {ring_id:08x}, format {formats}, seq {oldest} to {newest} of {capacity}, window {window}")
        expect(version == 1 and ring_id == next(iter(held.values()))["ring_id"], "Info names the ring")
        if options.again:
            expect(oldest == newest + 1, "everything was freed")
        clock = await client.read_gatt_char(CLOCK)
        expect(len(clock) == 16 and struct.unpack_from("<H", clock, 8)[0] == clock_id, "Clock has the same clock_id")
        battery = (await client.read_gatt_char("00002a19-0000-1000-8000-00805f9b34fb"))[0]
        expect(0 < battery <= 100, f"battery {battery} %")

        await refused(client, b"\x01" + struct.pack("<I", 1), 0x83)
        await client.start_notify(HISTORY, lambda _, data: packets.put_nowait((time.monotonic(), bytes(data))))
        await refused(client, b"\x09", 0x81)
        await refused(client, b"\x01\x01", 0x82)
        await client.write_gatt_char(CONTROL, b"\x02", response=True)
        print("ok: ABORT without a stream succeeds", flush=True)

        began = time.monotonic()
        await client.write_gatt_char(CONTROL, b"\x01" + struct.pack("<I", oldest), response=True)
        received, count, unacked, stalled = {}, 0, 0, False
        while True:
            try:
                _, packet = await asyncio.wait_for(packets.get(), 3 if window and not stalled else 20)
            except asyncio.TimeoutError:
                # Once: let the window fill up, see that the band honours it, and that the link is busy.
                expect(not stalled and unacked == window, f"the band stops after {unacked} notifications")
                stalled = True
                await refused(client, b"\x01" + struct.pack("<I", oldest), 0x80)
                await client.write_gatt_char(CONTROL, b"\x02", response=True)
                _, packet = await asyncio.wait_for(packets.get(), 5)
                last, _, status = struct.unpack_from("<IIB", packet, 4)
                expect(packet[1] == 1 and (last, status) == (max(received), 1), f"ABORT: END {last}, status {status}")
                await client.write_gatt_char(CONTROL, b"\x01" + struct.pack("<I", last + 1), response=True)
                unacked = 0
                began = time.monotonic()
                continue
            version, kind, clock_id = struct.unpack_from("<BBH", packet)
            if kind == 1:
                expect(len(packet) == 13, "END has 13 bytes")
                last, _, status = struct.unpack_from("<IIB", packet, 4)
                expect(last == newest and status == 0, f"END: last_seq {last}, status {status}")
                break
            count += 1
            unacked += 1
            expect(version == 1 and (len(packet) - 4) % 16 == 0, "a whole notification") if count == 1 else None
            for offset in range(4, len(packet), 16):
                seq, seconds, ms, utc, kind, value, flags, _ = struct.unpack_from("<IIHbBhBB", packet, offset)
                received[seq] = {
                    "ring_id": ring_id,
                    "seq": seq,
                    "type": kind,
                    "band_time_ms": seconds * 1000 + ms,
                    "utc_offset_quarter_hours": utc,
                    "value": value,
                    "flags": flags,
                    "clock_id": clock_id,
                }
            if window and stalled and unacked >= window // 2:
                await client.write_gatt_char(ACK, struct.pack("<I", max(received)), response=False)
                unacked = 0
        took = time.monotonic() - began
        print(f"{len(received)} records in {count} notifications, {took:.2f} s after the first window")
        wanted = {seq: record for seq, record in held.items() if oldest <= seq <= newest}
        expect(received == wanted, f"all {len(wanted)} records are as the band holds them")

        if not options.again:
            await client.write_gatt_char(ACK, struct.pack("<I", newest + 1000), response=False)  # to be ignored
            await client.write_gatt_char(ACK, struct.pack("<I", newest), response=False)
            await asyncio.sleep(1)
            info = await client.read_gatt_char(INFO)
            oldest, newest = struct.unpack_from("<II", info, 12)
            expect(oldest == newest + 1, "after the ack the ring is empty")
        await client.write_gatt_char(CONTROL, b"\x01" + struct.pack("<I", newest + 5), response=True)
        _, packet = await asyncio.wait_for(packets.get(), 5)
        last, _, status = struct.unpack_from("<IIB", packet, 4)
        expect(packet[1] == 1 and last == newest and status == 0, "SEND FROM above the newest ends at once")
    print(f"done in {time.monotonic() - start:.1f} s")


asyncio.run(main())
