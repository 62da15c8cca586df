"""What a client may send, and what it is told when it sends something else."""

import gzip
import json
import zlib

from bed import DEVICE, ServerTest, batch, in_threads, read_all, sample


class Limits(ServerTest):
    def assertRefused(self, reply, status, code):
        self.assertEqual((reply.status, reply.code), (status, code), reply)
        self.assertTrue(reply.json["error"]["message"])

    def send(self, body, **headers):
        return self.server.ask(
            "POST", "/v1/samples:batch", self.a, body,
            {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}})

    def test_a_gzip_bomb_takes_no_memory(self):
        # A gigabyte of zeros in a megabyte.
        packer = zlib.compressobj(9, wbits=31)
        bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1000)) + packer.flush()
        self.assertLess(len(bomb), 1 << 20)
        twice = gzip.compress(bomb)
        self.assertHealthy()
        before = self.server.memory()

        def attack(_):
            for _ in range(3):
                self.assertRefused(self.send(bomb, Content_Encoding="gzip"), 413, "batch_too_large")
                self.assertRefused(self.send(twice, Content_Encoding="gzip"), 400, "malformed")

        in_threads(20, attack)
        # Twenty bodies of a megabyte and what they may grow to, by far: one bomb alone would be a thousand.
        self.assertLess(self.server.memory("VmHWM") - before, 250)
        self.assertHealthy()

    def test_encodings(self):
        body = json.dumps(batch([sample(1)])).encode()
        self.assertEqual(self.send(body, Content_Encoding="identity").status, 200)
        self.assertEqual(self.send(gzip.compress(body), Content_Encoding="gzip").status, 200)
        self.assertRefused(self.send(body, Content_Encoding="br"), 415, "unsupported_encoding")
        self.assertRefused(self.send(gzip.compress(body), Content_Encoding="gzip, gzip"), 415, "unsupported_encoding")
        for damaged in (body, gzip.compress(body)[:-1], gzip.compress(body) + b"x", b"\x1f\x8b" + bytes(20), b""):
            self.assertRefused(self.send(damaged, Content_Encoding="gzip"), 400, "malformed")

    def test_malformed_json(self):
        deep = 100_000
        good = json.dumps(batch([sample(1)]))
        for text in [
            "", " ", "{", "}", "nul", "null", "[]", "1", '"x"', "{}", good[:-1], good + "x", good + good,
            "[" * deep, "[" * deep + "]" * deep, '{"a":' * deep, good.replace("{", '{"x":' + "[" * deep + "]" * deep + ",", 1),
            good.replace('"device_id"', '"device_id\\ud800"'), good.replace('"ring"', '"\\x"'),
            good.replace('"sample_count": 1', '"sample_count": 2'), good.replace('"sample_count": 1', '"sample_count": 1e400'),
            good.replace('"sample_count": 1', '"sample_count": true'), good.replace("b5e5d00d", "B5E5D00D"),
            good.replace(DEVICE, "../" + DEVICE), good.replace(DEVICE, ""), good.replace('"samples": [', '"samples": [[').replace("}]", "}]]"),
            "\ufeff" + good, good.replace(" ", "\v", 1), "9" * 1_000_000,
        ]:
            with self.subTest(text=text[:60]):
                reply = self.send(text.encode())
                if reply.status == 200:
                    # A sample that can't be taken does not spoil the batch.
                    self.assertEqual(reply.json["accepted"], 0, reply)
                    self.assertEqual(len(reply.json["rejected"]), 1, reply)
                else:
                    self.assertRefused(reply, 400, "malformed")
        for data in (b"\xff\xfe{\x00}\x00", good.encode("utf-16"), good.encode() + b"\xff", b'{"\xc0\x80":1}', bytes(1000)):
            self.assertRefused(self.send(data), 400, "malformed")
        self.assertHealthy()

    def test_fields_of_a_sample_are_judged_one_by_one(self):
        huge = 10 ** 400
        for fields in [{"value": huge}, {"value": -1}, {"value": 1.5}, {"value": "60"}, {"seq": 0}, {"seq": 1 << 32},
                       {"recorded_at": "yesterday"}, {"recorded_at": 5}, {"type": "mood"}, {"type": None},
                       {"tz_offset_min": 100000}, {"version": 0}, {"person": ""}, {"person": 5}]:
            with self.subTest(fields=str(fields)[:60]):
                reply = self.server.ask(
                    "POST", "/v1/samples:batch", self.a, batch([sample(7, **fields), sample(8)], "judged"))
                self.assertEqual(reply.status, 200, reply)
                self.assertEqual([entry["index"] for entry in reply.json["rejected"]], [0], reply)
        # Fields that nobody knows are ignored, whatever is in them.
        reply = self.server.ask(
            "POST", "/v1/samples:batch", self.a, batch([sample(9, mood={"x": [huge]})], "judged", extra=[[{}]]))
        self.assertEqual((reply.status, reply.json["accepted"]), (200, 1), reply)

    def test_a_batch_has_its_size(self):
        self.assertEqual(self.server.post([sample(n) for n in range(1, 501)], self.a, "sized").json["accepted"], 500)
        self.assertRefused(
            self.server.post([sample(n) for n in range(1, 502)], self.a, "sized"), 413, "batch_too_large")
        padding = batch([sample(1)], "sized", padding="x" * (1 << 20))
        self.assertRefused(self.send(json.dumps(padding).encode()), 413, "batch_too_large")
        self.assertRefused(
            self.send(gzip.compress(json.dumps(padding).encode()), Content_Encoding="gzip"), 413, "batch_too_large")
        # Not read to its end: the answer comes although the body never does.
        answer = self.server.raw(
            b"POST /v1/samples:batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 9000000000\r\n\r\n"
            % self.a.encode())
        self.assertTrue(answer.startswith(b"HTTP/1.1 413"), answer[:200])

    def test_heads_have_their_size(self):
        for path, status in [("/v1/devices/" + "a" * 65, 404), ("/v1/devices/" + "a" * 5000, 414),
                             ("/v1/samples?person=" + "a" * 5000, 414), ("/v1/samples?cursor=" + "a" * 3000 + "&person=p", 400)]:
            self.assertEqual(self.server.ask("GET", path, self.a).status, status, path[:40])
        self.assertRefused(self.server.ask("GET", "/v1/devices", self.a, headers={"X": "y" * 17_000}), 431, "malformed")
        self.assertRefused(
            self.server.ask("GET", "/v1/devices", self.a, headers={f"X-{n}": "y" for n in range(70)}), 431, "malformed")
        # Beyond what a connection may hold the library answers for us, or only closes.
        for data in (b"GET /" + b"a" * 1_000_000, b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 1_000_000,
                     b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 200_000):
            answer = self.server.raw(data + b"\r\n\r\n")
            self.assertIn(answer[:12], (b"", b"HTTP/1.1 414", b"HTTP/1.1 431"), answer[:200])
        self.assertHealthy()

    def test_methods_and_paths(self):
        for method, path, status in [
            ("POST", "/v1/devices", 405), ("DELETE", "/v1/devices/d", 405), ("PATCH", "/v1/persons/p", 405),
            ("FROB", "/v1/samples", 405), ("OPTIONS", "/v1/samples", 405), ("TRACE", "/healthz", 405),
            ("POST", "/healthz", 405), ("GET", "/v1/samples:batch", 405), ("GET", "/v2/devices", 404),
            ("GET", "/v1/devices/d/x", 404), ("GET", "/v1//devices", 404), ("GET", "/v1/devices/", 404),
            ("GET", "/v1/devices/a%2Fb", 404), ("GET", "/v1/%", 400),
        ]:
            with self.subTest(method=method, path=path):
                reply = self.server.ask(method, path, self.a)
                self.assertEqual(reply.status, status, reply)
                self.assertTrue(reply.code)
                self.assertEqual("Allow" in reply.headers, status == 405)
        head = self.server.ask("HEAD", "/v1/devices", self.a)
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["Content-Length"], str(len(self.server.ask("GET", "/v1/devices", self.a).body)))

    def test_ways_to_write_a_request(self):
        token = self.a.encode()
        body = json.dumps(batch([sample(1)], "written")).encode()
        head = b"POST /v1/samples:batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + b"\r\n"
        close = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[at:at + 7]), body[at:at + 7]) for at in range(0, len(body), 7))
        for name, data in [
            ("length", head + b"Content-Length: %d\r\n\r\n" % len(body) + body),
            ("absolute", head.replace(b"/v1", b"http://elsewhere.example/v1") + b"Content-Length: %d\r\n\r\n" % len(body) + body),
            ("scheme", head.replace(b"Bearer", b"bEARER") + b"Content-Length: %d\r\n\r\n" % len(body) + body),
        ]:
            with self.subTest(name=name):
                answer = self.server.raw(data + close)
                self.assertTrue(answer.startswith(b"HTTP/1.1 200"), answer[:300])
                self.assertEqual(answer.count(b"HTTP/1.1 200"), 2)
        # Its connection is closed after it.
        answer = self.server.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n" + close)
        self.assertEqual([part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]], [b"200"], answer[:300])
        with self.server.connect() as connection:
            connection.sendall(head + b"Expect: 100-continue\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
            self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 100"))
            connection.sendall(body)
            self.assertTrue(read_all(connection).lstrip().startswith(b"HTTP/1.1 200"))

    def test_where_a_request_ends_is_never_in_doubt(self):
        head = b"POST /v1/samples:batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.a.encode() + b"\r\n"
        smuggled = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        for fields in [
            b"Content-Length: 5\r\nContent-Length: 0\r\n", b"Content-Length: 0\r\nContent-Length: 0\r\n",
            b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: xchunked\r\n",
            b"Transfer-Encoding: chunked, identity\r\n", b"Content-Length: +5\r\n", b"Content-Length: 0x5\r\n",
            b"Content-Length: 5 5\r\n", b"Content-Length: -1\r\n", b"Host: y\r\n",
            b"Content-Length : 5\r\n", b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding: chunked\0x\r\n",
            b"Content-Length: 5\x005\r\n", b"X: y\rContent-Length: 5\r\n", b"X: y\nContent-Length: 5\r\n",
            b"X: y\r\n Content-Length: 5\r\n", b"X: \x01\r\n", b"X\0: y\r\n",
        ]:
            with self.subTest(fields=fields):
                answer = self.server.raw(head + fields + b"\r\n0\r\n\r\n" + smuggled)
                self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer[:200])
                # The library's own answer repeats its head.
                self.assertNotIn(b"200 OK", answer)

    def test_requests_in_a_row_are_answered_in_order(self):
        head = b"GET /v1/devices/d%d HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.a.encode() + b"\r\n\r\n"
        data = b"".join(head.replace(b"%d", b"%d" % n) if n % 2 else b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                        for n in range(50))
        answer = self.server.raw(data + b"GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
        self.assertEqual(statuses, [b"200", b"404"] * 25 + [b"401"])
