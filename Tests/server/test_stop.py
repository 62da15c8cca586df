"""What is left when the server ends, asked or not."""

import json
import signal
import socket
import subprocess
import threading
import time
import unittest

from bed import PROGRAM, Server, batch, in_threads, sample, samples_in, until


class Stop(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.remove)
        self.server.account("a")
        self.token, _ = self.server.token("a")
        self.server.start()

    def load(self, workers, end):
        """Posts batches until the event is set or the server is gone; returns the threads, and what was answered."""
        answered, unanswered, errors = [set() for _ in range(workers)], [0] * workers, []

        def work(worker):
            number = 0
            connection = None
            while not end.is_set():
                seqs = [1 + worker * 1_000_000 + number * 50 + at for at in range(50)]
                number += 1
                try:
                    connection = connection or self.server.http()
                    reply = self.server.post([sample(seq) for seq in seqs], self.token, connection=connection)
                except Exception:
                    # The connection was refused, or cut before an answer: nothing is promised.
                    unanswered[worker] += 1
                    connection = None
                    if end.wait(0.01):
                        return
                    continue
                if reply.status == 200:
                    answered[worker].update(seqs)
                elif reply.status == 503:
                    connection.close()
                    connection = None
                else:
                    errors.append(reply)
                    return

        threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in range(workers)]
        for thread in threads:
            thread.start()
        return threads, answered, errors

    def assertKept(self, answered, errors):
        self.assertEqual(errors, [])
        self.assertEqual(samples_in(self.server.store), "ok")
        self.server.start()
        kept = self.server.seqs(self.token)
        self.assertEqual(len(kept), len(set(kept)))
        lost = set().union(*answered) - set(kept)
        self.assertFalse(lost, f"{len(lost)} answered samples are gone")
        self.assertTrue(kept)

    def test_an_asked_stop_under_load_loses_nothing_that_was_answered(self):
        end = threading.Event()
        threads, answered, errors = self.load(8, end)
        until(lambda: all(answered), what="load")
        began = time.monotonic()
        self.assertEqual(self.server.stop(30), 0, self.server.text())
        self.assertLess(time.monotonic() - began, 20)
        end.set()
        for thread in threads:
            thread.join(30)
        self.assertKept(answered, errors)

    def test_every_request_that_was_in_is_answered(self):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        for round in range(5):
            connections = [self.server.http() for _ in range(60)]
            for number, connection in enumerate(connections):
                body = batch([sample(1 + round * 1000 + number)])
                connection.request("POST", "/v1/samples:batch", json.dumps(body), headers)
            # Some are answered by then, some are half way, some wait to be let in.
            time.sleep(round * 0.004)
            self.server.process.terminate()
            stored = set()
            for number, connection in enumerate(connections):
                answer = connection.getresponse()
                text = answer.read()
                self.assertIn(answer.status, (200, 503), text)
                if answer.status == 200:
                    self.assertIn(b'"accepted":1', text)
                    stored.add(1 + round * 1000 + number)
                else:
                    self.assertEqual(answer.headers["Retry-After"], "1")
                connection.close()
            self.assertEqual(self.server.stop(30), 0)
            self.server.start()
            self.assertLessEqual(stored, set(self.server.seqs(self.token)))

    def test_a_kill_under_load_loses_nothing_that_was_answered(self):
        for _ in range(3):
            end = threading.Event()
            threads, answered, errors = self.load(8, end)
            until(lambda: all(answered), what="load")
            self.server.kill()
            end.set()
            for thread in threads:
                thread.join(30)
            self.assertKept(answered, errors)

    def test_a_full_disk_is_said_and_heals(self):
        # The kernel's limit on a file's size stands for a full disk: the same write fails at the same place.
        def limit(size):
            subprocess.run(["prlimit", "--pid", str(self.server.process.pid), f"--fsize={size}:unlimited"], check=True)

        limit(400_000)
        answered, seen = set(), set()
        for number in range(400):
            seqs = range(1 + number * 500, 501 + number * 500)
            reply = self.server.post([sample(seq) for seq in seqs], self.token)
            seen.add(reply.status)
            if reply.status == 200:
                answered.update(seqs)
            else:
                self.assertEqual((reply.status, reply.code), (503, "server_error"))
                break
        self.assertEqual(seen, {200, 503})
        self.assertEqual(self.server.ask("GET", "/healthz").status, 503)
        # The token is known, or can't be looked up: it is not wrong.
        self.assertIn(self.server.ask("GET", "/v1/devices", self.token).status, (200, 503))
        limit("unlimited")
        until(lambda: self.server.ask("GET", "/healthz").status == 200, what="health")
        self.assertLessEqual(answered, set(self.server.seqs(self.token)))

    def test_a_request_with_its_body_to_come_is_told(self):
        connections = []
        for _ in range(20):
            connection = self.server.connect()
            connection.sendall(
                b"POST /v1/samples:batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + self.token.encode()
                + b"\r\nContent-Length: 10\r\n\r\n12345")
            connections.append(connection)
        until(lambda: self.server.metric("bandferry_ingest_connections") >= 20, what="all connections")
        self.server.process.terminate()

        def finish(number):
            connections[number].sendall(b"67890")
            data = connections[number].recv(4096)
            # Its head was in: it is judged (400, as no JSON) or told to come again.
            self.assertIn(data[:12], (b"HTTP/1.1 400", b"HTTP/1.1 503"), data)
            connections[number].close()

        in_threads(20, finish)
        self.assertEqual(self.server.stop(30), 0)


