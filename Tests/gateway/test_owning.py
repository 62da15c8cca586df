"""Owning a band: who acks and when, pairing with and without a person, bonds that are lost, and forgetting."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from bed import GatewayCase


class OwnedBand(GatewayCase):
    @staticmethod
    def freed(stack, since=0):
        """Acks that freed something, from the given line of the log on."""
        return [ack for ack in stack.acks()[since:] if ack["freed"] > 0]

    def owned(self, ack, **options):
        options.setdefault("band_options", ["--records", "600", "--seed", "3", "--time-scale", "20"])
        stack = self.stack(bands=1, **options)
        stack.band_lines = {stack.bands[0]: [f"ack = {ack}"]}
        return stack

    def device(self, stack, name):
        """A property of the band's device at BlueZ; None where it knows no such device."""
        path = "/org/bluez/hci0/dev_" + stack.bands[0].replace(":", "_")
        done = subprocess.run(
            ["busctl", f"--address={stack.bus_address}", "get-property", "org.bluez", path, "org.bluez.Device1", name],
            capture_output=True, text=True, timeout=30, check=False)
        return None if done.returncode else done.stdout.split(maxsplit=1)[1].strip() == "true"

    def wait_until_read(self, stack, newest):
        stack.wait(lambda: any((band["next_seq"] or 0) > newest for band in stack.status()["bands"]),
                   f"all up to {newest} to be read", pause=0.3)

    def wait_until_freed(self, stack, newest):
        stack.wait(lambda: any(ack["seq"] >= newest for ack in self.freed(stack)), f"{newest} to be freed", pause=0.2)


class AckAfterUpload(OwnedBand):
    def test_the_band_keeps_its_copy_until_the_server_has_it(self):
        stack = self.owned("upload")
        stack.start()
        self.wait_until_freed(stack, 600)
        stack.server.stop()
        before = len(stack.acks())
        self.record(stack)
        self.wait_until_read(stack, 900)
        time.sleep(3)
        self.assertEqual(self.freed(stack, before), [], "stored here alone")
        self.assertEqual(stack.status()["bands"][0]["oldest_seq"], 601)
        stack.start_server()
        self.wait_until_freed(stack, 900)
        self.wait_until_calm(stack)
        self.assertIn("own, ack = upload", stack.command("status"))
        self.check_accounts(stack)

    def test_a_window_does_not_stop_at_what_the_server_lacks(self):
        stack = self.owned("upload", band_options=["--records", "900", "--window", "3", "--time-scale", "20"])
        stack.start_bus().start_server()
        stack.server.stop()
        stack.start_sim().start_daemon()
        self.wait_until_read(stack, 900)
        self.assertEqual(self.freed(stack), [])
        stack.start_server()
        self.wait_until_freed(stack, 900)
        self.check_accounts(stack)

    def test_what_can_not_be_read_is_freed_once_it_is_named_at_the_server(self):
        stack = self.owned("upload", band_options=[
            "--records", "600", "--time-scale", "20", "--faults", "badtype:0.05"])
        stack.start()
        self.wait_until_freed(stack, 600)
        self.assertTrue(self.gaps_on_server(stack))
        self.check_accounts(stack, allowed=["unreadable"])

    def test_a_band_that_fills_up_is_named_with_its_room(self):
        stack = self.owned("upload", band_options=["--records", "900", "--capacity", "1000", "--time-scale", "20"])
        stack.start_bus().start_server()
        stack.server.stop()
        stack.start_sim().start_daemon()
        self.wait_until_read(stack, 900)
        self.wait_for_problem(stack, "band_waits_for_server")
        text = stack.status()["bands"][0]["problem"]["text"]
        self.assertIn("keeps 900 records for the server, from seq 1 on", text)
        self.assertIn("room for 100 more", text)
        stack.start_server()
        self.wait_until_freed(stack, 900)
        stack.wait(lambda: "band_waits_for_server" not in self.problems(stack), "the room to come back", pause=0.3)


