"""bleak, the client that most Python gateways stand on, against `bandsim bus`."""

import asyncio
import os
import time
import unittest

import profile
from bed import Bed
from bleak import BleakClient, BleakScanner
from bleak.exc import BleakError
from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus

BAND = "F0:F1:F2:F3:F4:F0"


class BleakTests(unittest.IsolatedAsyncioTestCase):
    options = ("--records", "2000", "--window", "8")

    def setUp(self):
        self.bed = Bed(*self.options)
        self.addCleanup(self.bed.close)
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = self.bed.address
        self.addCleanup(os.environ.pop, "DBUS_SYSTEM_BUS_ADDRESS")

    async def find(self):
        device = await BleakScanner.find_device_by_address(BAND, timeout=20, service_uuids=[profile.SERVICE])
        self.assertIsNotNone(device)
        return device

    async def read_history(self, client, first=1):
        """Streams from `first` with an ack for each notification; returns every seq and the END."""
        received = asyncio.Queue()
        await client.start_notify(profile.HISTORY_DATA, lambda _, value: received.put_nowait(bytes(value)))
        await client.write_gatt_char(profile.CONTROL_POINT, profile.send_from(first), response=True)
        seqs = []
        while True:
            kind, *rest = profile.notification(await asyncio.wait_for(received.get(), 20))
            if kind == "end":
                return seqs, rest
            seqs += rest[0]
            await client.write_gatt_char(profile.ACK, profile.ack(seqs[-1]), response=False)

    async def test_a_band_is_found_by_its_service(self):
        device = await self.find()
        self.assertEqual(device.name, "Band 01")

    async def test_info_and_clock_can_be_read(self):
        async with BleakClient(await self.find()) as client:
            info = profile.info(await client.read_gatt_char(profile.INFO))
            clock = profile.clock(await client.read_gatt_char(profile.CLOCK))
            mtu = client.services.get_characteristic(profile.HISTORY_DATA).max_write_without_response_size + 3
        self.assertEqual((info["version"], info["window"], info["oldest"], info["newest"]), (1, 8, 1, 2000))
        self.assertEqual(mtu, 247)
        self.assertEqual(clock["clock_id"], info["clock_id"])
        self.assertLess(abs(clock["time_ms"] - time.time() * 1000), 60_000)

    async def test_a_history_is_streamed_and_freed_by_its_acks(self):
        async with BleakClient(await self.find()) as client:
            seqs, end = await self.read_history(client)
            self.assertEqual(seqs, list(range(1, 2001)))
            self.assertEqual(end, [2000, 1, 0] if end[1] == 1 else [2000, end[1], 0])
            info = profile.info(await client.read_gatt_char(profile.INFO))
        self.assertEqual((info["oldest"], info["newest"]), (2001, 2000))
        self.assertEqual([ack["outcome"] for ack in self.bed.acks()], ["honoured"] * 134)

    async def test_a_bad_opcode_is_answered_with_the_profile_s_error(self):
        async with BleakClient(await self.find()) as client:
            with self.assertRaisesRegex(BleakError, "0x81|Unlikely|ATT error"):
                await client.write_gatt_char(profile.CONTROL_POINT, b"\x07", response=True)

    async def test_a_band_outlives_a_killed_bluetoothd(self):
        async with BleakClient(await self.find()) as client:
            before = profile.info(await client.read_gatt_char(profile.INFO))
            await self.read_history(client)
            # What is acked is saved a moment later.
            await asyncio.sleep(0.3)
        self.bed.kill_bluetoothd()
        self.bed.start_bluetoothd()
        async with BleakClient(await self.find()) as client:
            after = profile.info(await client.read_gatt_char(profile.INFO))
        self.assertEqual((after["ring_id"], after["oldest"]), (before["ring_id"], 2001))

    async def test_a_lost_link_is_noticed(self):
        gone = asyncio.Event()
        client = BleakClient(await self.find(), disconnected_callback=lambda _: gone.set())
        await client.connect()
        bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
        await bus.call(
            Message("org.bandferry.Simulator1", "/org/bandferry/simulator/dev_" + BAND.replace(":", "_"),
                    "org.bandferry.Simulator1", "Disconnect"))
        await asyncio.wait_for(gone.wait(), 20)
        bus.disconnect()
        self.assertFalse(client.is_connected)


class BleakWithStartNotifyTests(unittest.IsolatedAsyncioTestCase):
    """The same over PropertiesChanged, as with a BlueZ that offers no acquired socket."""

    options = ("--records", "2000", "--window", "8", "--no-acquire-notify")
    setUp = BleakTests.setUp
    find = BleakTests.find
    read_history = BleakTests.read_history
    test_a_history_is_streamed_and_freed_by_its_acks = BleakTests.test_a_history_is_streamed_and_freed_by_its_acks
