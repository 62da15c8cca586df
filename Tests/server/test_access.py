"""Who may ask for what."""

import time

from bed import DEVICE, ServerTest, batch, in_threads, sample, until

GAPS = {"gaps": [{"ring": "b5e5d00d", "first_seq": 2, "cause": "unreadable"}]}
STATUS = {"last_contact": "2026-10-27T05:31:00.000Z", "battery_percent": 50, "firmware": "1", "newest_seq": 5,
          "newest_recorded_at": None, "unsent": 0}
ZONES = {"label": "Ann", "zones": [{"zone": "Asia/Kolkata", "from": "2026-01-01T00:00:00.000Z"}]}


def lease(gateway):
    return {"gateway_id": gateway, "ttl_s": 600}


class Access(ServerTest):
    def ask(self, method, path, token, body=None):
        return self.server.ask(method, path, token, body)

    def test_nothing_without_a_right_token(self):
        routes = [
            ("POST", "/v1/samples:batch"), ("GET", "/v1/devices"), ("GET", f"/v1/devices/{DEVICE}"),
            ("GET", f"/v1/devices/{DEVICE}/ranges?by=day"), ("GET", f"/v1/devices/{DEVICE}/gaps"),
            ("PUT", f"/v1/devices/{DEVICE}/gaps"), ("PUT", f"/v1/devices/{DEVICE}/status"),
            ("PUT", f"/v1/devices/{DEVICE}/lease"), ("DELETE", f"/v1/devices/{DEVICE}/lease?gateway_id=g"),
            ("GET", "/v1/persons"), ("GET", "/v1/persons/p"), ("PUT", "/v1/persons/p"), ("GET", "/v1/samples?person=p"),
            ("GET", "/v1/aggregates?person=p&type=steps&from=2026-01-01&to=2026-01-02"), ("GET", "/v1/none"),
        ]
        for method, path in routes:
            for token in (None, "wrong", self.a[:-1], self.a + "x", self.a.upper()):
                reply = self.ask(method, path, token, {} if method in ("PUT", "POST") else None)
                self.assertEqual((reply.status, reply.code), (401, "authentication_failed"), (method, path))
                self.assertEqual(reply.headers["WWW-Authenticate"], "Bearer")
        for value in ("Bearer", f"Basic {self.a}", f"Bearer {self.a} {self.a}", self.a, f"Bearer{self.a}"):
            self.assertEqual(self.server.ask("GET", "/v1/devices", headers={"Authorization": value}).status, 401)

    def test_a_reader_writes_nothing(self):
        for method, path, body in self.writes("reader-g"):
            reply = self.ask(method, path, self.reader, body)
            self.assertEqual((reply.status, reply.code), (403, "forbidden"), (method, path))

    def writes(self, gateway, value=60, device="shared"):
        return [
            ("POST", "/v1/samples:batch", batch([sample(1, value=value, person="p")], device, complete_through=9)),
            ("PUT", f"/v1/devices/{device}/gaps", GAPS), ("PUT", f"/v1/devices/{device}/status", STATUS),
            ("PUT", f"/v1/devices/{device}/lease", lease(gateway)), ("PUT", "/v1/persons/p", ZONES),
        ]

    def everything(self, token, device="shared"):
        paths = ["/v1/devices", f"/v1/devices/{device}", f"/v1/devices/{device}/ranges?by=day",
                 f"/v1/devices/{device}/gaps", "/v1/persons", "/v1/persons/p", f"/v1/samples?device_id={device}", "/v1/samples?person=p",
                 f"/v1/aggregates?device_id={device}&type=heart_rate&from=2026-10-27&to=2026-10-27",
                 "/v1/aggregates?person=p&type=heart_rate&from=2026-10-27&to=2026-10-27"]
        return [(path, reply.status, reply.json) for path in paths for reply in [self.ask("GET", path, token)]]

    def test_another_accounts_device_on_every_route(self):
        server = self.server
        server.account("c")
        server.account("d")
        c, _ = server.token("c")
        d, _ = server.token("d")
        empty = self.everything(d)
        for method, path, body in self.writes("g-c"):
            self.assertEqual(self.ask(method, path, c, body).status, 200, path)
        before = self.everything(c)
        # d sees nothing of c's: what it saw when nobody had anything.
        self.assertEqual(self.everything(d), empty)
        self.assertEqual([status for _, status, _ in empty], [200, 404, 404, 404, 200, 404, 404, 200, 404, 200])
        self.assertEqual(self.ask("DELETE", "/v1/devices/shared/lease?gateway_id=g-c", d).status, 404)
        # The same names and the same key are new in d, and c stays as it was.
        for method, path, body in self.writes("g-d", value=90):
            reply = self.ask(method, path, d, body)
            self.assertEqual(reply.status, 200, (path, reply))
            if method == "POST":
                self.assertEqual(reply.json["accepted"], 1)
        self.ask("PUT", "/v1/persons/p", d, {"label": "Bob", "zones": []})
        self.assertEqual(self.everything(c), before)
        # The lease of each is its own.
        self.assertEqual(self.ask("PUT", "/v1/devices/shared/lease", c, lease("g-c")).json["holder"], "g-c")
        self.assertEqual(self.ask("PUT", "/v1/devices/shared/lease", c, lease("g-x")).status, 409)
        values = [entry["value"] for entry in self.ask("GET", "/v1/samples?person=p", d).json["samples"]]
        self.assertEqual(values, [90])
        # A cursor of c shows d nothing that is not d's.
        for method, path, body in [("POST", "/v1/samples:batch", batch([sample(n) for n in range(2, 9)], "shared"))]:
            self.ask(method, path, c, body)
        cursor = self.ask("GET", "/v1/samples?device_id=shared&limit=1", c).json["next_cursor"]
        page = self.ask("GET", f"/v1/samples?device_id=shared&limit=1000&cursor={cursor}", d)
        self.assertIn(page.status, (200, 400))
        if page.status == 200:
            self.assertNotIn(60, [entry["value"] for entry in page.json["samples"]])

    def test_a_revoked_token_is_refused_within_seconds(self):
        token, id = self.server.token("a")
        with self.server.http() as kept:
            self.assertEqual(self.server.ask("GET", "/v1/devices", token, connection=kept).status, 200)
            self.server.command("token", "revoke", id)
            began = time.monotonic()
            until(lambda: self.server.ask("GET", "/v1/devices", token, connection=kept).status == 401, 30, "the refusal")
            self.assertLess(time.monotonic() - began, 15)
        self.assertEqual(self.server.post([sample(1)], token).status, 401)
        # A second revocation keeps the first one's time; an id that is not there is said.
        self.assertIn(id, self.server.command("token", "revoke", id).stderr)
        self.assertIn("ffffffff", self.server.command("token", "revoke", "ffffffff", status=1).stderr)

    def test_a_store_that_is_down_calls_no_token_wrong(self):
        token, _ = self.server.token("a")
        files = [self.server.store.with_name(self.server.store.name + end) for end in ("", "-wal", "-shm")]
        for file in files:
            file.rename(file.with_suffix(file.suffix + ".away"))
        try:
            for one in (token, "wrong-" + str(time.monotonic_ns())):
                reply = self.server.post([sample(1)], one)
                self.assertEqual((reply.status, reply.code), (503, "server_error"), reply)
                self.assertTrue(int(reply.headers["Retry-After"]) >= 1)
        finally:
            for file in files:
                file.with_suffix(file.suffix + ".away").rename(file)
        until(lambda: self.server.ask("GET", "/v1/devices", token).status == 200, what="the store's return")
        self.assertEqual(self.server.ask("GET", "/v1/devices", "wrong").status, 401)


