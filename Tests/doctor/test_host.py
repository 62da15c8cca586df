"""This host, its disk, its clock, the configuration, the daemon and the server."""

import os
import pathlib
import subprocess
import sys
import unittest

from clinic import HERE, ClinicCase

SLOW_SYNC = """
#include <unistd.h>
int fdatasync(int file) { (void) file; usleep(MICROSECONDS); return 0; }
"""


class Health(ClinicCase):
    def test_a_healthy_gateway_has_nothing_wrong(self):
        stack = self.stack()
        stack.start()
        self.synced(stack)
        status, findings, answer = self.doctor(stack)
        self.assertEqual((status, answer["daemon"]), (0, "running"), findings)
        self.assertEqual(
            set(answer["checked"]),
            {"configuration", "daemon", "bluetooth", "rfkill", "bluetoothd_version", "bluetooth_configuration", "clock", "disk",
             "server"})
        text = stack.command("doctor", check=False).stdout
        self.assertIn("bandferryd is running.", text)

    def test_a_sync_goes_on_undisturbed(self):
        stack = self.stack(band_options=["--records", "4000", "--seed", "3", "--time-scale", "20"])
        stack.start()
        for _ in range(3):
            self.doctor(stack)
        self.synced(stack)
        self.assertEqual(stack.status()["bands"][0]["stored"], 4000)
        self.assertEqual(list(stack.state.glob(".doctor*")), [])


class Daemon(ClinicCase):
    def test_it_is_stopped(self):
        stack = self.stack()
        stack.start()
        self.synced(stack)
        stack.daemon.stop()
        findings = self.check(stack, "not_running", "error", "systemctl start bandferryd")
        self.assertEqual(set(findings), {"not_running"})
        self.assertIn("bandferryd is not running", stack.command("doctor", check=False).stdout)

    def test_it_was_never_started(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        self.check(stack, "not_running", "error", "systemctl start bandferryd")

    def test_there_is_no_bus(self):
        stack = self.stack(upload=False)
        stack.write_configuration()
        self.check(stack, "bus_unavailable", "error", "systemctl start dbus")

    def test_the_configuration_is_wrong(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        good = stack.configuration.read_text()
        stack.configuration.write_text(good.replace("sync_interval = 1", "sync_interval = soon"))
        self.check(stack, "configuration_invalid", "error", f"sudoedit {stack.configuration}", "sync_interval")
        stack.configuration.write_text(good.replace("sync_interval = 1", "sink_interval = 1"))
        self.check(stack, "configuration_ignored", "warning", f"sudoedit {stack.configuration}", "sink_interval")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user_is_told_what_only_root_sees(self):
        stack = self.stack()
        policy = stack.directory / "bus.conf"
        policy.write_text(policy.read_text().replace('<allow own="*"/>', '<allow own="*"/><allow user="*"/>'))
        stack.start()
        self.synced(stack)
        stack.daemon.stop()
        for path in [stack.directory, stack.files.root]:
            path.chmod(0o755)
        for parent in pathlib.Path(stack.binaries).resolve().parents:
            if not parent.stat().st_mode & 0o001:
                self.skipTest(f"{parent} is closed to others")
        findings = self.check(stack, "check_not_permitted", "notice", "sudo bandferry doctor", user="nobody")
        self.assertIn("not_running", findings)


class Host(ClinicCase):
    def test_the_clock_is_not_synchronised(self):
        stack = self.stack()
        (stack.files.root / "run/systemd/timesync/synchronized").unlink()
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        text = stack.configuration.read_text()
        stack.configuration.write_text(text.replace("trust = always", "trust = auto"))
        self.check(stack, "clock_unsynchronised", "warning", "timedatectl set-ntp true")

    def slow_disk(self, microseconds, words):
        stack = self.stack()
        stack.start()
        self.synced(stack)
        source = stack.directory / "slow.c"
        source.write_text(SLOW_SYNC.replace("MICROSECONDS", str(microseconds)))
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(source.with_suffix(".so")), str(source)], check=True)
        self.check(
            stack, "disk_slow", "warning", "better medium", words,
            environment={"LD_PRELOAD": str(source.with_suffix(".so"))})

    def test_a_slow_disk(self):
        self.slow_disk(300_000, "99th percentile")

    def test_a_disk_that_is_so_slow_that_few_writes_fit(self):
        self.slow_disk(1_000_000, "is very slow: only ")

    def test_little_space(self):
        stack = self.stack()
        stack.start()
        self.synced(stack)
        source = stack.directory / "small.c"
        source.write_text("""
            #include <sys/statvfs.h>
            #include <string.h>
            int statvfs(const char *path, struct statvfs *space) {
                (void) path;
                memset(space, 0, sizeof *space);
                space->f_frsize = 4096;
                space->f_bavail = 5000;
                return 0;
            }""")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(source.with_suffix(".so")), str(source)], check=True)
        self.check(
            stack, "space_gone", "error", "Free space on this file system at once", "20 MB are free",
            environment={"LD_PRELOAD": str(source.with_suffix(".so"))})


