"""One account that has very much and asks for all of it at once: the server's memory, other accounts, a stop."""

import collections
import socket
import threading
import unittest

from bed import DEADLINE, Server, in_threads, read_all, sample

# As many as a device may have, and answers of some 3 MB each.
GAPS = 20_000
READERS = 40


class Lists(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.remove)
        for name in "ab":
            self.server.account(name)
        self.a, _ = self.server.token("a")
        self.reader, _ = self.server.token("a", "read")
        self.b, _ = self.server.token("b")
        self.server.start()
        with self.server.http() as connection:
            for first in range(0, GAPS, 2000):
                gaps = [{"ring": "b5e5d00d", "first_seq": 1 + at * 3, "last_seq": 2 + at * 3,
                         "after": "2026-10-27T05:31:00.000Z", "before": "2026-10-27T05:32:00.000Z",
                         "cause": "freed_elsewhere", "healed_at": None} for at in range(first, first + 2000)]
                reply = self.server.ask("PUT", "/v1/devices/big/gaps", self.a, {"gaps": gaps}, connection=connection)
                self.assertEqual(reply.status, 200, reply)

    def request(self):
        return (f"GET /v1/devices/big/gaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.reader}\r\n"
                "Connection: close\r\n\r\n").encode()

    def test_an_account_that_reads_all_it_has_is_alone_with_that(self):
        whole = len(self.server.ask("GET", "/v1/devices/big/gaps", self.reader).body)
        self.assertGreater(whole, 2_000_000)
        before = self.server.memory()
        statuses = collections.Counter()
        answers = collections.Counter()
        end = threading.Event()

        def other():
            number = 0
            while not end.is_set():
                number += 1
                for reply in (self.server.post([sample(number)], self.b, "small"),
                              self.server.ask("GET", "/v1/devices/small", self.b),
                              self.server.ask("GET", "/v1/devices", self.b)):
                    statuses[reply.status] += 1

        beside = threading.Thread(target=other, daemon=True)
        beside.start()

        def read(_):
            for _ in range(3):
                data = self.server.raw(self.request())
                head, _, body = data.partition(b"\r\n\r\n")
                answers[head[9:12]] += 1
                if head[9:12] == b"200":
                    self.assertEqual(len(body), whole)
                else:
                    self.assertEqual(head[9:12], b"503")
                    self.assertIn(b"Retry-After", head)

        # Raises what a reader raised.
        in_threads(READERS, read)
        end.set()
        beside.join(60)
        self.assertFalse(beside.is_alive())
        self.assertGreater(answers[b"200"], 0)
        # Another account was answered all the while, and what it asked.
        self.assertEqual(set(statuses), {200})
        self.assertGreater(statuses[200], 10)
        # Those that are written and sent, and what one of them takes to be made: all at once would be ten times that.
        self.assertLess(self.server.memory("VmHWM") - before, 200)

    def test_readers_that_take_nothing_leave_room_for_others(self):
        connections = []
        for _ in range(READERS):
            connection = socket.socket()
            self.addCleanup(connection.close)
            connection.settimeout(DEADLINE)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", self.server.port))
            connection.sendall(self.request())
            connections.append(connection)
        first = [connection.recv(12) for connection in connections]
        self.assertLessEqual({text[9:12] for text in first}, {b"200", b"503"})
        self.assertEqual(self.server.post([sample(1)], self.b, "small").status, 200)
        self.assertEqual(self.server.ask("GET", "/v1/devices", self.b).status, 200)
        self.assertEqual(self.server.ask("GET", "/v1/devices/big", self.a).status, 200)
        # What was held by those that have gone is there for others.
        for connection in connections:
            read_all(connection)
        self.assertEqual(self.server.ask("GET", "/v1/devices/big/gaps", self.reader).status, 200)

    def test_a_stop_is_not_held_up(self):
        answers = collections.Counter()

        def read(_):
            answers[self.server.raw(self.request())[9:12]] += 1

        readers = [threading.Thread(target=read, args=(at,), daemon=True) for at in range(READERS)]
        for reader in readers:
            reader.start()
        # More than the ten seconds that are promised, and far less than all of them would take.
        self.assertEqual(self.server.stop(20), 0, self.server.text())
        for reader in readers:
            reader.join(60)
            self.assertFalse(reader.is_alive())


if __name__ == "__main__":
    unittest.main()