class Flood(ServerTest):
    """In a server of its own: what comes from one address has one count."""

    def test_wrong_tokens_bother_only_those_who_try_them(self):
        statuses, waits = {}, []

        def attack(worker):
            with self.server.http() as connection:
                for number in range(250):
                    reply = self.server.post([sample(1)], f"wrong-{worker}-{number}", connection=connection)
                    statuses[reply.status] = statuses.get(reply.status, 0) + 1
                    if reply.status == 429:
                        waits.append(int(reply.headers["Retry-After"]))

        # A gateway behind the same address that was seen before is served all the while.
        self.assertEqual(self.server.post([sample(1)], self.a).json["accepted"], 1)
        in_threads(8, attack)
        self.assertEqual(set(statuses), {401, 429}, statuses)
        self.assertGreater(statuses[401], 250)
        self.assertTrue(all(1 <= seconds <= 60 for seconds in waits))
        self.assertEqual(self.server.post([sample(2)], self.a).json["accepted"], 1)
        text = self.server.text()
        self.assertLessEqual(text.count("wrong token"), 3, text)
        self.assertNotIn("wrong-1-", text)


class Rate(ServerTest):
    options = ("--requests-per-minute", "40")

    def test_a_token_that_asks_too_often_is_told_how_long_to_wait(self):
        other, _ = self.server.token("a")
        for token in (self.a, other):
            replies = [self.server.ask("GET", "/v1/devices", token) for _ in range(15)]
            statuses = [reply.status for reply in replies]
            self.assertEqual(statuses[:8], [200] * 8)
            self.assertIn(429, statuses)
            last = next(reply for reply in replies if reply.status == 429)
            self.assertEqual(last.code, "rate_limited")
            wait = int(last.headers["Retry-After"])
            self.assertLessEqual(wait, 2)
            time.sleep(wait)
            self.assertEqual(self.server.ask("GET", "/v1/devices", token).status, 200)
        self.assertHealthy()
