"""A bad network in front of good servers: it loses, cuts, doubles, delays and reorders whole requests, by a seed.

Each gateway has a port of its own. Requests go to a node at random. Plain HTTP/1.1 on loopback, which is what both ends speak.
"""

import asyncio
import collections
import json
import random
import threading
import time

# What may become of a request, and how often, while the weather is bad.
BAD_WEATHER = {
    "pass": 46,
    "slow": 6,            # late on its way there and back
    "lose_request": 6,    # the server never sees it
    "lose_answer": 10,    # the server stored it, and the gateway never learns
    "cut_request": 4,     # half of the body arrives
    "cut_answer": 4,      # half of the answer arrives
    "refuse": 5,          # 503, mostly with Retry-After
    "limit": 2,           # 429 with Retry-After
    "portal": 3,          # somebody else's page with status 200
    "double": 5,          # to both nodes at the same time
    "again": 5,           # and once more later, after newer ones
    "postpone": 4,        # the gateway hears nothing; it arrives later, after newer ones
}
PORTAL = b"<!DOCTYPE html><title>Welcome</title><p>Accept our terms."
DEADLINE = 60


class Request:
    def __init__(self, method, target, fields, body):
        self.method, self.target, self.fields, self.body = method, target, fields, body

    @property
    def writes(self):
        return self.method in ("POST", "PUT", "DELETE")

    @property
    def head(self):
        kept = [f"{name}: {value}" for name, value in self.fields if name.lower() not in ("connection", "expect")]
        return "\r\n".join([f"{self.method} {self.target} HTTP/1.1", *kept, "Connection: close", "", ""]).encode()


