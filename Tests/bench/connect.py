"""Connects to a band and prints the object paths of History Data, Control Point and Ack. Run with bleak's Python."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

BASE = "-9c4e-4f6b-8d2a-5e7a10b3c6f4"


async def main(address):
    device = await BleakScanner.find_device_by_address(address, timeout=20)
    client = BleakClient(device)
    await client.connect()
    for number in ("bf1e0005", "bf1e0004", "bf1e0006"):
        print(client.services.get_characteristic(number + BASE).obj[0], flush=True)
    # The link outlives this process, as BlueZ's links do.


asyncio.run(main(sys.argv[1]))
