#!/usr/bin/env python3
"""A band that speaks the Band History Profile, version 1, written from its text alone, on Bumble.

It shares no code with the gateway or the simulator, so that a mistake they have in common shows. It serves Band
History, Battery and Device Information, advertises the Band History UUID with its name, and starts to advertise
again after each disconnect.

    band.py hci-socket:1 F0:F1:F2:F3:F4:F5 --records 1000 --window 64 --ack-log acks.jsonl --record-file all.jsonl

Several bands, each a process of its own: separate their arguments with --.
Signals: USR1 records --add more records, USR2 drops the links and formats the ring, HUP steps the clock, WINCH drops the
links, as a band does that hears nothing for its supervision timeout (btvirt has none), PROF makes it vanish for 20 s, as one that
is carried away.
What happens is printed as JSON lines with the monotonic time in seconds.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import struct
import sys
import time
from dataclasses import dataclass

from bumble import hci
from bumble.att import ATT_Error, Attribute, AttributeValue, AttributeValueV2
from bumble.core import UUID, AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, Descriptor, Service
from bumble.keys import JsonKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

BASE = "-9c4e-4f6b-8d2a-5e7a10b3c6f4"
BUSY, UNKNOWN_OPCODE, WRONG_LENGTH, NOT_ENABLED = 0x80, 0x81, 0x82, 0x83
COMPLETE, ABORTED, INTERNAL_ERROR = 0, 1, 2


def say(event, **fields):
    print(json.dumps({"t": round(time.monotonic(), 6), "event": event, **fields}), flush=True)


@dataclass
class Record:
    seq: int
    clock_id: int
    seconds: int
    milliseconds: int
    utc_offset: int  # quarter hours; -128: the band does not know
    type: int
    value: int
    flags: int

    def encoded(self):
        return struct.pack(
            "<IIHbBhBB", self.seq, self.seconds, self.milliseconds, self.utc_offset, self.type, self.value, self.flags, 0
        )

    def described(self, ring_id):
        return {
            "ring_id": ring_id,
            "seq": self.seq,
            "type": self.type,
            "band_time_ms": self.seconds * 1000 + self.milliseconds,
            "utc_offset_quarter_hours": self.utc_offset,
            "value": self.value,
            "flags": self.flags,
            "clock_id": self.clock_id,
        }


class Ring:
    """What a band keeps through a restart: its records and its counters."""

    def __init__(self, options):
        self.options = options
        self.records = {}
        self.format_count = 0
        self.clock_id = 0
        self.clock_error = options.clock_error
        self.booted = time.monotonic()
        if options.state and os.path.exists(options.state):
            self.load()
            self.clock_id += 1  # the clock restarts with the band
            self.save()
        else:
            self.format()
            self.fill(options.records)

    def format(self):
        self.format_count += 1
        # Reproducible from the seed, yet another one for each format; the profile wants it random and not 0.
        self.random = random.Random(f"{self.options.seed}/{self.options.address}/{self.format_count}")
        self.ring_id = self.options.ring_id if self.format_count == 1 else 0
        self.ring_id = self.ring_id or self.random.randrange(1, 1 << 32)
        self.records = {}
        self.oldest = 1
        self.newest = 0
        self.highest_sent = 0
        self.clock_id += 1

    def band_now(self):
        return time.time() + self.clock_error

    def fill(self, count):
        """Records `count` samples that end now, spread over --clocks steps of the band's clock."""
        if count <= 0:
            return self.save()
        clocks = max(1, min(self.options.clocks, count))
        spacing = self.options.spacing_ms
        at = int(self.band_now() * 1000) - count * spacing
        for index in range(count):
            if index and index * clocks // count != (index - 1) * clocks // count:
                self.clock_id += 1
                step = self.random.randrange(-86_400_000, 86_400_000)
                at += step
                self.clock_error += step / 1000
            self.append(at)
            at += spacing + self.random.randrange(-spacing // 4, spacing // 4 + 1)
        self.save()

    def append(self, at):
        self.newest += 1
        kind = self.random.choices([1, 2, 3, 4], weights=[70, 20, 8, 2])[0]
        value = {
            1: lambda: self.random.randrange(38, 200),
            2: lambda: self.random.randrange(0, 400),
            3: lambda: self.random.randrange(850, 1001),
            4: lambda: self.random.randrange(0, 5),
        }[kind]()
        offset = self.random.choice([0, 4, 8, 23, -14, -56, 56, -128])
        flags = self.random.choice([1, 1, 1, 0, 3, 2])
        lost = self.newest in self.options.lost
        if not lost:
            self.records[self.newest] = Record(
                self.newest, self.clock_id, at // 1000, at % 1000, offset, kind, value, flags
            )
        while self.newest - self.oldest + 1 > self.options.capacity:  # the oldest is overwritten
            self.records.pop(self.oldest, None)
            self.oldest += 1
        if self.options.record_file and not lost:
            with open(self.options.record_file, "a") as file:
                file.write(json.dumps(self.records[self.newest].described(self.ring_id)) + "\n")

    def free(self, up_to):
        for seq in range(self.oldest, up_to + 1):
            self.records.pop(seq, None)
        self.oldest = max(self.oldest, up_to + 1)

    def info(self):
        return struct.pack(
            "<BBHHHIIII",
            1,
            0,
            self.clock_id & 0xFFFF,
            self.format_count & 0xFFFF,
            self.options.window,
            self.ring_id,
            self.oldest,
            self.newest,
            self.options.capacity,
        )

    def clock(self):
        return struct.pack(
            "<qHHI", int(self.band_now() * 1000), self.clock_id & 0xFFFF, 0, int(time.monotonic() - self.booted)
        )

    # State on disk: written whole to a second file, then renamed.

    def save(self):
        if not self.options.state:
            return
        kept = {
            "format_count": self.format_count,
            "ring_id": self.ring_id,
            "oldest": self.oldest,
            "newest": self.newest,
            "highest_sent": self.highest_sent,
            "clock_id": self.clock_id,
            "clock_error": self.clock_error,
            "records": [list(vars(record).values()) for record in self.records.values()],
        }
        with open(self.options.state + ".new", "w") as file:
            json.dump(kept, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.options.state + ".new", self.options.state)

    def load(self):
        with open(self.options.state) as file:
            kept = json.load(file)
        records = kept.pop("records")
        vars(self).update(kept)
        self.records = {fields[0]: Record(*fields) for fields in records}
        self.random = random.Random(f"{self.options.seed}/{self.options.address}/{self.format_count}/{self.newest}")


class Link:
    """One connection: its subscription and at most one stream."""

    def __init__(self, band, connection):
        self.band = band
        self.connection = connection
        self.enabled = False
        self.stream = None  # the task
        self.covered = 0
        self.outstanding = []  # the last seq of each notification that no ack covers yet
        self.room = asyncio.Event()

    def subscribe(self, enabled):
        self.enabled = enabled
        if not enabled:
            self.stop()

    def stop(self):
        if self.stream:
            self.stream.cancel()
        self.stream = None
        self.outstanding.clear()
        self.room.set()

    def acknowledge(self, seq):
        self.outstanding = [last for last in self.outstanding if last > seq]
        self.room.set()

    async def queue_room(self):
        """Waits until little is queued below: an ABORT would else wait behind all of it."""
        while (queue := self.band.device.host.get_data_packet_queue(self.connection.handle)) and queue.pending > 8:
            await asyncio.sleep(0.002)

    async def window_room(self):
        while self.band.options.window and len(self.outstanding) >= self.band.options.window:
            self.room.clear()
            await self.room.wait()

    async def notify(self, value):
        await self.band.device.gatt_server.notify_subscriber(self.connection, self.band.history, value)
        self.band.sent += 1
        limit = self.band.options.drop_after
        if limit and self.band.sent % limit == 0:
            say("dropping the link", after=limit)
            asyncio.get_running_loop().create_task(self.connection.disconnect())

    def end(self, status):
        ring = self.band.ring
        self.outstanding.clear()
        self.room.set()
        ring.save()
        say("end", status=status, last_seq=self.covered, oldest_seq=ring.oldest)
        return struct.pack("<BBHIIB", 1, 1, ring.clock_id & 0xFFFF, self.covered, ring.oldest, status)

    def batch(self, position):
        """The next records for one notification: consecutive, under one clock, as many as the MTU carries."""
        ring = self.band.ring
        position = max(position, ring.oldest)  # what an ack freed or a newer record overwrote is gone
        while position <= ring.newest and position not in ring.records:
            position += 1
        batch = []
        while len(batch) < min(15, (self.connection.att_mtu - 3 - 4) // 16):
            record = ring.records.get(position)
            if record is None or (batch and record.clock_id != batch[0].clock_id):
                break
            batch.append(record)
            position += 1
        return batch

    async def run(self, first):
        ring = self.band.ring
        position = max(first, ring.oldest)
        self.covered = min(position - 1, ring.newest)
        while self.batch(position):
            await self.window_room()
            await self.queue_room()
            batch = self.batch(position)
            if not batch:
                break
            # Nothing below waits: what counts as sent was sent, also when this task is cancelled.
            self.covered = batch[-1].seq
            self.outstanding.append(self.covered)
            ring.highest_sent = max(ring.highest_sent, self.covered)
            position = self.covered + 1
            header = struct.pack("<BBH", 1, 0, batch[0].clock_id & 0xFFFF)
            await self.notify(header + b"".join(record.encoded() for record in batch))
            await asyncio.sleep(self.band.options.pace_ms / 1000)
        self.covered = ring.newest
        self.stream = None
        await self.notify(self.end(COMPLETE))


class Band:
    def __init__(self, options):
        self.options = options
        if options.record_file and not (options.state and os.path.exists(options.state)):
            open(options.record_file, "w").close()
        self.ring = Ring(options)
        self.links = {}
        self.sent = 0
        self.is_away = False

    # Characteristics

    def services(self):
        read, write = Attribute.READABLE, Attribute.WRITEABLE
        if self.options.encrypted:
            read |= Attribute.READ_REQUIRES_ENCRYPTION
            write |= Attribute.WRITE_REQUIRES_ENCRYPTION
        has = Characteristic.Properties

        def characteristic(number, properties, permissions, value, descriptors=()):
            return Characteristic(UUID(f"bf1e{number:04x}{BASE}"), properties, permissions, value, descriptors)

        subscription = Descriptor(
            UUID.from_16_bits(0x2902),
            read | write,
            AttributeValueV2(
                lambda bearer: self.device.gatt_server.read_cccd(bearer, self.history),
                lambda bearer, value: self.device.gatt_server.write_cccd(bearer, self.history, value),
            ),
        )
        self.history = characteristic(5, has.NOTIFY, Attribute.Permissions(0), b"", [subscription])
        self.history.on(
            Characteristic.EVENT_SUBSCRIPTION, lambda connection, notify, _: self.link(connection).subscribe(notify)
        )
        text = lambda number, value: Characteristic(  # noqa: E731
            UUID.from_16_bits(number), has.READ, Attribute.READABLE, value.encode()
        )
        battery = Characteristic(
            UUID.from_16_bits(0x2A19), has.READ | has.NOTIFY, Attribute.READABLE, bytes([self.options.battery])
        )
        return [
            Service(
                UUID(f"bf1e0001{BASE}"),
                [
                    characteristic(2, has.READ, read, AttributeValue(read=lambda _: self.ring.info())),
                    characteristic(3, has.READ, read, AttributeValue(read=lambda _: self.ring.clock())),
                    characteristic(4, has.WRITE, write, AttributeValue(write=self.control)),
                    self.history,
                    characteristic(6, has.WRITE_WITHOUT_RESPONSE, write, AttributeValue(write=self.acknowledge)),
                ],
            ),
            Service(UUID.from_16_bits(0x180F), [battery]),
            Service(
                UUID.from_16_bits(0x180A),
                [text(0x2A29, "Independent Bands"), text(0x2A24, "IB-1"), text(0x2A26, self.options.firmware)],
            ),
        ]

    def link(self, connection):
        return self.links.setdefault(connection.handle, Link(self, connection))

    def control(self, connection, value):
        link = self.link(connection)
        if not value:
            raise ATT_Error(WRONG_LENGTH)
        if value[0] == 1:
            if len(value) != 5:
                raise ATT_Error(WRONG_LENGTH)
            if not link.enabled:
                raise ATT_Error(NOT_ENABLED)
            if link.stream:
                raise ATT_Error(BUSY)
            first = struct.unpack_from("<I", value, 1)[0]
            say("send from", seq=first, oldest=self.ring.oldest, newest=self.ring.newest)
            link.stop()
            link.stream = asyncio.get_running_loop().create_task(self.guarded(link, first))
        elif value[0] == 2:
            if len(value) != 1:
                raise ATT_Error(WRONG_LENGTH)
            say("abort", streaming=bool(link.stream))
            if link.stream:
                link.stop()
                # After the write response, which leaves when this returns.
                asyncio.get_running_loop().create_task(link.notify(link.end(ABORTED)))
        else:
            raise ATT_Error(UNKNOWN_OPCODE)

    async def guarded(self, link, first):
        try:
            await link.run(first)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # tell the gateway, as the profile says
            say("stream failed", error=repr(error))
            link.stream = None
            await link.notify(link.end(INTERNAL_ERROR))

    def acknowledge(self, connection, value):
        now = time.monotonic()
        entry = {"t": now, "wall": time.time(), "peer": str(connection.peer_address), "ring_id": self.ring.ring_id}
        if len(value) != 4:
            self.log_ack({**entry, "raw": value.hex(), "effect": "malformed"})
            return
        seq = struct.unpack("<I", value)[0]
        entry |= {"ack": seq, "highest_sent": self.ring.highest_sent}
        if seq > self.ring.highest_sent:
            self.log_ack({**entry, "effect": "ignored"})
            return
        for link in self.links.values():
            link.acknowledge(seq)
        advanced = seq >= self.ring.oldest
        if advanced and not self.options.keep:
            self.ring.free(seq)
        self.log_ack({**entry, "effect": "taken" if advanced else "repeated", "oldest": self.ring.oldest})
        if advanced and self.options.state:
            self.ring.save()

    def log_ack(self, entry):
        if self.options.ack_log:
            with open(self.options.ack_log, "a") as file:
                file.write(json.dumps(entry) + "\n")

    # The device

    async def serve(self):
        async with await open_transport(self.options.transport) as (source, sink):
            address = hci.Address(self.options.address, hci.Address.RANDOM_DEVICE_ADDRESS)
            configuration = DeviceConfiguration(name=self.options.name, address=address)
            self.device = Device.from_config_with_hci(configuration, source, sink)
            self.device.gatt_server.max_mtu = self.options.mtu
            self.device.add_services(self.services())
            if self.options.state:
                self.device.keystore = JsonKeyStore(str(address), self.options.state + ".keys")
            self.device.pairing_config_factory = lambda _: PairingConfig(
                sc=True,
                mitm=False,
                bonding=True,
                identity_address_type=PairingConfig.AddressType.RANDOM,
                delegate=PairingDelegate(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT),
            )
            self.device.on(Device.EVENT_CONNECTION, self.connected)
            await self.device.power_on()
            await self.advertise()
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGUSR1, self.add)
            loop.add_signal_handler(signal.SIGUSR2, lambda: loop.create_task(self.format()))
            loop.add_signal_handler(signal.SIGHUP, self.step_clock)
            loop.add_signal_handler(signal.SIGPROF, lambda: loop.create_task(self.go_away(20)))
            loop.add_signal_handler(signal.SIGWINCH, lambda: loop.create_task(self.lose_links()))
            for name in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(name, lambda: (self.ring.save(), os._exit(0)))
            say("ready", pid=os.getpid(), address=self.options.address, ring_id=self.ring.ring_id, newest=self.ring.newest)
            await asyncio.gather(self.readvertise(), self.grow())

    async def grow(self):
        while self.options.grow:
            await asyncio.sleep(self.options.grow)
            self.ring.append(int(self.ring.band_now() * 1000))

    async def readvertise(self):
        """Makes the emulated air repeat the advertisement, as a real one is repeated.

        btvirt reports it only when advertising or scanning starts, and the kernel drops a report that comes
        before its discovery has quite begun. Disabling fails when a connection has just ended the advertising;
        then there is nothing to repeat.
        """
        while self.options.readvertise:
            await asyncio.sleep(self.options.readvertise)
            if self.links or self.is_away:
                continue
            try:
                await self.device.send_sync_command(hci.HCI_LE_Set_Advertising_Enable_Command(advertising_enable=0))
                await self.device.send_sync_command(hci.HCI_LE_Set_Advertising_Enable_Command(advertising_enable=1))
            except hci.HCI_Error:
                pass

    async def advertise(self):
        def structure(kind, value):
            return bytes([len(value) + 1, kind]) + value

        identifier = bytes(UUID(f"bf1e0001{BASE}"))
        await self.device.start_advertising(
            advertising_data=structure(AdvertisingData.FLAGS, b"\x06")
            + structure(AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, identifier),
            scan_response_data=structure(AdvertisingData.COMPLETE_LOCAL_NAME, self.options.name.encode()[:29]),
        )
        say("advertising")

    def connected(self, connection):
        say("connected", peer=str(connection.peer_address))
        self.links[connection.handle] = Link(self, connection)
        connection.on("disconnection", lambda reason: self.disconnected(connection, reason))
        connection.on("connection_att_mtu_update", lambda: say("mtu", mtu=connection.att_mtu))
        connection.on(
            "connection_encryption_change", lambda: say("encryption", on=bool(connection.encryption))
        )
        connection.on("pairing", lambda keys: say("paired"))
        connection.on("pairing_failure", lambda reason: say("pairing failed", reason=int(reason)))

    def disconnected(self, connection, reason):
        say("disconnected", reason=int(reason))
        link = self.links.pop(connection.handle, None)
        if link:
            link.stop()
        if not self.is_away:
            asyncio.get_running_loop().create_task(self.advertise())

    # Events that a test asks for

    def add(self):
        at = int(self.ring.band_now() * 1000)
        for index in range(self.options.add):
            self.ring.append(at + index)
        self.ring.save()
        say("recorded", newest=self.ring.newest)

    def step_clock(self):
        self.ring.clock_id += 1
        self.ring.clock_error += 3600
        self.ring.save()
        say("clock stepped", clock_id=self.ring.clock_id)

    async def go_away(self, seconds):
        """The other end is told what its controller would say by itself."""
        self.is_away = True
        for link in list(self.links.values()):
            await link.connection.disconnect(hci.HCI_CONNECTION_TIMEOUT_ERROR)
        say("away", seconds=seconds)
        await asyncio.sleep(seconds)
        self.is_away = False
        await self.advertise()

    async def lose_links(self):
        """Without a word on the air: btvirt ends when a link is closed whose other end was reset."""
        for handle in list(self.links):
            self.links.pop(handle).stop()
        say("lost the links")
        try:
            await self.advertise()
        except hci.HCI_Error:
            pass  # connected anew meanwhile

    async def format(self):
        for link in list(self.links.values()):
            await link.connection.disconnect()
        self.ring.format()
        self.ring.fill(self.options.add)
        say("formatted", ring_id=self.ring.ring_id)


def sequence_set(text):
    """"7,20-29" as a set."""
    result = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        result.update(range(int(first), int(last or first) + 1))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("transport", help="Bumble's name of the controller: hci-socket:1")
    parser.add_argument("address", help="the band's static random address: F0:F1:F2:F3:F4:F5")
    parser.add_argument("--name", default="Band VM")
    parser.add_argument("--records", type=int, default=1000, help="records it holds at first")
    parser.add_argument("--add", type=int, default=100, help="records that USR1 adds, and that a formatted ring holds")
    parser.add_argument("--grow", type=float, default=0, help="seconds from one new record to the next; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--window", type=int, default=64, help="notifications outstanding without an ack; 0: no limit")
    parser.add_argument("--capacity", type=int, default=100_000)
    parser.add_argument("--ring-id", type=lambda text: int(text, 0), default=0)
    parser.add_argument("--mtu", type=int, default=247)
    parser.add_argument("--spacing-ms", type=int, default=1000)
    parser.add_argument("--clocks", type=int, default=1, help="clock ids over which the first records are spread")
    parser.add_argument("--clock-error", type=float, default=0, help="seconds by which the band's clock is ahead")
    parser.add_argument("--lost", type=sequence_set, default=set(), help="seqs that the flash lost: 7,20-29")
    parser.add_argument("--keep", action="store_true", help="free nothing after an ack")
    parser.add_argument("--pace-ms", type=float, default=0, help="pause after each notification")
    parser.add_argument("--drop-after", type=int, default=0, help="drop the link after each N notifications")
    parser.add_argument("--readvertise", type=float, default=2, help="seconds; 0: advertise only once")
    parser.add_argument("--battery", type=int, default=87)
    parser.add_argument("--firmware", default="1.0.0")
    parser.add_argument("--encrypted", action="store_true", help="Band History needs a bond (Just Works)")
    parser.add_argument("--ack-log", help="file: one JSON line for each ack, t is the monotonic time in seconds")
    parser.add_argument("--record-file", help="file: one JSON line for each record it holds")
    parser.add_argument("--state", help="file that keeps the ring through a restart; keys go to FILE.keys")
    parser.add_argument("--log", help="file for the events; else standard output")
    # One process imports Bumble, which is slow under emulation, and becomes all the bands by fork.
    groups = [[]]
    for argument in sys.argv[1:]:
        if argument == "--":
            groups.append([])
        else:
            groups[-1].append(argument)
    bands = [parser.parse_args(group) for group in groups]
    for options in bands[1:]:
        if os.fork() == 0:
            break
    else:
        options = bands[0]
    if options.log:
        sys.stdout = sys.stderr = open(options.log, "a")
    asyncio.run(Band(options).serve())


if __name__ == "__main__":
    main()