class Leases(OwnedBand):
    """With `ack = upload` as without: test_owner.py."""

    def test_who_never_owned_the_band_observes_while_the_server_is_away(self):
        stack = self.owned("upload")
        stack.start_bus().start_server()
        stack.server.stop()
        stack.start_sim().start_daemon()
        self.wait_until_read(stack, 600)
        time.sleep(2)
        self.assertEqual(self.freed(stack), [])
        self.assertIn("own, observing", stack.command("status"))
        stack.start_server()
        self.wait_until_freed(stack, 600)

    def test_a_band_that_another_gateway_has_taken_is_left_to_it_and_got_back(self):
        stack = self.owned("upload", upload_options=["lease_seconds = 3"])
        stack.start()
        self.wait_until_freed(stack, 600)
        stack.daemon.stop()
        stack.wait(lambda: self.lease(stack, "DELETE")["holder"] is None, "the hold to end", pause=0.3)
        self.assertEqual(self.lease(stack, "PUT", ttl=600)["holder"], "gw_other")
        acks = len(stack.acks())
        self.record(stack)
        stack.start_daemon()
        stack.wait(lambda: ((stack.status()["bands"] or [{}])[0].get("lease") or {}).get("ours") is False,
                   "the lease to be lost", pause=0.3)
        self.wait_until_read(stack, 900)
        time.sleep(2)
        self.assertEqual(self.freed(stack, acks), [])
        self.lease(stack, "DELETE")
        # It asks again by itself within minutes; a person need not wait.
        stack.daemon.stop()
        stack.start_daemon()
        self.wait_until_freed(stack, 900)


class AnyBand(OwnedBand):
    def test_a_band_that_is_owned_stays_so_where_any_is_taken_in(self):
        stack = self.stack(bands=1, modes={"any": None})
        stack.start()
        stack.wait(lambda: stack.status()["bands"], "the band to be taken in", pause=0.2)
        self.assertEqual(stack.status()["bands"][0]["mode"], "observe")
        # It is heard all the time, also while its keeper changes.
        for _ in range(5):
            stack.command("adopt", stack.bands[0], "--ack", "upload")
        self.wait_until_freed(stack, 600)
        band = stack.status()["bands"][0]
        self.assertEqual((band["mode"], band["ack"]), ("own", "upload"))
        # What was forgotten stays so, whenever it is heard, also after a restart.
        stack.command("forget", stack.bands[0])
        self.record(stack)
        for _ in range(2):
            seen = json.loads(stack.command("--json", "scan", "--seconds", "3"))
            self.assertIn(stack.bands[0], json.dumps(seen))
            band = stack.status()["bands"][0]
            self.assertEqual((band["adopted"], band["stored"]), (False, 600))
            stack.daemon.stop()
            stack.start_daemon()
            stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.2)
        stack.command("adopt", stack.bands[0], "--mode", "observe")
        self.wait_until_read(stack, 900)


class Terminal:
    """`bandferry` at a terminal: what it shows, and what is typed."""

    def __init__(self, stack, *arguments):
        self.master, slave = pty.openpty()
        self.text = ""
        self.popen = subprocess.Popen(
            [str(stack.binaries / "bandferry"), "--config", str(stack.configuration), *arguments],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": stack.bus_address, "TERM": "dumb"})
        os.close(slave)

    def read(self, pattern, deadline=60):
        """Waits until it shows something like this."""
        end = time.monotonic() + deadline
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, f"waited for {pattern!r}: {self.text}"
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.master, 4096).decode(errors="replace")
                except OSError:
                    assert re.search(pattern, self.text), f"it ended without {pattern!r}: {self.text}"
        return self.text

    def type(self, text):
        os.write(self.master, text.encode())

    def interrupt(self):
        """Ctrl-C: the session has no controlling terminal that would send it."""
        self.popen.send_signal(signal.SIGINT)

    def end(self, deadline=60):
        """Its exit status, all that it said read."""
        end = time.monotonic() + deadline
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    data = os.read(self.master, 4096)
                except OSError:
                    data = b""
                if not data and self.popen.poll() is not None:
                    break
                self.text += data.decode(errors="replace")
            elif self.popen.poll() is not None:
                break
        os.close(self.master)
        return self.popen.wait(10)


