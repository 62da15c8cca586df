"""The whole line on this machine: a private bus, simulated bands, the daemon and the server, as real processes.

Used by the fault tests, the benchmarks and the demonstration. Everything lives in one directory.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

import serverstore

ROOT = pathlib.Path(__file__).resolve().parents[2]

BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
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

FIRST_ADDRESS = 0xF0F1F2F3F4F0


def address(index):
    """The address of the simulated band with this index, from 0."""
    digits = f"{FIRST_ADDRESS + index:012X}"
    return ":".join(digits[at:at + 2] for at in range(0, 12, 2))


def device_id(band):
    return "band_" + band.replace(":", "")


class Process:
    """One program that can be started again and again; its output is kept in one file."""

    def __init__(self, name, command, log, environment, ready=None):
        self.name, self.command, self.log, self.environment, self.ready = name, command, log, environment, ready
        self.popen = None

    @property
    def running(self):
        return self.popen is not None and self.popen.poll() is None

    def start(self):
        assert not self.running, f"{self.name} runs already"
        with open(self.log, "ab") as output:
            self.popen = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**os.environ, **self.environment})
        return self

    def kill(self):
        """As a power cut ends it: at once."""
        self._end(signal.SIGKILL, 10)

    def stop(self, deadline=30):
        """Asks it to end; its exit status."""
        return self._end(signal.SIGTERM, deadline)

    def _end(self, number, deadline):
        if self.popen is None:
            return None
        if self.popen.poll() is None:
            self.popen.send_signal(number)
        try:
            return self.popen.wait(deadline)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
            raise AssertionError(f"{self.name} did not end within {deadline} s") from None

    def text(self):
        return pathlib.Path(self.log).read_text(errors="replace") if os.path.exists(self.log) else ""


class Stack:
    """Bands are adopted by address in `modes`, {band: mode}; all that `bands` makes by default."""

    def __init__(self, binaries=None, directory=None, bands=1, modes=None, band_options=(), gateway_options=(),
                 upload=True, upload_options=(), powercut=None, powercut_environment=None, log_level="info"):
        self.binaries = pathlib.Path(binaries or os.environ.get("BANDFERRY_BIN") or ROOT / ".build" / "debug")
        self.own_directory = directory is None
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="bandferry-lab."))
        self.directory.mkdir(parents=True, exist_ok=True)
        self.bands = [address(index) for index in range(bands)]
        self.bus_address = f"unix:path={self.directory}/bus"
        self.state = self.directory / "state"
        self.band_state = self.directory / "bands"
        self.ack_log = self.directory / "acks"
        self.store = self.directory / "ingest.db"
        self.token = "test-token-of-the-lab"
        self.port = None
        self.preload = {"LD_PRELOAD": str(powercut)} if powercut else {}
        self.preload_options = {**(powercut_environment or {}), "POWERCUT_MATCH": str(self.directory)}
        self.modes = modes if modes is not None else {band: "own" for band in self.bands}
        self.gateway_options, self.log_level, self.uploads = gateway_options, log_level, upload
        self.upload_options = upload_options
        # Lines of a band's own section, beside its mode.
        self.band_lines = {}
        (self.directory / "bus.conf").write_text(BUS_CONFIGURATION.format(socket=self.directory / "bus"))
        token_file = self.directory / "token"
        token_file.write_text(self.token + " lab\n")
        token_file.chmod(0o600)
        own_token_file = self.directory / "gateway-token"
        own_token_file.write_text(self.token + "\n")
        own_token_file.chmod(0o600)
        self.bus = self._process(
            "dbus-daemon", ["dbus-daemon", f"--config-file={self.directory}/bus.conf", "--nofork"], {})
        self.sim = self._process(
            "bandsim",
            [self._program("bandsim"), "bus", "--address", self.bus_address, "--bands", str(bands),
             "--first-address", self.bands[0], "--state", str(self.band_state), "--ack-log", str(self.ack_log),
             *band_options], {})
        self.daemon = self._process(
            "bandferryd", [self._program("bandferryd"), "--config", str(self.configuration)],
            {"DBUS_SYSTEM_BUS_ADDRESS": self.bus_address, **self._powercut(1)})

    @property
    def configuration(self):
        return self.directory / "bandferry.conf"

    def _powercut(self, seed):
        return {**self.preload, **self.preload_options} if self.preload else {}

    def _program(self, name):
        return str(self.binaries / name)

    def _process(self, name, command, environment):
        return Process(name, command, str(self.directory / f"{name}.log"), environment)

    # starting and stopping

    def write_configuration(self):
        lines = ["[gateway]", f"state_directory = {self.state}", f"log_level = {self.log_level}",
                 *self.gateway_options, "[bands]"]
        if self.modes:
            lines.append("adopt = " + ", ".join(self.modes))
        for band, mode in self.modes.items():
            if band != "any":
                lines += [f"[band {band}]", f"mode = {mode}", *self.band_lines.get(band, [])]
        if self.uploads:
            lines += ["[upload]", f"url = http://127.0.0.1:{self.port}", f"token_file = {self.directory}/gateway-token",
                      *self.upload_options]
        self.configuration.write_text("\n".join(lines) + "\n")

    def start_bus(self):
        self.bus.start()
        self.wait(lambda: (self.directory / "bus").exists(), "the bus")
        return self

    def start_sim(self):
        offset = len(self.sim.text())
        self.sim.start()
        self.wait(lambda: len(self.sim.text()) > offset or not self.sim.running, "bandsim")
        assert self.sim.running, self.sim.text()[-2000:]
        return self

    def start_server(self, *options):
        """The first start takes a free port; later ones take it again."""
        self.port = self.port or self._free_port()
        self.server = self._process(
            "bandferry-ingest",
            [self._program("bandferry-ingest"), "--listen", f"127.0.0.1:{self.port}",
             "--store", f"sqlite:{self.store}", "--token-file", str(self.directory / "token"),
             *options], self._powercut(2))
        offset = len(self.server.text())
        self.server.start()
        self.wait(lambda: "listening on" in self.server.text()[offset:] or not self.server.running, "the server")
        assert self.server.running, self.server.text()[-2000:]
        self.port = int(self.server.text()[offset:].split("listening on", 1)[1].split()[0].rsplit(":", 1)[1].strip("/"))
        return self

    @staticmethod
    def _free_port():
        """Below those that the kernel gives to connections, so that nobody takes it while the server is down."""
        while True:
            port = random.randrange(20_000, 32_000)
            with socket.socket() as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                    return port
                except OSError:
                    continue

    def start_daemon(self):
        self.write_configuration()
        self.daemon.start()
        return self

    def start(self):
        self.start_bus()
        if self.uploads:
            self.start_server()
        return self.start_sim().start_daemon()

    def close(self):
        """Ends everything, in the order that hides nothing; removes the directory if it was made here."""
        problems = []
        for process in [self.daemon, getattr(self, "server", None), self.sim, self.bus]:
            if process is None:
                continue
            try:
                process.stop()
            except AssertionError as error:
                problems.append(str(error))
        if self.own_directory and not os.environ.get("BANDFERRY_KEEP"):
            shutil.rmtree(self.directory, ignore_errors=True)
        assert not problems, problems

    @staticmethod
    def wait(condition, what, deadline=60.0, pause=0.02):
        """Deadlines only end a test that hangs: they are far beyond what any machine takes."""
        end = time.monotonic() + deadline
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited {deadline} s for {what}")
            time.sleep(pause)

    # looking

    def command(self, *arguments, check=True):
        """Runs `bandferry`; its standard output."""
        done = subprocess.run(
            [self._program("bandferry"), "--config", str(self.configuration), *arguments],
            capture_output=True, text=True, timeout=120,
            env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.bus_address})
        if check and done.returncode:
            raise AssertionError(f"bandferry {' '.join(arguments)}: {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout if check else done

    def status(self):
        """What `bandferry status` says; an empty answer while there is nothing to ask yet."""
        done = self.command("--json", "status", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {"running": False, "problems": [], "bands": []}

    def truth(self):
        """Every record that the bands ever measured, and every loss, from their state."""
        output = subprocess.run(
            [self._program("bandsim"), "truth", "--state", str(self.band_state)], capture_output=True, text=True,
            timeout=120, check=True).stdout
        return [json.loads(line) for line in output.splitlines()]

    def acks(self):
        if not self.ack_log.exists():
            return []
        return [json.loads(line) for line in self.ack_log.read_text().splitlines() if line.endswith("}")]

    def query(self, path, sql, *values):
        """Reads one of the databases, which its program may have open."""
        if path == self.store:
            connection = serverstore.connect(path)
        else:
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def gateway(self, sql, *values):
        return self.query(self.state / "gateway.db", sql, *values)
