"""TLS: which versions, whose certificate, and a new one without a restart."""

import json
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

from bed import PROGRAM, Server, batch, in_threads, sample, until


def make_certificate(directory, name, key="ec"):
    certificate, private = directory / f"{name}.pem", directory / f"{name}.key"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if key == "ec" else ["-newkey", "rsa:2048"]
    subprocess.run(["openssl", "req", "-x509", *kind, "-nodes", "-keyout", private, "-out", certificate, "-days", "30",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    private.chmod(0o600)
    return certificate, private


def context_for(*certificates):
    context = ssl.create_default_context()
    for certificate in certificates:
        context.load_verify_locations(certificate)
    return context


class TLS(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="bandferry-tls."))
        cls.first = make_certificate(cls.directory, "first")
        cls.second = make_certificate(cls.directory, "second", "rsa")

    @classmethod
    def tearDownClass(cls):
        subprocess.run(["rm", "-rf", str(cls.directory)])

    def setUp(self):
        self.certificate, self.key = self.directory / "live.pem", self.directory / "live.key"
        self.install(*self.first)
        self.tokens = self.directory / "tokens"
        self.tokens.write_text("file-token a\n")
        self.tokens.chmod(0o600)
        self.server = Server(
            "--tls-certificate", str(self.certificate), "--tls-key", str(self.key), "--token-file", str(self.tokens),
            tls=context_for(self.first[0], self.second[0]))
        self.addCleanup(self.server.remove)
        self.server.account("a")
        self.token, _ = self.server.token("a")
        self.server.start()

    def install(self, certificate, key):
        self.certificate.write_bytes(certificate.read_bytes())
        self.key.unlink(missing_ok=True)
        self.key.write_bytes(key.read_bytes())
        self.key.chmod(0o600)

    def shown(self):
        with self.server.connect() as connection:
            return ssl.DER_cert_to_PEM_cert(connection.getpeercert(True)).strip()

    def test_both_versions_and_no_older_one(self):
        self.assertEqual(self.server.post([sample(1)], self.token).json["accepted"], 1)
        for version, expected in [(ssl.TLSVersion.TLSv1_3, "TLSv1.3"), (ssl.TLSVersion.TLSv1_2, "TLSv1.2")]:
            context = context_for(self.first[0])
            context.minimum_version = context.maximum_version = version
            with socket.create_connection(("127.0.0.1", self.server.port), 30) as plain:
                with context.wrap_socket(plain, server_hostname="localhost") as connection:
                    self.assertEqual(connection.version(), expected)
                    cipher = connection.cipher()[0]
                    self.assertTrue("GCM" in cipher or "CHACHA" in cipher or "CCM" in cipher, cipher)
        # Python's own OpenSSL may refuse the old versions by itself; its command line can be told not to.
        for version in ("-tls1", "-tls1_1"):
            done = subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{self.server.port}", version, "-cipher", "ALL:@SECLEVEL=0"],
                input=b"", capture_output=True, timeout=30)
            self.assertNotEqual(done.returncode, 0, version)
        for cipher in ("AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA"):
            done = subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{self.server.port}", "-tls1_2", "-cipher",
                 cipher + ":@SECLEVEL=0"], input=b"", capture_output=True, timeout=30)
            self.assertNotEqual(done.returncode, 0, cipher)

    def test_a_stranger_is_noticed(self):
        with self.assertRaises(ssl.SSLCertVerificationError):
            context = ssl.create_default_context()
            with socket.create_connection(("127.0.0.1", self.server.port), 30) as plain:
                context.wrap_socket(plain, server_hostname="localhost")

    def test_plain_http_gets_nothing(self):
        self.server.context, context = None, self.server.context
        try:
            answer = self.server.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertNotIn(b"HTTP/1.1 200", answer)
            for noise in (b"\x16\x03\x01" + bytes(500), bytes(1000), b"\x80\x2e\x01\x00\x02" + bytes(60)):
                self.server.raw(noise)
        finally:
            self.server.context = context
        self.assertEqual(self.server.ask("GET", "/healthz").status, 200)

    def reload(self, expected):
        before = self.server.text().count(expected)
        self.server.process.send_signal(signal.SIGHUP)
        until(lambda: self.server.text().count(expected) > before, 30, expected)

    def test_a_new_certificate_without_a_restart(self):
        first, second = (path.read_text().strip() for path in (self.first[0], self.second[0]))
        self.assertEqual(self.shown(), first)
        with self.server.http() as kept:
            self.assertEqual(self.server.ask("GET", "/healthz", connection=kept).status, 200)
            for certificate, text in [(self.second, second), (self.first, first)] * 10:
                self.install(*certificate)
                self.reload("reloaded")
                self.assertEqual(self.shown(), text)
            # A connection that is there goes on.
            self.assertEqual(self.server.ask("GET", "/healthz", connection=kept).status, 200)
        # What can't be used changes nothing.
        self.certificate.write_bytes(self.second[0].read_bytes())
        self.reload("reload refused")
        self.assertEqual(self.shown(), first)
        self.assertIn("the key is not the certificate's", self.server.text())
        self.install(*self.second)
        self.key.chmod(0o644)
        self.reload("reload refused")
        self.assertEqual(self.shown(), first)
        self.assertEqual(self.server.ask("GET", "/v1/devices", "file-token").status, 200)
        # The token file is read again too.
        self.key.chmod(0o600)
        self.tokens.write_text("other-token a\n")
        self.reload("reloaded")
        self.assertEqual(self.shown(), second)
        self.assertEqual(self.server.ask("GET", "/v1/devices", "file-token").status, 401)
        self.assertEqual(self.server.ask("GET", "/v1/devices", "other-token").status, 200)

    def test_handshakes_that_never_end(self):
        idle = [socket.create_connection(("127.0.0.1", self.server.port), 30) for _ in range(2000)]
        for number, connection in enumerate(idle):
            if number % 2:
                connection.sendall(b"\x16\x03\x01\x02\x00\x01")
        before = self.server.memory()
        print(f"\n  2000 handshakes that never end: {before:.0f} MiB")
        self.assertLess(before, 300)

        def serve(number):
            for step in range(5):
                reply = self.server.post([sample(1 + number * 10 + step)], self.token)
                self.assertEqual(reply.json["accepted"], 1)

        in_threads(8, serve)
        for connection in idle:
            connection.close()

    def test_a_stop_answers_what_is_in_hand(self):
        connections = [self.server.http() for _ in range(20)]
        for number, connection in enumerate(connections):
            connection.request("POST", "/v1/samples:batch", json.dumps(batch([sample(500 + number)])),
                               {"Authorization": f"Bearer {self.token}"})
        self.server.process.terminate()
        for connection in connections:
            self.assertIn(connection.getresponse().status, (200, 503))
            connection.close()
        self.assertEqual(self.server.stop(), 0)