class Adopting(OwnedBand):
    def bed(self, pairing, *more):
        stack = self.stack(
            bands=1, modes={}, band_options=["--records", "300", "--seed", "3", "--time-scale", "20", "--passkey", "4711",
                                             "--pairing", pairing, *more])
        stack.start()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.2)
        return stack

    def assert_nothing_changed(self, stack):
        self.assertEqual(stack.status()["bands"], [])
        self.assertIn(self.device(stack, "Paired"), [None, False])
        self.assertIn(self.device(stack, "Trusted"), [None, False])

    def assert_adopted(self, stack):
        self.assertTrue(self.device(stack, "Bonded"))
        self.assertTrue(self.device(stack, "Trusted"))
        self.wait_until_calm(stack)
        self.assertEqual(stack.status()["bands"][0]["stored"], 300)

    def test_a_passkey_is_asked_for(self):
        stack = self.bed("passkey-entry")
        terminal = Terminal(stack, "adopt", stack.bands[0], "--ack", "upload")
        terminal.read("six digits")
        terminal.type("47 11\n")
        terminal.read("(?s)six digits.*six digits")
        terminal.type("004 711\n")
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assertIn("Paired.", terminal.text)
        self.assert_adopted(stack)
        self.assertEqual(stack.status()["bands"][0]["ack"], "upload")

    def test_a_wrong_passkey_is_said_and_nothing_is_adopted(self):
        stack = self.bed("passkey-entry")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        terminal.read("six digits")
        terminal.type("123456\n")
        self.assertNotEqual(terminal.end(), 0)
        self.assertIn("The passkey was wrong", terminal.text)
        self.assert_nothing_changed(stack)

    def test_a_passkey_is_shown(self):
        stack = self.bed("passkey-display")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assertIn("Enter 004 711 at the band.", terminal.text)
        self.assert_adopted(stack)

    def test_digits_are_compared(self):
        stack = self.bed("numeric-comparison")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        terminal.read("Does the band show 004 711")
        terminal.type("n\n")
        self.assertNotEqual(terminal.end(), 0)
        self.assertIn("declined", terminal.text)
        self.assert_nothing_changed(stack)
        terminal = Terminal(stack, "adopt", stack.bands[0])
        terminal.read("Does the band show 004 711")
        terminal.type("y\n")
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assert_adopted(stack)

    def test_just_works_asks_nothing(self):
        stack = self.bed("just-works")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assertIn("Paired.", terminal.text)
        self.assert_adopted(stack)
        stack.command("forget", stack.bands[0])
        self.assertIn(self.device(stack, "Paired"), [None, False], "the bond goes with it")
        self.assertIn(self.device(stack, "Trusted"), [None, False])
        stack.wait(lambda: not any(band["adopted"] for band in stack.status()["bands"]), "its rows to stay alone", pause=0.1)

    def test_a_band_that_wants_no_bond_gets_none(self):
        stack = self.bed("none")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assertIn("asks for no pairing", terminal.text)
        self.assertFalse(self.device(stack, "Paired"))
        self.wait_until_calm(stack)

    def test_a_bond_of_another_installation_that_the_band_forgot_is_replaced(self):
        stack = self.bed("just-works", "--bluez-version", "5.84")
        self.assertEqual(Terminal(stack, "adopt", stack.bands[0]).end(), 0)
        self.wait_until_calm(stack)
        stack.daemon.stop()
        stack.state = stack.directory / "new-card"
        stack.start_daemon()
        stack.wait(lambda: stack.status()["running"], "the new installation", pause=0.2)
        self.tell_band(stack, "LoseBond")
        self.assertTrue(self.device(stack, "Bonded"))
        terminal = Terminal(stack, "adopt", stack.bands[0])
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assertIn("Paired.", terminal.text)
        self.record(stack, 10)
        self.wait_until_calm(stack)

    def bonded_by_another(self, *more):
        """The band has a sound bond with this host, which is neither trusted nor adopted, as after `bluetoothctl pair`."""
        stack = self.bed("just-works", *more)
        self.assertEqual(Terminal(stack, "adopt", stack.bands[0]).end(), 0)
        self.wait_until_calm(stack)
        stack.daemon.stop()
        stack.state = stack.directory / "new-card"
        stack.start_daemon()
        stack.wait(lambda: stack.status()["running"], "the new installation", pause=0.2)
        subprocess.run(
            ["busctl", f"--address={stack.bus_address}", "set-property", "org.bluez",
             "/org/bluez/hci0/dev_" + stack.bands[0].replace(":", "_"), "org.bluez.Device1", "Trusted", "b", "false"],
            check=True, capture_output=True, timeout=30)
        return stack

    def assert_bond_is_as_before(self, stack):
        self.assertEqual(stack.status()["bands"], [])
        self.assertTrue(self.device(stack, "Paired"))
        self.assertFalse(self.device(stack, "Trusted"))
        self.tell_band(stack, "SetFaults", "s", "")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assertIn("bond", terminal.text)
        self.assertNotIn("Paired.", terminal.text)
        self.record(stack, 10)
        self.wait_until_calm(stack)

    def test_a_connection_that_breaks_costs_no_bond(self):
        stack = self.bonded_by_another()
        self.tell_band(stack, "SetFaults", "s", "connectfails")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        self.assertNotEqual(terminal.end(), 0)
        self.assertIn("each connection breaks", terminal.text)
        self.assertIn("adopt --no-pair", terminal.text)
        self.assertNotIn("The old bond is gone", terminal.text)
        self.assert_bond_is_as_before(stack)

    def test_an_interrupt_costs_no_bond(self):
        stack = self.bonded_by_another()
        self.tell_band(stack, "SetFaults", "s", "connecthangs")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        terminal.read("Connect")
        terminal.interrupt()
        self.assertEqual(terminal.end(), 1)
        self.assertIn("given up; nothing was changed", terminal.text)
        stack.wait(lambda: self.device(stack, "Trusted") is False, "the trust to be taken back", pause=0.2)
        self.assert_bond_is_as_before(stack)

    def test_an_interrupt_gives_it_up(self):
        stack = self.bed("passkey-entry")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        terminal.read("six digits")
        terminal.interrupt()
        self.assertEqual(terminal.end(), 1)
        self.assertIn("given up; nothing was changed", terminal.text)
        self.assert_nothing_changed(stack)
        # And the next one is not in its way.
        terminal = Terminal(stack, "adopt", stack.bands[0])
        terminal.read("six digits")
        terminal.type("004711\n")
        self.assertEqual(terminal.end(), 0, terminal.text)

    def test_a_client_that_is_killed_gives_it_up_too(self):
        stack = self.bed("passkey-entry")
        terminal = Terminal(stack, "adopt", stack.bands[0])
        terminal.read("six digits")
        terminal.popen.kill()
        terminal.end()
        stack.wait(lambda: self.device(stack, "Trusted") in [None, False], "the pairing to be undone", pause=0.2)
        self.assert_nothing_changed(stack)


