"""Several bandferry-ingest processes on one private PostgreSQL, and what they answer."""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from postgresql import PostgreSQL  # noqa: E402
from stack import ROOT, Process, Stack  # noqa: E402

BINARIES = pathlib.Path(os.environ.get("BANDFERRY_BIN") or ROOT / ".build" / "release")
# Every wait here ends; this is far more than any of them needs.
DEADLINE = 120


class Cluster:
    """One database, so many nodes with a port each, one account with a token of each role."""

    def __init__(self, count=2):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="bandferry-chaos."))
        self.database = PostgreSQL(fsync=False).start()
        self.store = self.database.database("ingest")
        self.command("account", "create", "home")
        self.token = self.command("token", "create", "--account", "home", "--role", "gateway")
        self.reader = self.command("token", "create", "--account", "home", "--role", "read")
        self.nodes = [Node(self, index) for index in range(count)]

    def command(self, *words):
        done = subprocess.run([BINARIES / "bandferry-ingest", *words, "--store", self.store], capture_output=True,
                              text=True, timeout=DEADLINE)
        assert done.returncode == 0, (words, done.returncode, done.stderr)
        return done.stdout.strip()

    def start(self):
        for node in self.nodes:
            node.start()
        return self

    def close(self):
        problems = []
        for node in self.nodes:
            try:
                status = node.process.stop()
                assert status in (0, None), f"{node.name} ended with {status}: {node.process.text()[-1000:]}"
            except AssertionError as error:
                problems.append(str(error))
        for node in self.nodes:
            for token in (self.token, self.reader):
                if token in node.process.text():
                    problems.append(f"a token stands in the log of {node.name}")
        self.database.close()
        if not os.environ.get("BANDFERRY_KEEP"):
            subprocess.run(["rm", "-rf", str(self.directory)], check=False)
        return problems


class Node:
    def __init__(self, cluster, index):
        self.name = f"node {index + 1}"
        self.cluster, self.port = cluster, Stack._free_port()
        self.process = Process(
            self.name, [BINARIES / "bandferry-ingest", "--listen", f"127.0.0.1:{self.port}", "--store", cluster.store],
            str(cluster.directory / f"node-{index + 1}.log"), {})

    def start(self):
        """Returns when it takes requests."""
        offset = len(self.process.text())
        self.process.start()
        Stack.wait(lambda: "listening on" in self.process.text()[offset:] or not self.process.running, self.name, DEADLINE)
        assert self.process.running, f"{self.name} ended: {self.process.text()[-1000:]}"
        return self

    def kill(self):
        self.process.kill()

    # reading

    def get(self, path, **query):
        """What it answers; None for a device that is not known. While it says that it can't, it is asked again."""
        query = {name: value for name, value in query.items() if value is not None}
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        end = time.monotonic() + DEADLINE
        while True:
            status, body = self.ask(target)
            if status == 404:
                return None
            if status == 200:
                return json.loads(body)
            assert status == 503 and time.monotonic() < end, f"{self.name}: {target}: {status} {body[:300]!r}"
            time.sleep(0.1)

    def ask(self, target):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        try:
            connection.request("GET", target, headers={"Authorization": f"Bearer {self.cluster.reader}"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def samples(self, device, limit=1000):
        """Every sample, in the order in which the pages have them."""
        found, cursor = [], None
        while True:
            page = self.get("/v1/samples", device_id=device, limit=limit, cursor=cursor)
            if page is None:
                return []
            found += page["samples"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    def devices(self):
        return {state["device_id"]: state for state in self.get("/v1/devices")["devices"]}

    def gaps(self, device):
        answer = self.get(f"/v1/devices/{device}/gaps")
        return answer["gaps"] if answer else []
