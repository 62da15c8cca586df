"""A database that hangs: connections stay open, and nothing is answered."""

import pathlib
import signal
import threading
import time
import unittest

from bed import Server, raise_descriptor_limit, read_all, sample, until
from postgresql import PostgreSQL

# What the server says of itself is 15 s; one statement after another would have more, and one alone 30 s.
ANSWERED = 22
# And 10 s for its stop: whoever waits for what was asked before it has 14 s.
STOPPED = 13.5


class Hung(unittest.TestCase):
    def setUp(self):
        self.database = PostgreSQL(fsync=False).start()
        self.addCleanup(self.database.close)
        self.server = Server(store=self.database.database("ingest"))
        # First of all, so that what is stopped at the end is not kept waiting.
        self.addCleanup(self.server.remove)
        self.addCleanup(self.database.thaw)
        self.server.account("a")
        self.token, _ = self.server.token("a")
        self.server.start()
        self.assertEqual(self.server.post([sample(1)], self.token).status, 200)

    def ask_all(self):
        """Many questions at once; the threads, and of each answer its status, its time and what was asked."""
        answers = []
        began = time.monotonic()

        def ask(kind, work):
            try:
                status = work().status
            except Exception as error:
                status = repr(error)
            answers.append((status, time.monotonic() - began, kind))

        questions = [("devices", lambda: self.server.ask("GET", "/v1/devices", self.token))] * 12
        questions += [("health", lambda: self.server.ask("GET", "/healthz"))] * 6
        questions += [("token", lambda n=n: self.server.ask("GET", "/v1/devices", f"bft_{n}")) for n in range(6)]
        questions += [("batch", lambda n=n: self.server.post([sample(2 + n)], self.token)) for n in range(6)]
        threads = [threading.Thread(target=ask, args=question, daemon=True) for question in questions]
        for thread in threads:
            thread.start()
        return threads, answers

    def test_everybody_is_answered_in_time_and_it_works_again(self):
        self.database.freeze()
        threads, answers = self.ask_all()
        for thread in threads:
            thread.join(60)
        self.assertEqual({status for status, _, _ in answers}, {503}, answers)
        self.assertEqual(len(answers), len(threads))
        self.assertLess(max(after for _, after, _ in answers), ANSWERED, answers)
        self.database.thaw()
        self.assertEqual(self.server.post([sample(100)], self.token).status, 200)
        self.assertIn(100, self.server.seqs(self.token))

    def test_a_stop_is_not_held_up(self):
        self.database.freeze()
        threads, answers = self.ask_all()
        time.sleep(1)
        began = time.monotonic()
        self.assertEqual(self.server.stop(60), 0, self.server.text())
        self.assertLess(time.monotonic() - began, STOPPED)
        for thread in threads:
            thread.join(60)
        # Each was answered before it ended.
        self.assertEqual({status for status, _, _ in answers}, {503}, answers)
        self.assertIn("the store does not answer", self.server.text())
        self.assertIn("stopped", self.server.text())
        self.database.thaw()
        self.server.start()
        self.assertIn(1, self.server.seqs(self.token))
        self.assertEqual(self.server.stop(), 0)

    def test_a_crowd_that_asks_for_the_health_costs_little(self):
        raise_descriptor_limit()
        self.database.freeze()
        # Whatever was thought of the store before: by then it is known not to answer.
        self.assertEqual(self.server.ask("GET", "/healthz").status, 503)
        crowd = 1500
        connections = [self.server.connect() for _ in range(crowd)]
        before = self.server.memory()
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        began = time.monotonic()
        statuses = [read_all(connection)[9:12] for connection in connections]
        self.assertEqual(set(statuses), {b"503"})
        self.assertLess(time.monotonic() - began, ANSWERED)
        # 1 MiB for each of them would be 1,500.
        self.assertLess(self.server.memory("VmHWM") - before, 150)
        self.database.thaw()
        self.assertEqual(self.server.ask("GET", "/healthz").status, 200)

    def hears_stops(self):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
        return int(caught, 16) >> (signal.SIGTERM - 1) & 1

    def test_a_start_ends_and_can_be_stopped(self):
        self.assertEqual(self.server.stop(), 0)
        self.database.freeze()
        self.server.start(wait=False)
        # The call has 30 s.
        self.assertEqual(self.server.process.wait(60), 74, self.server.text())
        self.server.stop()
        self.assertIn("the store can't be used", self.server.text())
        self.server.start(wait=False)
        until(self.hears_stops, what="its listening for signals")
        began = time.monotonic()
        self.assertEqual(self.server.stop(60), 0, self.server.text())
        self.assertLess(time.monotonic() - began, STOPPED)
        self.database.thaw()
        self.server.start()
        self.assertIn(1, self.server.seqs(self.token))
