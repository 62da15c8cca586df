"""A private bus with simulated bands on it, for one test."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def bandsim() -> str:
    """The program under test: $BANDSIM, else what `swift build` made."""
    return os.environ.get("BANDSIM") or str(ROOT / ".build" / "debug" / "bandsim")


class Bed:
    """Starts dbus-daemon and `bandsim bus`; both are gone after `close`."""

    def __init__(self, *options: str):
        self.directory = tempfile.mkdtemp(prefix="bandferry-clients.")
        socket = os.path.join(self.directory, "bus")
        self.address = f"unix:path={socket}"
        self.ack_log = os.path.join(self.directory, "acks")
        configuration = os.path.join(self.directory, "bus.conf")
        pathlib.Path(configuration).write_text(CONFIGURATION.format(socket=socket))
        self.processes = []
        try:
            self._start(["dbus-daemon", f"--config-file={configuration}", "--nofork", "--print-address"])
            self.simulator = [
                bandsim(), "bus", "--address", self.address, "--time-scale", "10", "--ack-log", self.ack_log,
                "--state", os.path.join(self.directory, "state"), *options]
            self._start(self.simulator)
        except BaseException:
            self.close()
            raise

    def _start(self, command):
        """Starts a program and waits for its first line: it prints one when it is ready."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.processes.append(process)
        if not process.stdout.readline():
            raise RuntimeError(f"{command[0]} ended before it was ready")

    def kill_bluetoothd(self):
        """As when bluetoothd crashes: its name goes, every link and session with it."""
        simulator = self.processes.pop()
        simulator.kill()
        simulator.wait()
        simulator.stdout.close()

    def start_bluetoothd(self):
        """Again, with the bands as they were."""
        self._start(self.simulator)

    @property
    def environment(self):
        return {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}

    def acks(self):
        with open(self.ack_log) as lines:
            return [json.loads(line) for line in lines]

    def wait(self, condition, seconds=20):
        """Waits until the condition holds; the deadline is only for a test that fails anyway."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("waited in vain")
            time.sleep(0.02)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
        shutil.rmtree(self.directory, ignore_errors=True)
