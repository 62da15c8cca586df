"""What the tests of the doctor share: a stack, a directory that stands for the system's files, and a foreign program."""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lab"), str(HERE.parent / "faults")]

from dbus_fast import BusType, Message, MessageType  # noqa: E402
from dbus_fast.aio import MessageBus  # noqa: E402
from stack import Stack  # noqa: E402

HISTORY_DATA = "bf1e0005-9c4e-4f6b-8d2a-5e7a10b3c6f4"


class SystemFiles:
    """Below BANDFERRY_DOCTOR_ROOT: rfkill, main.conf, bluetoothd, and whether the clock is synchronised."""

    def __init__(self, directory, bluetoothd="5.87"):
        self.root = directory / "root"
        self.root.mkdir()
        self.write("run/systemd/timesync/synchronized", "")
        self.bluetoothd(bluetoothd)

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def bluetoothd(self, version):
        self.write("usr/libexec/bluetooth/bluetoothd", f"#!/bin/sh\necho {version}\n", 0o755)

    def rfkill(self, soft=0, hard=0):
        for name, text in {"type": "bluetooth", "name": "hci0", "soft": soft, "hard": hard}.items():
            self.write(f"sys/class/rfkill/rfkill0/{name}", f"{text}\n")


class ForeignProgram:
    """Another D-Bus client on the same host, on a thread of its own."""

    def __init__(self, address):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.bus = self.run(self._connect(address))

    @staticmethod
    async def _connect(address):
        return await MessageBus(bus_type=BusType.SYSTEM, bus_address=address).connect()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def call(self, path, interface, member, signature="", body=(), destination="org.bluez"):
        reply = self.run(self.bus.call(Message(
            destination=destination, path=path, interface=interface, member=member, signature=signature, body=list(body))))
        if reply.message_type == MessageType.ERROR:
            raise AssertionError(f"{member}: {reply.error_name}: {reply.body}")
        return reply.body

    def objects(self):
        return self.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")[0]

    def own(self, name, answer):
        """Owns `name` and answers GetManagedObjects with `answer`."""
        def handle(message):
            if message.member == "GetManagedObjects":
                return Message.new_method_return(message, "a{oa{sa{sv}}}", [answer])
            return None

        self.bus.add_message_handler(handle)
        self.run(self.bus.request_name(name))

    def device(self, band):
        return f"/org/bluez/hci0/dev_{band.replace(':', '_')}"

    def connect(self, band):
        """Discovers and connects, as any program may."""
        self.call("/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery")
        Stack.wait(lambda: self.device(band) in self.objects(), "the band to be found", pause=0.2)
        self.call("/org/bluez/hci0", "org.bluez.Adapter1", "StopDiscovery")
        self.call(self.device(band), "org.bluez.Device1", "Connect")
        Stack.wait(
            lambda: self.objects()[self.device(band)]["org.bluez.Device1"]["ServicesResolved"].value, "its services", pause=0.2)

    def subscribe(self, band):
        for path, interfaces in self.objects().items():
            characteristic = interfaces.get("org.bluez.GattCharacteristic1")
            if path.startswith(self.device(band)) and characteristic and characteristic["UUID"].value == HISTORY_DATA:
                return self.call(path, "org.bluez.GattCharacteristic1", "StartNotify")
        raise AssertionError("the band shows no history")

    def close(self):
        self.loop.call_soon_threadsafe(self.bus.disconnect)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


class ClinicCase(unittest.TestCase):
    def stack(self, **options):
        options.setdefault("bands", 1)
        options.setdefault("band_options", ["--records", "200", "--seed", "3", "--time-scale", "20"])
        # The clock of the machine that runs the tests is nobody's business here.
        options["gateway_options"] = ["sync_interval = 1", *options.pop("more", []), "[time]", "trust = always"]
        stack = Stack(**options)
        self.addCleanup(stack.close)
        stack.files = SystemFiles(stack.directory)
        return stack

    def foreign(self, stack):
        program = ForeignProgram(stack.bus_address)
        self.addCleanup(program.close)
        return program

    def doctor(self, stack, *options, user=None, environment=None):
        """The exit status and what it found, by code."""
        done = subprocess.run(
            [str(stack.binaries / "bandferry"), "--config", str(stack.configuration), "--json", "doctor", *options],
            capture_output=True, text=True, timeout=120, user=user,
            env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": stack.bus_address, "BANDFERRY_DOCTOR_ROOT": str(stack.files.root),
                 **(environment or {})})
        self.assertIn(done.returncode, (0, 9, 10), done.stderr)
        answer = json.loads(done.stdout)
        for finding in answer["findings"]:
            self.assertTrue(finding["text"] and finding["remedy"], finding)
            self.assertNotIn("{", finding["text"] + finding["remedy"])
        worst = {finding["severity"] for finding in answer["findings"]}
        self.assertEqual(done.returncode, 10 if "error" in worst else 9 if "warning" in worst else 0)
        self.assertEqual(answer["healthy"], done.returncode == 0)
        return done.returncode, {finding["code"]: finding for finding in answer["findings"]}, answer

    def check(self, stack, code, severity, remedy, text="", **options):
        """That the doctor finds it, and says what to do."""
        _, findings, _ = self.doctor(stack, **options)
        self.assertIn(code, findings)
        self.assertEqual(findings[code]["severity"], severity)
        self.assertIn(remedy, findings[code]["remedy"])
        self.assertIn(text, findings[code]["text"])
        return findings

    def synced(self, stack):
        def is_synced():
            bands = stack.status()["bands"]
            return bool(bands) and all(
                band["problem"] is None and band["recording"] in ("caught_up", "stopped") and band["pending"] == 0
                for band in bands)

        stack.wait(is_synced, "everything to be synced", pause=0.3)

    @staticmethod
    def temporary():
        return pathlib.Path(tempfile.mkdtemp(prefix="bandferry-doctor."))
