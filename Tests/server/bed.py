"""bandferry-ingest as a process, with accounts and tokens made by its own commands, and ways to ill-treat it."""

import gzip
import http.client
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("BANDFERRY_BIN") or ROOT / ".build" / "release")
PROGRAM = str(BINARIES / "bandferry-ingest")
DEVICE = "band_F0F1F2F3F4F5"

# Every wait here ends; this is far more than any of them needs.
DEADLINE = 60


def raise_descriptor_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def until(condition, deadline=DEADLINE, what="something"):
    """Waits for what no event tells; its value when it is true."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {deadline} s")
        time.sleep(0.05)


def sample(number, **fields):
    seq = number
    return {"type": "heart_rate", "seq": seq, "value": 60 + seq % 50, "recorded_at": "2026-10-27T05:31:00.000Z",
            "tz_offset_min": 330, "version": 1, "provenance": "device", "band_time_ms": 1793079060000 + seq,
            "clock_id": 3, "flags": 1, **fields}


def batch(samples, device=DEVICE, **fields):
    return {"device_id": device, "ring": "b5e5d00d", "sync_id": f"s-{time.monotonic_ns()}",
            "sample_count": len(samples), "samples": samples, **fields}


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]

    def __repr__(self):
        return f"{self.status} {self.body[:200]!r}"


class Server:
    """One store, and the program that serves it; started and ended as often as a test likes."""

    def __init__(self, *options, tls=None, listen="127.0.0.1:0", store=None):
        """store: a URI; a SQLite file of its own unless given."""
        self.listen = listen
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="bandferry-server."))
        self.store = self.directory / "ingest.sqlite"
        self.uri = store or f"sqlite:{self.store}"
        self.log = self.directory / "log"
        self.options, self.context = list(options), tls
        self.process = self.port = None

    def command(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *arguments, "--store", self.uri], capture_output=True, text=True,
                              timeout=DEADLINE)
        assert done.returncode == status, (arguments, done.returncode, done.stderr)
        return done

    def account(self, name):
        self.command("account", "create", name)

    def token(self, account, role="gateway"):
        """A token's text and its id."""
        done = self.command("token", "create", "--account", account, "--role", role)
        return done.stdout.strip(), done.stderr.split()[1]

    def start(self, wait=True):
        self.output = open(self.log, "ab")
        self.process = subprocess.Popen(
            [PROGRAM, "--listen", self.listen, "--store", self.uri, *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.output)
        if not wait:
            return self
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        assert ready, "it did not start in time"
        line = self.process.stdout.readline().decode()
        assert line.startswith("listening on "), (line, self.text())
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self, deadline=DEADLINE):
        """SIGTERM; the exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._ended(deadline)

    def kill(self):
        self.process.kill()
        return self._ended(DEADLINE)

    def _ended(self, deadline):
        try:
            status = self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it did not end within {deadline} s") from None
        finally:
            self.process.stdout.close()
            self.output.close()
            self.process = None
        return status

    def remove(self):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    # asking

    def connect(self, timeout=DEADLINE):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout)
        if self.context:
            connection = self.context.wrap_socket(connection, server_hostname="localhost")
        return connection

    def http(self):
        if self.context:
            return http.client.HTTPSConnection("localhost", self.port, timeout=DEADLINE, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)

    def ask(self, method, path, token=None, body=None, headers=None, connection=None):
        """One request, on a connection of its own unless one is given."""
        own = connection is None
        connection = connection or self.http()
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())
        finally:
            if own:
                connection.close()

    def post(self, samples, token, device=DEVICE, **options):
        body = gzip.compress(json.dumps(batch(samples, device)).encode())
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        return self.ask("POST", "/v1/samples:batch", token, body, headers, **options)

    def raw(self, data, timeout=DEADLINE):
        """What comes back for these bytes until the server closes."""
        with self.connect(timeout) as connection:
            try:
                connection.sendall(data)
            except OSError:
                pass
            return read_all(connection)

    # looking

    def memory(self, field="VmRSS"):
        """MiB."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        raise AssertionError(f"no {field}")

    def metric(self, name):
        text = self.ask("GET", "/metrics").body.decode()
        for line in text.splitlines():
            if line.rpartition(" ")[0] == name:
                return float(line.rpartition(" ")[2])
        return 0.0

    def seqs(self, token, device=DEVICE):
        """The seqs that the server says it has, through its own API."""
        found, cursor = [], None
        with self.http() as connection:
            while True:
                path = f"/v1/samples?device_id={device}&limit=1000" + (f"&cursor={cursor}" if cursor else "")
                reply = self.ask("GET", path, token, connection=connection)
                if reply.status == 404:
                    return []
                assert reply.status == 200, reply
                found += [entry["seq"] for entry in reply.json["samples"]]
                cursor = reply.json["next_cursor"]
                if cursor is None:
                    return found


# http.client closes a connection in a `with` only from Python 3.13 on.
http.client.HTTPConnection.__enter__ = lambda self: self
http.client.HTTPConnection.__exit__ = lambda self, *_: self.close()


def read_all(connection):
    data = b""
    while True:
        try:
            part = connection.recv(65536)
        except (ConnectionResetError, BrokenPipeError, ssl.SSLError):
            return data
        if not part:
            return data
        data += part


class ServerTest(unittest.TestCase):
    """A server for all tests of a class, with two accounts and tokens of both roles."""

    options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options)
        for name in "ab":
            cls.server.account(name)
        cls.a, _ = cls.server.token("a")
        cls.b, _ = cls.server.token("b")
        cls.reader, _ = cls.server.token("a", "read")
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        try:
            status = cls.server.stop()
            text = cls.server.text()
            assert status in (0, None), (status, text)
            for token in (cls.a, cls.b, cls.reader):
                assert token not in text, "a token stands in the log"
        finally:
            cls.server.remove()

    def assertHealthy(self):
        """It serves, and quickly enough for a person to call it alive."""
        self.assertEqual(self.server.ask("GET", "/healthz").status, 200)


def in_threads(count, work):
    """Runs work(0) to work(count - 1) at once; raises what the first of them raised."""
    failures = []

    def run(index):
        try:
            work(index)
        except BaseException as failure:  # noqa: B036: it is raised again below
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE * 2)
        assert not thread.is_alive(), "a thread did not end"
    if failures:
        raise failures[0]


def samples_in(store):
    """Samples in a SQLite store that nobody has open, and whether the file is sound."""
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return database.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        database.close()
