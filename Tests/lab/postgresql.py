"""A private PostgreSQL server as a real process: its own cluster, one directory, nothing left afterwards.

    with PostgreSQL() as server:
        conninfo = server.database("ingest")
        server.kill()
        server.start()
"""

import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

OWNER = "postgres"

# Ends every process of the cluster and removes it once the test program is gone, however it ended.
WATCHDOG = """
trap '' INT TERM HUP
cat >/dev/null
for process in /proc/[0-9]*; do
    case $(readlink "$process/cwd") in "$0"/*) kill -KILL "${process#/proc/}" ;; esac
done 2>/dev/null
rm -rf "$0"
"""


class PostgreSQL:
    """A server of Debian's package. Started by `with`, or by start(); close() or the end of the program removes it."""

    def __init__(self, fsync=True, tcp=False, settings=None):
        """fsync: False where no power cut and no speed is the subject. tcp: a port of 127.0.0.1 as well as the socket.
        settings: of postgresql.conf, by name."""
        self.programs = self._programs()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="bandferry-pg."))
        self.data = self.directory / "data"
        self.log = self.directory / "log"
        self.port = self._free_port() if tcp else 5432
        self.tcp = tcp
        self.settings = {
            "fsync": "on" if fsync else "off", "listen_addresses": "127.0.0.1" if tcp else "",
            "unix_socket_directories": str(self.directory), "port": str(self.port), "logging_collector": "off",
            **(settings or {}),
        }
        self.popen = None
        self.watchdog = subprocess.Popen(
            ["sh", "-c", WATCHDOG, str(self.directory)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.as_owner = []
        if os.getuid() == 0:
            # The server refuses to run as root.
            owner = pwd.getpwnam(OWNER)
            os.chown(self.directory, owner.pw_uid, owner.pw_gid)
            self.as_owner = ["setpriv", "--reuid", OWNER, "--regid", OWNER, "--init-groups"]
        subprocess.run(
            [*self.as_owner, self.programs / "initdb", "--pgdata", self.data, "--username", "bandferry", "--auth",
             "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"],
            check=True, stdout=subprocess.DEVNULL, cwd="/")

    @staticmethod
    def _programs():
        found = [pathlib.Path(path).parent for path in glob.glob("/usr/lib/postgresql/*/bin/initdb")]
        found = [path for path in found if int(path.parent.name) >= 15]
        assert found, "no PostgreSQL 15 or later in /usr/lib/postgresql: run scripts/install-packages.sh test"
        return max(found, key=lambda path: int(path.parent.name))

    @staticmethod
    def _free_port():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def running(self):
        return self.popen is not None and self.popen.poll() is None

    def start(self, deadline=60):
        """Starts it, also after kill() or stop(), and waits until it takes connections."""
        assert not self.running, "the server runs already"
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        with open(self.log, "ab") as output:
            self.popen = subprocess.Popen(
                [*self.as_owner, self.programs / "postgres", "-D", self.data, *options],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/")
        end = time.monotonic() + deadline
        while not self._is_ready():
            assert self.running and time.monotonic() < end, f"the server did not start: {self.text()[-2000:]}"
            time.sleep(0.02)
        return self

    def _is_ready(self):
        command = [self.programs / "pg_isready", "--quiet", "--host", self.directory, "--port", str(self.port)]
        return subprocess.run(command, check=False).returncode == 0

    def conninfo(self, name="postgres"):
        """What connects to a database: a URI of libpq."""
        if self.tcp:
            return f"postgresql://bandferry@127.0.0.1:{self.port}/{name}"
        return f"postgresql:///{name}?host={self.directory}&port={self.port}&user=bandferry"

    def database(self, name):
        """Makes a database; what connects to it."""
        self.query("postgres", f'CREATE DATABASE "{name}"')
        return self.conninfo(name)

    def query(self, name, sql):
        """The rows that psql gives, each a list of texts; NULL is an empty text."""
        answer = subprocess.run(
            [self.programs / "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator=\x1f",
             "--record-separator=\x1e", "--set=ON_ERROR_STOP=1", "--dbname", self.conninfo(name), "--command", sql],
            check=True, capture_output=True, text=True, timeout=120)
        if not answer.stdout:
            return []
        return [row.split("\x1f") for row in answer.stdout.removesuffix("\n").split("\x1e")]

    def kill(self):
        """As a power cut ends it: the server and every backend, at once."""
        while self._signal(signal.SIGKILL):
            if self.popen is not None:
                self.popen.wait(10)

    def freeze(self):
        """Connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def thaw(self):
        self._signal(signal.SIGCONT)

    def stop(self, deadline=30):
        """Ends it in order; open connections are told."""
        if self.running:
            self.popen.send_signal(signal.SIGINT)
            self.popen.wait(deadline)

    def _signal(self, number):
        """Every process that lives in the data directory gets it; how many those were."""
        count = 0
        for process in os.listdir("/proc"):
            try:
                if process.isdigit() and os.readlink(f"/proc/{process}/cwd") == str(self.data):
                    os.kill(int(process), number)
                    count += 1
            except OSError:
                pass
        return count

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def close(self):
        self.kill()
        self.watchdog.stdin.close()
        self.watchdog.wait(30)
        shutil.rmtree(self.directory, ignore_errors=True)
