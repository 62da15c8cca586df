"""What the scenarios share: the whole line with faults, and that in the end everything is where it belongs."""

import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / name) for name in ("lab", "faults", "gateway")]

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

    def control(self, stack, method, *values, band=0):
        subprocess.run(
            ["dbus-send", f"--bus={stack.bus_address}", "--dest=org.bandferry.Simulator1", "--print-reply=literal",
             "/org/bandferry/simulator/dev_" + stack.bands[band].replace(":", "_"), f"org.bandferry.Simulator1.{method}", *values],
            check=True, timeout=60, stdout=subprocess.DEVNULL)

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