class Early(unittest.TestCase):
    """A stop while the store is waited for: a database that takes connections, and never says a word."""

    # It is over at once; the start alone would take 30 s.
    BOUND = 15

    def setUp(self):
        self.silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.silent.close)
        self.uri = f"postgresql://x@127.0.0.1:{self.silent.getsockname()[1]}/y"

    def begun(self):
        """It waits for the store by then."""
        self.silent.settimeout(60)
        connection, _ = self.silent.accept()
        self.addCleanup(connection.close)

    def test_a_start_is_given_up(self):
        server = Server(store=self.uri)
        self.addCleanup(server.remove)
        for number in (signal.SIGTERM, signal.SIGINT):
            server.start(wait=False)
            self.begun()
            began = time.monotonic()
            server.process.send_signal(number)
            self.assertEqual(server.process.wait(60), 0, server.text())
            self.assertLess(time.monotonic() - began, self.BOUND)
            server.stop()
        self.assertIn("stopped before it had started", server.text())

    def test_a_stop_is_not_forgotten_for_reloads(self):
        server = Server(store=self.uri)
        self.addCleanup(server.remove)
        server.start(wait=False)
        self.begun()
        for _ in range(8):
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.02)
        self.assertIsNone(server.process.poll())
        server.process.send_signal(signal.SIGTERM)
        for _ in range(8):
            server.process.send_signal(signal.SIGHUP)
        self.assertEqual(server.process.wait(60), 0, server.text())
        server.stop()

    def test_a_command_ends_as_any_other(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = subprocess.Popen(
                [PROGRAM, "token", "list", "--store", self.uri], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            self.begun()
            began = time.monotonic()
            process.send_signal(number)
            self.assertEqual(process.wait(60), -number)
            self.assertLess(time.monotonic() - began, self.BOUND)


class Log(unittest.TestCase):
    def test_it_says_what_it_does_and_names_nobody(self):
        server = Server()
        self.addCleanup(server.remove)
        server.account("clinic-of-names")
        token, _ = server.token("clinic-of-names")
        server.start()
        server.post([sample(1, value=231, person="ann-bell")], token, "secret_band")
        server.ask("GET", "/v1/devices", "not-a-token")
        self.assertEqual(server.stop(), 0)
        text = server.text()
        for event in ("listening", "stopping", "stopped", "requests had a wrong token or none"):
            self.assertIn(event, text)
        for secret in (token, "not-a-token", "secret_band", "ann-bell", "231", "clinic-of-names"):
            self.assertNotIn(secret, text.replace(str(server.directory), ""))
