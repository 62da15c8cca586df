"""The daemon as a service: start, stop, lock, watchdog, bus, commands."""

import csv
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from bed import GatewayCase


class Life(GatewayCase):
    def test_sigterm_in_the_middle_of_a_history_disconnects_and_resumes(self):
        stack = self.stack(bands=1, band_options=["--records", "6000", "--seed", "4", "--rate", "100"])
        stack.start()
        stack.wait(lambda: len(stack.acks()) > 2, "the history to come in")
        self.assertEqual(stack.daemon.stop(), 0)
        connected = subprocess.run(
            ["busctl", f"--address={stack.bus_address}", "get-property", "org.bluez",
             "/org/bluez/hci0/dev_" + stack.bands[0].replace(":", "_"), "org.bluez.Device1", "Connected"],
            capture_output=True, text=True, check=True).stdout
        self.assertEqual(connected.strip(), "b false")
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_sigterm_during_a_connect_that_hangs_ends_it(self):
        stack = self.stack(bands=1, band_options=["--records", "600", "--seed", "3", "--faults", "connecthangs"])
        stack.start()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.3)
        time.sleep(4)
        self.assertEqual(stack.daemon.stop(deadline=25), 0)

    def test_a_stop_that_comes_before_anybody_listens_is_heeded(self):
        def stop_early():
            # It waits, blocked, until the program is there; a program that ignores it for a moment loses it.
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
            os.kill(os.getpid(), signal.SIGTERM)

        stack = self.stack()
        stack.start()
        self.wait_until_calm(stack)
        for process in [stack.daemon, stack.server, stack.sim]:
            with self.subTest(process.name):
                self.assertEqual(process.stop(), 0)
                again = subprocess.Popen(
                    process.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    env={**os.environ, **process.environment}, preexec_fn=stop_early)
                self.addCleanup(again.kill)
                self.assertEqual(again.wait(60), 0)

    def test_what_only_the_upload_needs_is_loaded_for_it_alone(self):
        def libraries(stack):
            mapped = pathlib.Path(f"/proc/{stack.daemon.popen.pid}/maps").read_text()
            return {name for name in ["libcurl", "libssl", "libldap"] if f"/{name}" in mapped}

        stack = self.stack(bands=1, upload=False)
        stack.start()
        self.wait_until_calm(stack, uploaded=False)
        self.assertEqual(libraries(stack), set())
        # The same band, now with a server.
        self.assertEqual(stack.daemon.stop(), 0)
        stack.uploads = True
        stack.start_server().start_daemon()
        self.wait_until_calm(stack)
        self.assertIn("libcurl", libraries(stack))
        self.check_accounts(stack)

    def test_one_daemon_a_state_directory(self):
        stack = self.stack(bands=1)
        stack.start()
        stack.wait(lambda: (stack.state / "gateway.db").exists(), "the first daemon")
        second = subprocess.run(stack.daemon.command, capture_output=True, text=True, timeout=30,
                                env={**os.environ, **stack.daemon.environment})
        self.assertEqual(second.returncode, 75)
        self.assertIn("another daemon", second.stderr)
        self.assertIn(str(stack.state), second.stderr)

    def test_a_bad_configuration_names_file_line_and_key(self):
        stack = self.stack(bands=1)
        stack.configuration.write_text("[gateway]\nstate_directory = /tmp/x\nsync_interval = soon\nmax_links = 0\n")
        done = subprocess.run(stack.daemon.command, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 78)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2, "an error a line")
        for part in [str(stack.configuration), "3", "sync_interval"]:
            self.assertIn(part, lines[0])
        self.assertIn("max_links", lines[1])

    def test_systemd_is_told_and_the_watchdog_is_fed_only_while_all_parts_answer(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server().start_sim()
        path = str(stack.directory / "notify")
        heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(heard.close)
        heard.bind(path)
        heard.settimeout(30)
        stack.daemon.environment.update(NOTIFY_SOCKET=path, WATCHDOG_USEC="900000")
        stack.start_daemon()
        texts = ""
        while "READY=1" not in texts or texts.count("WATCHDOG=1") < 3:
            texts += heard.recv(4096).decode() + "\n"
        # The bus does not answer: the process lives, and says nothing.
        stack.bus.popen.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        heard.settimeout(0)
        try:
            while True:
                heard.recv(4096)
        except BlockingIOError:
            pass
        heard.settimeout(2)
        with self.assertRaises(TimeoutError):
            while True:
                self.assertNotIn("WATCHDOG=1", heard.recv(4096).decode())
        stack.bus.popen.send_signal(signal.SIGCONT)
        heard.settimeout(30)
        while "WATCHDOG=1" not in heard.recv(4096).decode():
            pass
        stack.daemon.popen.terminate()
        while "STOPPING=1" not in heard.recv(4096).decode():
            pass

    def test_a_killed_daemons_link_is_taken_over(self):
        stack = self.stack(bands=1, band_options=["--records", "6000", "--seed", "4", "--rate", "100"])
        stack.start()
        stack.wait(lambda: len(stack.acks()) > 2, "the history to come in")
        stack.daemon.kill()
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)