class Server(ClinicCase):
    def test_the_token_is_refused(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        (stack.directory / "gateway-token").write_text("wrong\n")
        self.check(stack, "authentication_failed", "error", "Put a valid gateway token into the token_file")

    def test_the_token_can_be_read_by_others(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        (stack.directory / "gateway-token").chmod(0o644)
        self.check(stack, "token_readable_by_others", "error", "chmod 600")

    def test_it_can_not_be_reached(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        stack.server.stop()
        stack.write_configuration()
        self.check(stack, "network_timeout", "warning", "Check the network and the url of [upload]", "could not be reached")

    def test_the_proxy_can_not_be_reached(self):
        # Nobody listens at the port of "discard"; the name is for the proxy to look up.
        stack = self.stack(upload_options=["proxy = http://127.0.0.1:9"])
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        text = stack.configuration.read_text()
        stack.configuration.write_text(text.replace(f"url = http://127.0.0.1:{stack.port}", "url = https://ingest.example.org"))
        self.check(stack, "proxy_unreachable", "warning", "Check the proxy of [upload]")

    def front(self, stack, begins, ends):
        """TLS before the server, with a certificate of these dates."""
        place = stack.directory

        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=place)

        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl("req", "-x509", *key, "-days", "20000", "-subj", "/CN=Test CA", "-keyout", "ca.key", "-out", "ca.pem")
        (place / "index").write_text("")
        (place / "serial").write_text("01")
        (place / "ca.conf").write_text(
            "[ca]\ndefault_ca = it\n[it]\ndatabase = index\nnew_certs_dir = .\ncertificate = ca.pem\nprivate_key = ca.key\n"
            "serial = serial\ndefault_md = sha256\npolicy = any\ncopy_extensions = copy\n[any]\ncommonName = supplied\n")
        openssl("req", "-new", *key, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "own.key",
                "-out", "own.request")
        openssl("ca", "-batch", "-notext", "-config", "ca.conf", "-startdate", begins, "-enddate", ends, "-in", "own.request",
                "-out", "own.pem")
        front = subprocess.Popen(
            [sys.executable, str(HERE.parent / "UplinkTests" / "tls_front.py"), "own.pem", "own.key", str(stack.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=place)

        def end():
            front.stdin.close()
            front.wait(30)
            front.stdout.close()

        self.addCleanup(end)
        port = int(front.stdout.readline())
        stack.write_configuration()
        text = stack.configuration.read_text().replace(
            f"url = http://127.0.0.1:{stack.port}", f"url = https://localhost:{port}\nca_file = {place}/ca.pem")
        stack.configuration.write_text(text)

    def test_a_certificate_that_has_ended(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        self.front(stack, "20200101000000Z", "20210101000000Z")
        self.check(stack, "certificate_time", "error", "renew the certificate", "ended on 2021-01-01")

    def test_a_clock_that_is_before_the_certificate(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        self.front(stack, "20980101000000Z", "20990101000000Z")
        (stack.files.root / "run/systemd/timesync/synchronized").unlink()
        text = stack.configuration.read_text()
        stack.configuration.write_text(text.replace("trust = always", "trust = auto"))
        self.check(stack, "host_clock_wrong", "error", "Set this machine's clock (timedatectl)", "begins on 2098-01-01")
