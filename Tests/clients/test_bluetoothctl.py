"""bluetoothctl, BlueZ's own client, against `bandsim bus`."""

import re
import subprocess
import threading
import unittest

import profile
from bed import Bed

BAND = "F0:F1:F2:F3:F4:F0"


class Session:
    """bluetoothctl with its prompt driven line by line."""

    def __init__(self, bed: Bed):
        self.text = ""
        self.bed = bed
        self.process = subprocess.Popen(
            ["bluetoothctl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=bed.environment)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.expect("Agent registered")

    def _read(self):
        while chunk := self.process.stdout.read1():
            self.text += re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[\r\x01\x02]", "", chunk.decode(errors="replace"))

    def do(self, command: str, *expected: str) -> str:
        """Types a command, waits for each text behind it, and returns what was said."""
        start = len(self.text)
        self.process.stdin.write((command + "\n").encode())
        self.process.stdin.flush()
        for text in expected:
            self.expect(text, start)
        return self.text[start:]

    def expect(self, text: str, start: int = 0):
        try:
            self.bed.wait(lambda: text in self.text[start:])
        except AssertionError:
            raise AssertionError(f"bluetoothctl never said {text!r} but:\n{self.text[start:]}") from None

    def close(self):
        self.process.stdin.write(b"quit\n")
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(5)
        self.process.stdout.close()


class BluetoothctlTests(unittest.TestCase):
    def setUp(self):
        self.bed = Bed("--bands", "2", "--records", "500")
        self.addCleanup(self.bed.close)
        self.session = Session(self.bed)
        self.addCleanup(self.session.close)

    def connect(self):
        self.session.do("scan on", "Discovery started", f"Device {BAND} Band 01")
        self.session.do(f"connect {BAND}", "Connection successful", "ServicesResolved: yes")
        self.session.do("scan off", "Discovery stopped")

    def test_a_scan_finds_every_band(self):
        self.session.do("scan on", "Device F0:F1:F2:F3:F4:F0 Band 01", "Device F0:F1:F2:F3:F4:F1 Band 02")
        self.session.do("scan off", "RSSI is nil", "Discovery stopped")

    def test_a_connected_band_lists_the_attributes_of_the_profile(self):
        self.connect()
        self.session.do(f"info {BAND}", "Connected: yes", profile.SERVICE)
        said = self.session.do(f"gatt.list-attributes {BAND}", "Firmware Revision String")
        for number in range(1, 7):
            self.assertIn(profile.uuid(number), said)

    def test_info_can_be_read(self):
        self.connect()
        self.session.do(f"gatt.select-attribute {profile.INFO}", "char000f")
        said = self.session.do("gatt.read", "40 42 0f 00")
        # A hex dump of 16 bytes a line, behind the prompt and two blanks: first the signal, then the reply.
        dump = re.findall(r"^(?:\[.*\]#)?\s+((?:[0-9a-f]{2} )+)", said, re.MULTILINE)
        value = profile.info(bytes.fromhex("".join(dump))[:24])
        self.assertEqual((value["version"], value["oldest"], value["newest"]), (1, 1, 500))

    def test_disconnecting_ends_the_link(self):
        self.connect()
        self.session.do(f"disconnect {BAND}", "Successful disconnected", "Connected: no")