class Bus(GatewayCase):
    def test_without_the_policy_it_syncs_on_and_says_which_file_to_install(self):
        stack = self.stack(bands=1)
        configuration = stack.directory / "bus.conf"
        configuration.write_text(configuration.read_text().replace(
            '<allow own="*"/>', '<allow own="*"/><deny own="org.bandferry"/>'))
        stack.start()
        stack.wait(lambda: "org.bandferry.conf" in stack.daemon.text(), "the file's name in the log")
        stack.wait(lambda: (stack.state / "gateway.db").exists(), "the database")
        self.wait_until_calm(stack)
        answer = stack.status()
        self.assertTrue(answer["running"])
        self.assertIn("org.bandferry.conf", json.dumps(answer["problems"]))
        self.assertEqual(len(stack.command("export", "--format", "jsonl").splitlines()), 600)

    def test_a_bluetoothd_that_comes_late_and_goes_is_waited_for(self):
        stack = self.stack(bands=2)
        stack.start_bus().start_server().start_daemon()
        self.wait_for_problem(stack, "bluetoothd_gone")
        stack.start_sim()
        self.wait_until_calm(stack)
        stack.sim.kill()
        self.wait_for_problem(stack, "bluetoothd_gone")
        stack.start_sim()
        self.wait_until_calm(stack)
        self.check_accounts(stack)


