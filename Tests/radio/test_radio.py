"""A Bluetooth that misbehaves: restarts, wedges, adapters that go and come back. The data comes through in the end, and the log
says what was done for it."""

import re
import subprocess

from bed import GatewayCase
from clinic import ForeignProgram
from stack import address

SLOW = ["--records", "3000", "--seed", "3", "--time-scale", "20", "--window", "8", "--rate", "100"]


def control(stack, target, method, *arguments):
    """Calls the simulator's own interface of the adapter or of a band; what it prints."""
    path, interface = "/org/bandferry/simulator/" + target, "org.bandferry.Simulator1"
    if target == "adapter":
        interface = "org.bandferry.SimulatedAdapter1"
    return subprocess.run(
        ["dbus-send", f"--bus={stack.bus_address}", "--dest=org.bandferry.Simulator1", "--print-reply", path,
         f"{interface}.{method}", *arguments], check=True, timeout=60, capture_output=True, text=True).stdout


def adapter_status(stack):
    """What the adapter has done, as the simulator counts it."""
    answer = control(stack, "adapter", "Status")
    return {name: int(value) for name, value in re.findall(r'string "(\w+)"\s+variant\s+\w+ (\d+)', answer)}


def remedies(stack):
    """Remedies that the daemon took, in order."""
    return re.findall(r"Bluetooth misbehaves \(.*remedy=([a-z_]+)", stack.daemon.text())


class RadioCase(GatewayCase):
    def started_in_mid_stream(self, **options):
        """A stack in the middle of a band's history."""
        options.setdefault("band_options", SLOW)
        stack = self.stack(bands=1, **options)
        stack.start()
        stack.wait(lambda: any(line["freed"] for line in stack.acks()), "the first ack")
        return stack

    def finish(self, stack):
        self.wait_until_calm(stack)
        self.check_accounts(stack)


class Bluetoothd(RadioCase):
    def test_a_restart_in_mid_stream(self):
        stack = self.started_in_mid_stream()
        control(stack, "adapter", "Restart")
        stack.wait(lambda: "bluetoothd is back" in stack.daemon.text(), "the new bluetoothd", deadline=120)
        self.finish(stack)
        self.assertNotIn("power_cycle", remedies(stack))

    def test_one_that_hangs_is_restarted_where_that_is_allowed(self):
        stack = self.started_in_mid_stream(
            band_options=SLOW + ["--systemd"], gateway_options=["sync_interval = 1", "restart_bluetooth = yes"])
        control(stack, "adapter", "Wedge", "boolean:true")
        stack.wait(lambda: adapter_status(stack)["Restarts"] > 0, "systemd to be asked", deadline=300, pause=1)
        self.finish(stack)
        self.assertIn("restart_service", remedies(stack))

    def test_a_stop_while_it_hangs_ends_in_time_and_does_nothing_about_it(self):
        # In mid-stream: the band is told to end, then its link is, and neither call is answered.
        stack = self.started_in_mid_stream(
            band_options=SLOW + ["--systemd"], gateway_options=["sync_interval = 1", "restart_bluetooth = yes"])
        control(stack, "adapter", "Wedge", "boolean:true")
        # systemd waits 30 s.
        self.assertEqual(stack.daemon.stop(deadline=25), 0)
        self.assertEqual(remedies(stack), [])
        control(stack, "adapter", "Wedge", "boolean:false")
        shown = adapter_status(stack)
        self.assertEqual((shown["Powered"], shown["PowerCycles"], shown["Restarts"]), (1, 0, 0))
        stack.start_daemon()
        self.finish(stack)

    def test_what_is_done_about_a_silent_one_is_counted(self):
        stack = self.stack(bands=1, band_options=SLOW + ["--systemd"],
                           gateway_options=["sync_interval = 1", "restart_bluetooth = yes"])
        stack.start_bus().start_server().start_sim()
        # Before the daemon has seen any adapter: none is concerned.
        control(stack, "adapter", "Wedge", "boolean:true")
        stack.start_daemon()
        stack.wait(lambda: adapter_status(stack)["Restarts"] > 0, "systemd to be asked", deadline=300, pause=1)
        self.finish(stack)
        self.assertRegex(stack.daemon.text(), r"the radio in all \(.*restart_service=1")

    def test_systemd_that_refuses_is_named(self):
        # Nobody is systemd on this bus.
        stack = self.started_in_mid_stream(gateway_options=["sync_interval = 1", "restart_bluetooth = yes"])
        control(stack, "adapter", "Wedge", "boolean:true")
        stack.wait(lambda: "bluetooth_restart_refused" in self.problems(stack), "the problem", deadline=300, pause=1)
        control(stack, "adapter", "Wedge", "boolean:false")
        self.finish(stack)