class Bonds(OwnedBand):
    def bed(self, *more):
        stack = self.stack(bands=1, band_options=[
            "--records", "300", "--seed", "3", "--time-scale", "20", "--pairing", "just-works", *more])
        return stack

    def tries(self, stack):
        """The trouble with the bond, and how often it was tried."""
        return stack.gateway("SELECT bond_trouble, bond_tries, bond_rest_until FROM bands")[0]

    def assert_left_alone(self, stack, trouble):
        stack.wait(lambda: stack.status()["bands"], "the band", pause=0.2)
        stack.wait(lambda: self.tries(stack)[2] is not None, "the band to be left alone", deadline=120, pause=0.3)
        found = self.tries(stack)
        self.assertEqual(found[0], trouble)
        self.wait_for_problem(stack, trouble)
        time.sleep(4)
        self.assertEqual(self.tries(stack), found, "it is not tried any more")
        stack.daemon.stop()
        stack.start_daemon()
        self.wait_for_problem(stack, trouble)
        time.sleep(4)
        self.assertEqual(self.tries(stack), found, "a restart does not begin anew")
        return found

    def pair(self, stack):
        terminal = Terminal(stack, "pair", stack.bands[0])
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.record(stack, 50)
        self.wait_until_calm(stack)
        self.assertEqual(self.tries(stack), (None, 0, None))

    def test_a_bond_that_the_band_lost_is_named_and_mended(self):
        stack = self.bed("--bluez-version", "5.84")
        stack.start()
        self.wait_until_calm(stack)
        self.tell_band(stack, "LoseBond")
        self.assertEqual(self.assert_left_alone(stack, "bond_lost")[1], 3)
        self.assertTrue(self.device(stack, "Bonded"))
        self.pair(stack)

    def test_the_bond_of_a_band_that_is_away_stays(self):
        stack = self.bed("--bluez-version", "5.84")
        stack.start()
        self.wait_until_calm(stack)
        self.tell_band(stack, "SetPresent", "b", "false")
        # So long it counts as heard just now.
        time.sleep(27)
        terminal = Terminal(stack, "pair", stack.bands[0])
        self.assertNotEqual(terminal.end(deadline=120), 0, terminal.text)
        self.assertIn("was not heard, and nothing was changed", terminal.text)
        self.assertTrue(self.device(stack, "Bonded"))

    def test_where_bluez_does_not_say_so_it_is_doubted_and_mended(self):
        stack = self.bed()
        stack.start()
        self.wait_until_calm(stack)
        self.tell_band(stack, "LoseBond")
        self.assertEqual(self.assert_left_alone(stack, "bond_doubtful")[1], 5)
        self.pair(stack)

    def test_a_band_that_never_pairs_is_left_alone_until_somebody_asks(self):
        stack = self.bed("--faults", "pairfails")
        stack.start()
        self.assertEqual(self.assert_left_alone(stack, "never_paired")[1], 3)
        # A person who asks for a sync gets one try.
        stack.command("sync", stack.bands[0], check=False)
        self.assertEqual(self.tries(stack)[:2], ("never_paired", 4))

    def test_a_bond_that_somebody_removed_is_made_anew(self):
        stack = self.bed("--bluez-version", "5.84")
        stack.start()
        self.wait_until_calm(stack)
        self.tell_band(stack, "LoseBond")
        self.assert_left_alone(stack, "bond_lost")
        subprocess.run(
            ["busctl", f"--address={stack.bus_address}", "call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1",
             "RemoveDevice", "o", "/org/bluez/hci0/dev_" + stack.bands[0].replace(":", "_")],
            check=True, capture_output=True, timeout=30)
        self.record(stack, 50)
        self.wait_until_calm(stack)
        self.assertTrue(self.device(stack, "Bonded"))