class Commands(GatewayCase):
    def test_a_band_is_found_adopted_synced_and_forgotten_by_command(self):
        stack = self.stack(bands=2, modes={})
        stack.start()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.3)
        seen = json.loads(stack.command("--json", "scan", "--seconds", "2"))
        self.assertIn(stack.bands[1], json.dumps(seen))
        stack.command("adopt", stack.bands[1])
        stack.command("sync", stack.bands[1])
        self.wait_until_calm(stack)
        self.assertEqual([band["address"] for band in stack.status()["bands"]], [stack.bands[1]])
        stack.command("forget", stack.bands[1])
        rows = stack.command("export", "--format", "jsonl").splitlines()
        self.assertEqual(len(rows), 600, "its rows are kept")
        self.assertEqual(stack.command("sync", stack.bands[0], check=False).returncode, 5)

    def test_a_forgotten_band_that_never_gave_anything_is_gone(self):
        stack = self.stack(bands=2, modes={})
        stack.start()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.3)
        stack.command("adopt", stack.bands[1])
        stack.command("sync", stack.bands[1])
        far = "F0:F1:F2:F3:F4:99"
        stack.command("adopt", far, "--name", "Far")
        stack.wait(lambda: len(stack.status()["bands"]) == 2, "the bands in the status", pause=0.3)
        self.assertIn("Far: This gateway has never met this band.", stack.command("status"))
        stack.command("forget", "Far")
        stack.command("forget", stack.bands[1])
        stack.wait(lambda: [band["address"] for band in stack.status()["bands"]] == [stack.bands[1]],
                   "the band without rows to go", pause=0.3)
        self.assertEqual(stack.status()["bands"][0]["stored"], 600)
        self.assertEqual(stack.command("gaps", "Far", check=False).returncode, 5)

    def test_a_band_that_the_file_names_no_longer_and_that_was_never_met_is_gone(self):
        stack = self.stack(bands=1)
        near, far = stack.bands[0], "F0:F1:F2:F3:F4:99"
        stack.modes[far] = "own"
        stack.start()
        stack.wait(lambda: len(stack.status()["bands"]) == 2, "the bands in the status", pause=0.3)
        stack.wait(lambda: {band["address"]: band["stored"] for band in stack.status()["bands"]}[near] == 600, "the history",
                   pause=0.3)
        self.assertEqual(stack.daemon.stop(), 0)
        stack.modes.clear()
        stack.start_daemon()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.3)
        stack.wait(lambda: [(band["address"], band["adopted"]) for band in stack.status()["bands"]] == [(near, False)],
                   "the band without rows to go", pause=0.3)

    def test_no_two_bands_share_a_device_id(self):
        stack = self.stack(bands=2, modes={})
        stack.start()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.3)
        stack.command("adopt", stack.bands[0], "--device-id", "anna")
        refused = stack.command("adopt", stack.bands[1], "--device-id", "anna", check=False)
        self.assertEqual(refused.returncode, 8)
        self.assertIn(stack.bands[0], refused.stderr)
        stack.wait(lambda: stack.status()["bands"], "the band in the status", pause=0.3)
        self.assertEqual([band["address"] for band in stack.status()["bands"]], [stack.bands[0]])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_who_may_not_read_the_configuration_is_told_so(self):
        stack = self.stack(bands=1)
        stack.write_configuration()
        stack.directory.chmod(0o755)
        program = pathlib.Path(stack.binaries).resolve() / "bandferry"
        for parent in program.parents:
            if not parent.stat().st_mode & 0o001:
                self.skipTest(f"{parent} is closed to others")
        command = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups",
                   program, "--config", stack.configuration, "gaps"]
        for path, mode in [(stack.configuration, 0o600), (stack.directory, 0o700)]:
            path.chmod(mode)
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(f"may not read {stack.configuration}", done.stderr)

    def test_a_band_of_the_file_is_not_forgotten_by_command(self):
        stack = self.stack(bands=1)
        stack.start()
        self.wait_until_calm(stack)
        done = stack.command("forget", stack.bands[0], check=False)
        self.assertEqual(done.returncode, 6)
        line = 1 + stack.configuration.read_text().splitlines().index(f"adopt = {stack.bands[0]}")
        self.assertIn(f"{line}", done.stderr)
        self.assertIn(str(stack.configuration), done.stderr)

    def test_a_band_taken_out_of_the_file_keeps_its_rows_and_uploads_them(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server()
        stack.server.stop()
        stack.start_sim().start_daemon()
        self.wait_until_calm(stack, uploaded=False)
        stack.daemon.stop()
        stack.modes = {}
        stack.start_server().start_daemon()
        stack.wait(lambda: stack.query(stack.store, "SELECT count(*) FROM samples")[0][0] == 600,
                   "its rows on the server", pause=0.3)

    def test_an_observed_band_is_stored_and_uploaded_and_never_acked(self):
        stack = self.stack(bands=2, modes={"any": "observe"}, band_options=[
            "--records", "600", "--seed", "3", "--time-scale", "20", "--window", "4"])
        stack.start()
        stack.wait(lambda: len(stack.status()["bands"]) == 2, "both bands", pause=0.3)
        self.wait_until_calm(stack)
        self.assertEqual({band["mode"] for band in stack.status()["bands"]}, {"observe"})
        self.assertEqual(stack.acks(), [])
        self.check_accounts(stack)

    def test_sync_without_ack_acks_nothing(self):
        stack = self.stack(bands=1, gateway_options=["sync_interval = 3600"])
        stack.start()
        self.wait_until_calm(stack)
        acks = len(stack.acks())
        stack.command("sync", "--no-ack")
        self.assertEqual(len(stack.acks()), acks)
        stack.command("sync")
        self.assertGreater(len(stack.acks()), acks, "the last ack is repeated after each connect")

    def test_export_is_what_the_band_recorded(self):
        stack = self.stack(bands=1)
        stack.start()
        self.wait_until_calm(stack)
        stack.daemon.stop()
        rows = [json.loads(line) for line in stack.command("export", "--format", "jsonl").splitlines()]
        fields = ["device_id", "ring", "type", "seq", "value", "recorded_at", "tz_offset_min", "version", "provenance",
                  "band_time_ms", "clock_id", "flags", "time_bound_ms", "time_uncertain", "offset_source", "person"]
        self.assertTrue(all(list(row) == fields for row in rows))
        truth = [line for line in stack.truth() if line["kind"] == "record"]
        given = ["ring", "type", "seq", "value", "tz_offset_min", "band_time_ms", "clock_id", "flags"]
        self.assertEqual(sorted([row[name] for name in given] for row in rows),
                         sorted([line[name] for name in given] for line in truth))
        table = list(csv.DictReader(stack.command("export", "--format", "csv").splitlines()))
        self.assertEqual(list(table[0]), fields)
        self.assertEqual([row["seq"] for row in table], [str(row["seq"]) for row in rows])


class OtherGateways(GatewayCase):
    def test_a_database_restored_from_an_old_card_says_so_and_sends_nothing_twice(self):
        stack = self.stack(bands=1)
        stack.start()
        self.wait_until_calm(stack)
        stack.daemon.stop()
        old = stack.directory / "old.db"
        shutil.copy(stack.state / "gateway.db", old)
        stack.sim.stop()
        stack.sim.command += ["--record-every", "50"]
        stack.start_sim().start_daemon()
        stack.wait(lambda: stack.query(stack.store, "SELECT count(*) FROM samples")[0][0] > 640, "more rows", pause=0.3)
        stack.sim.stop()
        del stack.sim.command[-2:]
        stack.start_sim()
        self.wait_until_calm(stack)
        stack.daemon.stop()
        shutil.copy(old, stack.state / "gateway.db")
        stack.start_daemon()
        stack.wait(lambda: "restored from an old copy" in stack.daemon.text(), "that it says so")
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_what_was_acked_and_lost_with_a_card_is_named(self):
        stack = self.stack(bands=1)
        stack.start()
        self.wait_until_calm(stack)
        stack.daemon.stop()
        old = stack.directory / "old.db"
        shutil.copy(stack.state / "gateway.db", old)
        stack.server.stop()
        stack.sim.stop()
        stack.sim.command += ["--record-every", "50"]
        stack.start_sim().start_daemon()
        stack.wait(lambda: stack.acks()[-1]["seq"] > 640, "acks of what never went up")
        stack.daemon.stop()
        stack.sim.stop()
        del stack.sim.command[-2:]
        shutil.copy(old, stack.state / "gateway.db")
        stack.start_server().start_sim().start_daemon()
        stack.wait(lambda: stack.query(stack.store, "SELECT count(*) FROM gaps")[0][0] > 0, "the gap on the server",
                   pause=0.3)
        self.wait_until_calm(stack)
        self.check_accounts(stack, allowed=["freed_elsewhere", "storage_lost"])

    def test_a_second_gateway_goes_on_where_the_first_one_stopped(self):
        stack = self.stack(bands=1, band_options=["--records", "6000", "--seed", "4", "--rate", "100"])
        stack.start()
        stack.wait(lambda: len(stack.acks()) > 2, "the history to come in")
        stack.wait(lambda: stack.query(stack.store, "SELECT count(*) FROM samples")[0][0] > 0, "an upload", pause=0.3)
        stack.daemon.stop()
        # The first one's rows go up, its band comes no more.
        stack.modes = {}
        stack.start_daemon()
        stack.wait(lambda: stack.status()["bands"] and not any(
            band["pending"] for band in stack.status()["bands"]), "its rows", pause=0.3)
        stack.daemon.stop()
        stack.state = stack.directory / "second"
        stack.modes = {stack.bands[0]: "own"}
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)
