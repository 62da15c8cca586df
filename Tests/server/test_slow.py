"""Clients that do nothing, or do it slowly, while others want to be served."""

import time

from bed import ServerTest, sample, in_threads, until

IDLE = 10_000
SLOW = 500


class Slow(ServerTest):
    def serve(self, number):
        """Normal work, by both kinds of client: connections of their own, and ones that are kept."""
        with self.server.http() as kept:
            for step in range(5):
                seq = 1 + number * 100 + step
                self.assertEqual(self.server.post([sample(seq)], self.a, connection=kept).json["accepted"], 1)
                self.assertEqual(self.server.ask("GET", "/v1/devices", self.reader).status, 200)

    def test_idle_and_slow_connections_lock_nobody_out(self):
        self.serve(0)
        before = self.server.memory()
        idle = [self.server.connect() for _ in range(IDLE)]
        slow = [self.server.connect() for _ in range(SLOW)]
        began = time.monotonic()
        partial = b"POST /v1/samples:batch HTTP/1.1\r\nHost: x\r\nX: "
        authorized = (b"POST /v1/samples:batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.a.encode()
                      + b"\r\nContent-Length: 100000\r\n\r\n")
        for number, connection in enumerate(slow):
            # A head that never ends, the body of one who may send, and that of one who may not.
            connection.sendall((partial, authorized, authorized.replace(self.a.encode(), b"wrong"))[number % 3])
            connection.setblocking(False)
        until(lambda: self.server.metric("bandferry_ingest_connections") >= IDLE + SLOW, what="all connections")

        in_threads(8, lambda number: self.serve(number + 1))
        loaded = self.server.memory()
        print(f"\n  {IDLE} idle and {SLOW} slow connections: {before:.0f} MiB, then {loaded:.0f} MiB")
        self.assertLess(loaded - before, 200)

        # Each sends a byte now and then: a limit on silence alone would keep them for ever.
        open_ones = {connection: number for number, connection in enumerate(slow)}

        def trickle():
            for connection in list(open_ones):
                try:
                    connection.send(b"x")
                    if connection.recv(4096) == b"":
                        del open_ones[connection]
                except BlockingIOError:
                    pass
                except OSError:
                    del open_ones[connection]
            return all(number % 3 == 1 for number in open_ones.values())

        until(trickle, 75, "the end of the slow ones")
        self.assertGreater(time.monotonic() - began, 20)
        # One who may send has two minutes for its body.
        self.assertTrue(open_ones)
        in_threads(4, lambda number: self.serve(number + 9))
        for connection in idle + slow:
            connection.close()
        until(lambda: self.server.metric("bandferry_ingest_connections") < 10, what="the end of all connections")
        self.assertGreaterEqual(self.server.metric('bandferry_ingest_connections_closed_total{reason="slow"}'), SLOW // 2)


class Crowd(ServerTest):
    options = ("--max-connections", "1000")

    def test_more_than_there_is_room_for(self):
        idle = [self.server.connect() for _ in range(3000)]
        for number in range(20):
            self.assertEqual(self.server.post([sample(number + 1)], self.a).json["accepted"], 1)
        self.assertGreater(self.server.metric('bandferry_ingest_connections_closed_total{reason="crowded"}'), 1000)
        self.assertLessEqual(self.server.metric("bandferry_ingest_connections"), 1000)
        for connection in idle:
            connection.close()


class Share(ServerTest):
    options = ("--max-connections-per-address", "5")

    def test_one_address_has_its_share(self):
        kept = [self.server.http() for _ in range(5)]
        for connection in kept:
            self.assertEqual(self.server.ask("GET", "/v1/devices", self.a, connection=connection).status, 200)
        with self.assertRaises(OSError):
            self.server.ask("GET", "/v1/devices", self.a)
        kept[0].close()
        until(self.is_let_in, what="room for one more")
        for connection in kept:
            connection.close()

    def is_let_in(self):
        try:
            return self.server.ask("GET", "/v1/devices", self.a).status == 200
        except OSError:
            return False