class Adapter(RadioCase):
    def test_it_goes_and_comes_back_under_another_name(self):
        stack = self.started_in_mid_stream()
        control(stack, "adapter", "Unplug")
        self.wait_for_problem(stack, "adapter_off")
        control(stack, "adapter", "Plug", "uint32:3")
        self.finish(stack)
        self.assertIn("adapter=hci3", stack.daemon.text())

    def test_a_named_one_is_found_by_its_address(self):
        stack = self.started_in_mid_stream(gateway_options=["sync_interval = 1", "adapter = 00:AA:01:00:00:23"])
        control(stack, "adapter", "Unplug")
        control(stack, "adapter", "Plug", "uint32:1")
        self.finish(stack)

    def test_rfkill_is_waited_out(self):
        stack = self.started_in_mid_stream()
        control(stack, "adapter", "Block", "boolean:true")
        self.wait_for_problem(stack, "adapter_off")
        control(stack, "adapter", "Block", "boolean:false")
        subprocess.run(
            ["busctl", f"--address={stack.bus_address}", "set-property", "org.bluez", "/org/bluez/hci0",
             "org.bluez.Adapter1", "Powered", "b", "true"], check=True, timeout=60)
        self.finish(stack)

    def test_discovery_that_is_stuck_is_freed_by_switching_the_adapter_off_and_on(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server().start_sim()
        control(stack, "adapter", "StickDiscovery", "boolean:true")
        stack.start_daemon()
        self.finish(stack)
        self.assertEqual(remedies(stack)[:2], ["stop_discovery", "power_cycle"])
        self.assertRegex(stack.daemon.text(), r"the radio in all \(.*power_cycle=1")

    def started_with_stuck_discovery(self, refusals):
        """The daemon switches the adapter off and on, and so many tries to switch it on fail."""
        stack = self.stack(bands=1)
        stack.start_bus().start_server().start_sim()
        control(stack, "adapter", "StickDiscovery", "boolean:true")
        control(stack, "adapter", "RefusePowerOn", f"uint32:{refusals}")
        stack.start_daemon()
        return stack

    def wait_until_off(self, stack):
        stack.wait(lambda: adapter_status(stack)["Powered"] == 0, "the adapter to be off", deadline=120, pause=0.1)

    def test_one_that_can_not_be_switched_on_at_once_is_not_left_off(self):
        stack = self.started_with_stuck_discovery(refusals=2)
        self.finish(stack)
        self.assertIn("can't be switched on; it is tried again", stack.daemon.text())
        self.assertIn("is on again", stack.daemon.text())

    def test_one_that_stays_off_is_named(self):
        stack = self.started_with_stuck_discovery(refusals=1000)
        self.wait_for_problem(stack, "bluetooth_stuck")
        control(stack, "adapter", "RefusePowerOn", "uint32:0")
        self.finish(stack)

    def test_a_daemon_that_is_killed_with_one_switched_off_switches_it_on_at_its_next_start(self):
        stack = self.started_with_stuck_discovery(refusals=1000)
        self.wait_until_off(stack)
        stack.daemon.kill()
        owed = "SELECT count(*) FROM meta WHERE key LIKE 'power_owed/%'"
        self.assertEqual(stack.gateway(owed)[0][0], 1)
        control(stack, "adapter", "RefusePowerOn", "uint32:0")
        stack.start_daemon()
        self.finish(stack)
        self.assertEqual(stack.gateway(owed)[0][0], 0)

    def test_a_stop_leaves_none_off(self):
        stack = self.started_with_stuck_discovery(refusals=1000)
        self.wait_until_off(stack)
        control(stack, "adapter", "RefusePowerOn", "uint32:0")
        self.assertEqual(stack.daemon.stop(), 0)
        self.assertEqual(adapter_status(stack)["Powered"], 1)

    def wait_until_it_was_off(self, stack):
        # It may be on again before anybody looks.
        stack.wait(lambda: adapter_status(stack)["PowerCycles"] > 0, "the adapter to go off", deadline=120, pause=0.3)

    def test_one_that_goes_off_long_after_it_was_told_to_is_not_left_off(self):
        # Longer than the daemon waits for it: what it says to switch it on meanwhile is refused.
        stack = self.stack(bands=1)
        stack.start_bus().start_server().start_sim()
        control(stack, "adapter", "StickDiscovery", "boolean:true")
        control(stack, "adapter", "SlowPowerOff", "uint32:20000")
        stack.start_daemon()
        self.wait_until_it_was_off(stack)
        self.finish(stack)
        self.assertIn("is on again", stack.daemon.text())

    def test_one_that_a_hanging_bluetoothd_switches_off_when_it_wakes_is_not_left_off(self):
        stack = self.started_in_mid_stream()
        control(stack, "adapter", "SlowPowerOff", "uint32:500")
        control(stack, "adapter", "Hang", "boolean:true")
        stack.wait(lambda: "a remedy failed (remedy=power_cycle" in stack.daemon.text(), "it to be given up", deadline=300)
        self.assertEqual(adapter_status(stack)["Powered"], 1)
        control(stack, "adapter", "Hang", "boolean:false")
        self.wait_until_it_was_off(stack)
        self.finish(stack)
        self.assertIn("is on again", stack.daemon.text())

    def started_with_stops_refused(self, times):
        """Each band is heard by a discovery that goes on, so that no look is due that would end it."""
        stack = self.stack(bands=1, gateway_options=["sync_interval = 900"])
        stack.start_bus().start_server().start_sim()
        control(stack, "adapter", "Answer", "string:StopDiscovery", "string:org.bluez.Error.InProgress",
                "string:Operation already in progress", f"uint32:{times}")
        stack.start_daemon()
        stack.wait(lambda: "discovery could not be stopped" in stack.daemon.text(), "a refusal", deadline=120, pause=0.3)
        return stack

    def finish_in_silence(self, stack):
        stack.wait(lambda: adapter_status(stack)["Discovering"] == 0, "discovery to end", deadline=120, pause=0.3)
        stack.wait(lambda: self.is_calm(stack), "the band to be synced", deadline=120, pause=0.3)
        self.check_accounts(stack)

    def test_discovery_that_can_not_be_stopped_at_once_is_stopped_soon(self):
        stack = self.started_with_stops_refused(times=1)
        self.finish_in_silence(stack)
        self.assertEqual(remedies(stack), [])

    def test_discovery_that_is_not_stopped_again_and_again_is_helped(self):
        stack = self.started_with_stops_refused(times=1000)
        self.finish_in_silence(stack)
        self.assertIn("power_cycle", remedies(stack))

    def test_a_call_that_is_never_answered(self):
        stack = self.stack(bands=1, band_options=[
            "--records", "600", "--seed", "3", "--time-scale", "20", "--adapter-faults", "neveranswer:StartDiscovery@1"])
        stack.start()
        self.finish(stack)
        self.assertEqual(remedies(stack)[:1], ["stop_discovery"])


class Links(RadioCase):
    def test_a_link_of_a_killed_daemon_is_taken_over(self):
        stack = self.started_in_mid_stream()
        stack.daemon.kill()
        stack.start_daemon()
        self.finish(stack)

    def test_a_link_over_which_nothing_comes_is_dropped(self):
        stack = self.stack(bands=1, band_options=[
            "--records", "600", "--seed", "3", "--time-scale", "20", "--faults", "silent@2"])
        stack.start()
        self.finish(stack)

    def test_a_disconnect_that_is_never_answered(self):
        stack = self.stack(bands=2, band_options=[
            "--records", "600", "--seed", "3", "--time-scale", "20", "--faults", "neveranswer:Disconnect@1"])
        stack.start()
        self.finish(stack)
        self.assertIn("drop_link", remedies(stack))

    def test_a_band_that_comes_home_is_synced(self):
        stack = self.stack(bands=2, gateway_options=["sync_interval = 5"])
        stack.start_bus().start_server().start_sim()
        absent = "dev_" + stack.bands[1].replace(":", "_")
        control(stack, absent, "SetPresent", "boolean:false")
        stack.start_daemon()
        self.wait_for_problem(stack, "band_unreachable")
        # Looked for again and again, and no connection is tried.
        before = adapter_status(stack)
        self.assertNotIn(f"band={stack.bands[1][-5:]}, end", stack.daemon.text())
        control(stack, absent, "SetPresent", "boolean:true")
        self.finish_two(stack, before)

    def finish_two(self, stack, before):
        self.wait_until_calm(stack)
        self.assertGreater(adapter_status(stack)["Connects"], before["Connects"])
        self.check_accounts(stack)

    def test_a_pause_outlives_a_restart(self):
        stack = self.stack(bands=1, band_options=[
            "--records", "600", "--seed", "3", "--time-scale", "20", "--faults", "connectfails"])
        stack.start()
        self.wait_for_problem(stack, "band_unreachable")
        stack.wait(lambda: stack.gateway("SELECT failures FROM band_pauses WHERE failures > 2"), "three failures",
                   deadline=120, pause=0.3)
        stack.daemon.stop()
        before = stack.gateway("SELECT failures FROM band_pauses")[0][0]
        stack.start_daemon()
        stack.wait(lambda: stack.gateway("SELECT failures FROM band_pauses")[0][0] > before, "one more", deadline=120,
                   pause=0.3)
        control(stack, "dev_" + stack.bands[0].replace(":", "_"), "SetFaults", "string:")
        self.finish(stack)
        self.assertEqual(stack.gateway("SELECT count(*) FROM band_pauses")[0][0], 0)


    def test_a_link_that_another_program_uses_is_left_alone(self):
        # The daemon's own try to end it is never answered, so that BlueZ goes on showing it.
        stack = self.stack(bands=1, band_options=[
            "--records", "600", "--seed", "3", "--time-scale", "20", "--faults", "neveranswer:Disconnect@1"])
        stack.start_bus().start_server().start_sim()
        other = ForeignProgram(stack.bus_address)
        try:
            other.connect(stack.bands[0])
            other.subscribe(stack.bands[0])
            stack.start_daemon()
            stack.wait(lambda: stack.daemon.text().count("end=held_by_another_program") > 1, "two tries", pause=0.3)
        finally:
            other.close()
        self.finish(stack)
        self.assertEqual(remedies(stack), [])


class Requests(RadioCase):
    def test_who_asks_while_others_hold_all_links_is_told(self):
        stack = self.stack(bands=2, modes={address(0): "own"}, gateway_options=["sync_interval = 900", "max_links = 1"])
        stack.start_bus().start_server().start_sim()
        other = ForeignProgram(stack.bus_address)
        self.addCleanup(other.close)
        other.connect(stack.bands[1])
        stack.start_daemon()
        stack.wait(lambda: stack.status()["bands"], "the daemon", pause=0.3)
        self.assertIn("too_many_links", stack.command("--json", "sync", check=False).stdout)

    def test_who_asks_during_a_session_is_served_right_after_it(self):
        stack = self.started_in_mid_stream(gateway_options=["sync_interval = 900"])
        # Not by the session that runs: that one acks.
        stack.command("sync", "--no-ack")
        self.assertEqual(sum(self.caught_up(stack).values()), 2)
        stack.wait(lambda: self.is_calm(stack), "the upload", deadline=120, pause=0.3)
        self.check_accounts(stack)