class Refusals(unittest.TestCase):
    def refused(self, *options, status=78):
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run([PROGRAM, "--store", f"sqlite:{directory}/store", *options], capture_output=True,
                                  text=True, timeout=30)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_set_ups_that_would_be_unsafe_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            certificate, key = make_certificate(directory, "one")
            _, other = make_certificate(directory, "other")
            tokens = directory / "tokens"
            tokens.write_text("t\n")
            tokens.chmod(0o600)
            common = ["--token-file", str(tokens), "--listen"]
            self.assertIn("in the clear", self.refused(*common, "0.0.0.0:0"))
            tls = ["--tls-certificate", str(certificate), "--tls-key"]
            self.assertIn("the key is not the certificate's", self.refused(*common, "127.0.0.1:0", *tls, str(other)))
            self.assertIn("no such file", self.refused(*common, "127.0.0.1:0", *tls, "/none").lower())
            key.chmod(0o640)
            self.assertIn("chmod 600", self.refused(*common, "127.0.0.1:0", *tls, str(key)))
            self.assertIn("token create", self.refused("--listen", "127.0.0.1:0"))
            # With TLS it listens anywhere.
            key.chmod(0o600)
            server = Server("--token-file", str(tokens), *tls, str(key), tls=context_for(certificate), listen="0.0.0.0:0")
            self.addCleanup(server.remove)
            self.assertEqual(server.start().ask("GET", "/v1/devices", "t").status, 200)
