"""What the scenarios share: the whole line with faults, and that in the end everything is where it belongs."""

import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / name) for name in ("lab", "faults", "gateway")]

from bed import GatewayCase  # noqa: E402


class FieldCase(GatewayCase):
    """`faults` are the simulator's; BlueZ's own delays are a twentieth of the real ones."""

    def line(self, faults="", records=600, bands=1, further=(), gateway=(), **options):
        sim = ["--records", str(records), "--seed", "7", "--time-scale", "20", *further]
        if faults:
            sim += ["--faults", faults]
        return self.stack(bands=bands, band_options=sim, gateway_options=["sync_interval = 1", *gateway], **options)

    def comes_through(self, stack, allowed=()):
        """Started already or not: at the end every record is on the server once, or named."""
        if not stack.daemon.running:
            stack.start()
        self.wait_until_calm(stack)
        self.check_accounts(stack, allowed)

    def in_mid_stream(self, faults="slow:200", records=1500, **options):
        """In the middle of a band's history."""
        stack = self.line(faults, records=records, **options)
        stack.start()
        stack.wait(lambda: len(stack.acks()) > 1, "the history to come in")
        return stack

    def control(self, stack, method, *values, band=0):
        """Does something to a band; values are written as dbus-send takes them."""
        return self._send(stack, "dev_" + stack.bands[band].replace(":", "_"), f"org.bandferry.Simulator1.{method}", values)

    def control_adapter(self, stack, method, *values):
        return self._send(stack, "adapter", f"org.bandferry.SimulatedAdapter1.{method}", values)

    @staticmethod
    def _send(stack, target, method, values):
        return subprocess.run(
            ["dbus-send", f"--bus={stack.bus_address}", "--dest=org.bandferry.Simulator1", "--print-reply",
             f"/org/bandferry/simulator/{target}", method, *values],
            check=True, timeout=60, capture_output=True, text=True).stdout

    def answer(self, stack, call, error, text="", times=1, band=0):
        """The next calls of a method of the band's are answered so; those of the adapter's with band=None. times=0: none any more."""
        values = [f"string:{call}", f"string:{error}", f"string:{text}", f"uint32:{times}"]
        if band is None:
            self.control_adapter(stack, "Answer", *values)
        else:
            self.control(stack, "Answer", *values, band=band)

    def adapter_status(self, stack):
        """What the adapter has done, as the simulator counts it."""
        found = re.findall(r'string "(\w+)"\s+variant\s+\w+ (\d+)', self.control_adapter(stack, "Status"))
        return {name: int(value) for name, value in found}

    def synced_anew(self, stack, band=0):
        """The band has a record more, and that is here."""
        newest = max(answer["newest_seq"] or 0 for answer in stack.status()["bands"] if answer["address"] == stack.bands[band])
        self.control(stack, "Record", "uint32:1", band=band)

        def is_here():
            answers = {answer["address"]: answer for answer in stack.status()["bands"]}
            found = answers.get(stack.bands[band])
            return bool(found) and (found["newest_seq"] or 0) > newest and self.is_synced(stack, band)

        stack.wait(is_here, "the next record", deadline=120, pause=0.3)

    def problem(self, stack, band=0):
        """The code of what `status` says is wrong with a band."""
        bands = {answer["address"]: answer for answer in stack.status()["bands"]}
        problem = bands.get(stack.bands[band], {}).get("problem")
        return problem and problem["code"]

    def wait_for_band_problem(self, stack, codes, band=0):
        stack.wait(lambda: self.problem(stack, band) in codes, f"one of {codes}", deadline=120, pause=0.3)

    def is_synced(self, stack, band):
        bands = {answer["address"]: answer for answer in stack.status()["bands"]}
        found = bands.get(stack.bands[band])
        return bool(found) and found["problem"] is None and found["newest_seq"] is not None and (
            found["next_seq"] or 0) > found["newest_seq"] and found["pending"] == 0
