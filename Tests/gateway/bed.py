"""What the tests of the daemon share: a stack for one test, closed whatever happens."""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lab"), str(HERE.parent / "faults")]

import ledger  # noqa: E402
from stack import Stack, device_id  # noqa: E402


def powercut():
    """The SQLite VFS that can fail writes; built once a run."""
    if not hasattr(powercut, "library"):
        powercut.directory = tempfile.TemporaryDirectory(prefix="bandferry-powercut.")
        powercut.library = pathlib.Path(powercut.directory.name) / "powercut.so"
        subprocess.run([str(HERE.parent / "powercut" / "build.sh"), str(powercut.library)], check=True)
    return powercut.library


class GatewayCase(unittest.TestCase):
    def stack(self, **options):
        options.setdefault("band_options", ["--records", "600", "--seed", "3", "--time-scale", "20"])
        options.setdefault("gateway_options", ["sync_interval = 1"])
        stack = Stack(**options)
        self.addCleanup(stack.close)
        return stack

    def problems(self, stack):
        """Codes of everything that `status` says is wrong, but for the clock of the machine that runs the tests."""
        answer = stack.status()
        return [problem["code"] for problem in answer["problems"] if not problem["code"].startswith("clock_")] + [
            band["problem"]["code"] for band in answer["bands"] if band["problem"]]

    def wait_for_problem(self, stack, code):
        stack.wait(lambda: code in self.problems(stack), f"the problem {code}", pause=0.3)

    def is_calm(self, stack, uploaded=True):
        answer = stack.status()
        bands = [band for band in answer["bands"] if band["adopted"]]
        return bool(bands) and all(
            band["problem"] is None and band["next_seq"] and band["newest_seq"] is not None
            and band["next_seq"] > band["newest_seq"]
            and (band["pending"] == 0 or not uploaded) for band in bands)

    def wait_until_calm(self, stack, uploaded=True):
        """Every band was read to its end since the call, and nothing waits for the server."""
        before = self.caught_up(stack)

        def is_calm():
            since = {band: count - before.get(band, 0) for band, count in self.caught_up(stack).items()}
            bands = [band["address"][-5:] for band in stack.status()["bands"] if band["adopted"]]
            # A daemon that starts shows no bands yet.
            return bool(bands) and all(since.get(band, 0) > 0 for band in bands) and self.is_calm(stack, uploaded)

        stack.wait(is_calm, "everything to be synced", deadline=120, pause=0.3)

    def tell_band(self, stack, method, *arguments):
        """Does something to the simulated band."""
        path = "/org/bandferry/simulator/dev_" + stack.bands[0].replace(":", "_")
        subprocess.run(
            ["busctl", f"--address={stack.bus_address}", "call", "org.bandferry.Simulator1", path,
             "org.bandferry.Simulator1", method, *arguments], check=True, capture_output=True, timeout=30)

    def record(self, stack, count=300):
        self.tell_band(stack, "Record", "u", str(count))

    @staticmethod
    def caught_up(stack):
        """Sessions that read a band to its end, by the end of its address."""
        return collections.Counter(re.findall(r"session ended \(band=(\S+), end=caught_up", stack.daemon.text()))

    def record_more(self, stack, more=400):
        """The band goes on measuring while nobody reads it."""
        stack.sim.stop()
        known = len(stack.truth())
        stack.sim.command += ["--record-every", "2"]
        stack.start_sim()
        stack.wait(lambda: len(stack.truth()) > known + more, "more records", pause=0.2)
        stack.sim.stop()
        del stack.sim.command[-2:]
        stack.start_sim()

    # the server, as its API tells it

    @staticmethod
    def api(stack, path):
        """The answer to `GET path`."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{stack.port}{path}", headers={"Authorization": f"Bearer {stack.token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def lease(self, stack, method, gateway="gw_other", ttl=3600):
        """Another gateway asks for the band, or gives it back."""
        path = f"/v1/devices/{device_id(stack.bands[0])}/lease"
        body = json.dumps({"gateway_id": gateway, "ttl_s": ttl}).encode() if method == "PUT" else None
        request = urllib.request.Request(
            f"http://127.0.0.1:{stack.port}{path}" + ("" if body else f"?gateway_id={gateway}"), data=body,
            method=method, headers={"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def on_server(self, stack):
        """How many samples the server has."""
        return sum(sum(device["counts"].values()) for device in self.api(stack, "/v1/devices")["devices"])

    def gaps_on_server(self, stack, band=0):
        """(first seq, cause, whether it has healed) of every gap of a band."""
        gaps = self.api(stack, f"/v1/devices/{device_id(stack.bands[band])}/gaps")["gaps"]
        return [(gap["first_seq"], gap["cause"], gap["healed_at"] is not None) for gap in gaps]

    def check_accounts(self, stack, allowed=()):
        """Ends the programs; then every record is on the server once, or named."""
        self.assertEqual(stack.daemon.stop(), 0)
        self.assertEqual(stack.server.stop(), 0)
        stack.sim.stop()
        found = ledger.check(stack.truth(), ledger.Server(stack.store), device_id, set(allowed))
        self.assertEqual(found[:5], [])
        ahead = ledger.acks_ahead(stack.acks(), stack.state / "gateway.db")
        self.assertEqual(ahead, [])
