"""The metrics as a scraper reads them."""

import http.client
import re
import socket
import stat
import subprocess
import time

from clinic import ClinicCase
from prometheus_client.openmetrics.parser import text_string_to_metric_families


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(str(self.path))


class Metrics(ClinicCase):
    def scrape(self, connection):
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read().decode()
        self.assertEqual(answer.status, 200, text)
        self.assertEqual(answer.getheader("Content-Type"), "application/openmetrics-text; version=1.0.0; charset=utf-8")
        connection.close()
        # The parser refuses what the standard does not allow: no # EOF, a unit that is not in the name, bad escapes.
        return text, {family.name: family for family in text_string_to_metric_families(text)}

    def one(self, families, name, suffix="", **labels):
        values = [sample.value for sample in families[name].samples
                  if sample.name == name + suffix and labels.items() <= sample.labels.items()]
        self.assertEqual(len(values), 1, (name, values))
        return values[0]

    def test_a_socket_shows_every_figure_and_nobody(self):
        stack = self.stack(bands=2)
        path = stack.directory / "metrics.socket"
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        text = stack.configuration.read_text()
        for band, name in zip(stack.bands, ["Anna", "Bela"]):
            head = f"[band {band}]"
            text = text.replace(head, head + f"\nname = {name}\ndevice_id = {name.lower()}-1")
        stack.configuration.write_text(text + f"[metrics]\nlisten = unix:{path}\n")
        stack.daemon.start()
        self.synced(stack)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o660)
        text, families = self.scrape(UnixConnection(path))
        self.assertEqual(self.one(families, "bandferry_samples", "_total", device_id="anna-1"), 200)
        self.assertEqual(self.one(families, "bandferry_upload_pending", device_id="anna-1"), 0)
        self.assertGreaterEqual(self.one(families, "bandferry_commit_seconds", "_count"), 2)
        self.assertGreaterEqual(self.one(families, "bandferry_ack_seconds", "_count"), 1)
        self.assertGreaterEqual(self.one(families, "bandferry_connections", "_total", device_id="anna-1"), 1)
        self.assertGreaterEqual(self.one(families, "bandferry_radio_attempts", "_total"), 2)
        self.assertGreater(self.one(families, "bandferry_radio_seconds", "_total", use="link"), 0)
        self.assertGreater(self.one(families, "bandferry_database_bytes"), 4096)
        self.assertGreater(self.one(families, "bandferry_disk_free_bytes"), 0)
        self.assertLess(self.one(families, "bandferry_band_last_seen_age_seconds", device_id="anna-1"), 600)
        self.assertNotRegex(text, "Anna|Bela")
        # However it is written; an id that is made of the address, as without `device_id`, would be found here.
        for band in stack.bands:
            self.assertNotIn(re.sub("[^0-9a-f]", "", band.lower()), re.sub("[:_-]", "", text.lower()))
        self.assertEqual(self.one(families, "bandferry_mailbox_notifications", device_id="anna-1"), 0)
        self.assertGreaterEqual(self.one(families, "bandferry_mailbox_most_notifications"), 1)
        self.assertEqual(self.one(families, "bandferry_upload_lag_seconds", device_id="anna-1"), 0)
        # A failure is a condition, and counted.
        stack.sim.stop()
        stack.wait(
            lambda: "bluetoothd_gone" in self.scrape(UnixConnection(path))[0], "the condition", pause=0.3)
        _, families = self.scrape(UnixConnection(path))
        self.assertGreaterEqual(self.one(families, "bandferry_condition", code="bluetoothd_gone", severity="error"), 1)
        self.assertEqual(stack.daemon.stop(), 0)
        self.assertFalse(path.exists())

    def test_counters_go_on_when_the_database_is_opened_again(self):
        stack = self.stack()
        path = stack.directory / "metrics.socket"
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        stack.configuration.write_text(stack.configuration.read_text() + f"[metrics]\nlisten = unix:{path}\n")
        stack.daemon.start()
        self.synced(stack)

        def attempts():
            return self.one(self.scrape(UnixConnection(path))[1], "bandferry_radio_attempts", "_total")

        stack.wait(lambda: attempts() >= 8, "some syncs", deadline=120, pause=0.5)
        seen = [attempts()]
        # Under the daemon: what it does not read from the log or its cache is void.
        database = stack.state / "gateway.db"
        with open(database, "r+b") as file:
            for page in range(1, database.stat().st_size // 4096):
                file.seek(page * 4096)
                file.write(b"\x5a" * 512)

        def is_met():
            self.tell_band(stack, "Record", "u", "50")
            seen.append(attempts())
            return re.search("the database was damaged|the database can't be opened", stack.daemon.text())

        stack.wait(is_met, "the damage to be met", deadline=120, pause=0.5)
        for _ in range(6):
            seen.append(attempts())
            time.sleep(0.5)
        self.assertEqual(seen, sorted(seen))

    @staticmethod
    def tell_band(stack, method, *arguments):
        subprocess.run(
            ["busctl", f"--address={stack.bus_address}", "call", "org.bandferry.Simulator1",
             "/org/bandferry/simulator/dev_" + stack.bands[0].replace(":", "_"), "org.bandferry.Simulator1", method,
             *arguments], check=True, capture_output=True, timeout=30)

    def test_a_port_of_this_host(self):
        stack = self.stack()
        port = stack._free_port()
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        stack.configuration.write_text(stack.configuration.read_text() + f"[metrics]\nlisten = 127.0.0.1:{port}\n")
        stack.daemon.start()
        self.synced(stack)
        _, families = self.scrape(http.client.HTTPConnection("127.0.0.1", port, timeout=30))
        self.assertEqual(self.one(families, "bandferry_bands"), 1)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/other")
        self.assertEqual(connection.getresponse().status, 404)
        connection.close()

    def test_no_other_address_is_taken(self):
        stack = self.stack(upload=False)
        for listen in ["0.0.0.0:9100", "192.168.1.2:9100", "[::]:9100", "9100", "unix:metrics"]:
            stack.write_configuration()
            stack.configuration.write_text(stack.configuration.read_text() + f"[metrics]\nlisten = {listen}\n")
            done = stack.command("doctor", check=False)
            self.assertIn("listen", done.stdout, listen)
            self.assertEqual(done.returncode, 10, listen)

    def test_without_the_section_nobody_listens_and_no_library_is_loaded(self):
        stack = self.stack()
        stack.start()
        self.synced(stack)
        maps = open(f"/proc/{stack.daemon.popen.pid}/maps").read()
        self.assertNotIn("microhttpd", maps)


class StatusLine(ClinicCase):
    def test_systemd_is_told_how_it_goes(self):
        stack = self.stack()
        path = stack.directory / "notify"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(listener.close)
        listener.bind(str(path))
        listener.settimeout(60)
        stack.daemon.environment["NOTIFY_SOCKET"] = str(path)
        stack.start()
        lines = []

        def hear(wanted):
            while not any(wanted in line for line in lines):
                lines.extend(line for line in listener.recv(4096).decode().splitlines() if line.startswith("STATUS="))

        hear("STATUS=1 band, last sync")
        stack.server.stop()
        stack.sim.stop()
        hear("STATUS=bluetoothd_gone: ")
        self.assertNotIn(True, [first == second for first, second in zip(lines, lines[1:])], "the same line twice")