class Proxy:
    def __init__(self, nodes, names, seed):
        self.nodes, self.random = nodes, random.Random(seed)
        self.weather = {"pass": 1}
        self.unreachable = set()
        self.deeds = collections.Counter()
        self.requests = self.batches = 0
        self.by_node = collections.Counter()
        self.heard = collections.Counter({name: 0 for name in names})
        self.busy = 0
        self.last = time.monotonic()
        # Those that arrive later; tasks, so that the end can wait for them.
        self.waiting = set()
        self.ports = {}
        self.names = names
        self.ready = threading.Event()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, daemon=True)
        # What a test of the tests does to it: answers that nobody gave.
        self.lies = False

    def start(self):
        self.thread.start()
        assert self.ready.wait(DEADLINE), "the proxy did not start"
        return self

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(DEADLINE)

    def clear_up(self):
        """From now on all is well; what is still under way arrives first."""
        self.weather = {"pass": 1}
        self.unreachable.clear()
        end = time.monotonic() + DEADLINE
        while self.waiting and time.monotonic() < end:
            time.sleep(0.05)

    def quiet_for(self):
        """Seconds since the last request; 0 while one is in hand."""
        return 0 if self.busy else time.monotonic() - self.last

    # the thread

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        self.ready.set()
        self.loop.run_forever()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def _listen(self):
        for name in self.names:
            def serve(reader, writer, name=name):
                return self._serve(name, reader, writer)
            server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
            self.ports[name] = server.sockets[0].getsockname()[1]

    async def _serve(self, name, reader, writer):
        try:
            while name not in self.unreachable:
                request = await self._read(reader, writer)
                if request is None:
                    break
                self.busy += 1
                try:
                    goes_on = await self._treat(name, request, writer)
                finally:
                    self.busy -= 1
                    self.last = time.monotonic()
                if not goes_on:
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    @staticmethod
    async def _read(reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.split("\r\n")[:-2]
        method, target, _ = first.split(" ", 2)
        fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines]
        known = {field.lower(): value for field, value in fields}
        if known.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(int(known.get("content-length", 0)))
        return Request(method, target, fields, body)

    # deeds

    async def _treat(self, name, request, writer):
        """True when the connection goes on."""
        self.requests += 1
        self.heard[name] += 1
        self.batches += request.method == "POST"
        deed = self.random.choices(list(self.weather), self.weather.values())[0]
        if not request.writes and deed in ("double", "again", "postpone"):
            deed = "pass"
        if name in self.unreachable:
            deed = "lose_request"
        self.deeds[deed] += 1
        if self.lies and request.method == "POST":
            return await self._answer(writer, 200, self._lie(request))
        if deed == "lose_request":
            return False
        if deed == "refuse":
            retry = [("Retry-After", "1")] if self.random.random() < 0.7 else []
            return await self._answer(writer, 503, b'{"error":{"code":"server_error","message":"not now"}}', retry)
        if deed == "limit":
            body = b'{"error":{"code":"rate_limited","message":"too many"}}'
            return await self._answer(writer, 429, body, [("Retry-After", "1")])
        if deed == "portal":
            return await self._answer(writer, 200, PORTAL, kind="text/html")
        if deed == "postpone":
            self._later(request)
            return False
        if deed == "slow":
            await asyncio.sleep(self.random.uniform(0, 1))
        if deed == "cut_request":
            await self._forward(request, share=self.random.random())
            return False
        if deed == "double":
            twin = asyncio.ensure_future(self._forward(request))
            answer = await self._forward(request)
            answer = self.random.choice([answer, await twin])
        else:
            answer = await self._forward(request)
        if deed == "again":
            self._later(request)
        if deed == "slow":
            await asyncio.sleep(self.random.uniform(0, 1))
        if deed == "lose_answer":
            return False
        if answer is None:
            # As a proxy says it, which is no ingest API.
            return await self._answer(writer, 502, b"<html>Bad Gateway</html>", kind="text/html")
        status, fields, body = answer
        if deed == "cut_answer":
            await self._answer(writer, status, body, fields, share=self.random.random())
            return False
        return await self._answer(writer, status, body, fields)

    def _later(self, request):
        async def deliver():
            await asyncio.sleep(self.random.uniform(0.2, 8))
            await self._forward(request)
            self.last = time.monotonic()

        task = asyncio.ensure_future(deliver())
        self.waiting.add(task)
        task.add_done_callback(self.waiting.discard)

    async def _forward(self, request, share=None):
        """(status, fields, body); None when there was no whole answer. `share` of the body is sent, then nothing."""
        node = self.random.choice(self.nodes)
        try:
            return await asyncio.wait_for(self._exchange(node, request, share), DEADLINE)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):
            return None

    async def _exchange(self, node, request, share):
        reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
        try:
            if share is not None:
                whole = request.head + request.body
                writer.write(whole[:int(len(whole) * share)])
                await writer.drain()
                return None
            writer.write(request.head + request.body)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")[:-2]
            fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines]
            known = {field.lower(): value for field, value in fields}
            body = await reader.readexactly(int(known["content-length"])) if "content-length" in known else await reader.read()
            self.by_node[node.name] += 1
            kept = [field for field in fields if field[0].lower() not in ("connection", "content-length", "transfer-encoding")]
            return int(first.split(" ")[1]), kept, body
        finally:
            writer.close()

    @staticmethod
    async def _answer(writer, status, body, fields=(), kind=None, share=None):
        fields = list(fields)
        if kind or not any(name.lower() == "content-type" for name, _ in fields):
            fields.append(("Content-Type", kind or "application/json"))
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in fields), f"Content-Length: {len(body)}", "", ""]
        whole = "\r\n".join(lines).encode() + body
        writer.write(whole if share is None else whole[:int(len(whole) * share)])
        await writer.drain()
        return True

    @staticmethod
    def _lie(request):
        """What a server says that stored everything, from one that stored nothing."""
        import gzip
        text = request.body
        if text[:2] == b"\x1f\x8b":
            text = gzip.decompress(text)
        batch = json.loads(text)
        highest = {}
        for sample in batch["samples"]:
            highest[sample["type"]] = max(highest.get(sample["type"], 0), sample["seq"])
        return json.dumps({
            "sync_id": batch["sync_id"], "accepted": len(batch["samples"]), "duplicates": 0, "corrected": 0, "conflicts": [],
            "rejected": [], "ack_seq": highest}).encode()
