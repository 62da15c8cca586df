"""bluetoothd, the message bus and adapters that go, come back, and are not what they were."""

import signal

from lab import FieldCase


class Restarts(FieldCase):
    def with_a_connect_that_hangs(self):
        stack = self.line("connecthangs@1")
        stack.start()
        stack.wait(lambda: self.adapter_status(stack)["Connects"] > 0, "the connect", pause=0.1)
        return stack

    def test_bluetoothd_dies_while_a_connect_waits(self):
        stack = self.with_a_connect_that_hangs()
        stack.sim.kill()
        stack.start_sim()
        self.comes_through(stack)

    def test_bluetoothd_is_restarted_while_a_connect_waits(self):
        stack = self.with_a_connect_that_hangs()
        self.control_adapter(stack, "Restart")
        self.comes_through(stack)

    def test_bluetoothd_dies_again_and_again(self):
        stack = self.in_mid_stream()
        for _ in range(3):
            before = len(stack.acks())
            stack.sim.kill()
            stack.start_sim()
            stack.wait(lambda: len(stack.acks()) > before, "the history to go on")
        self.comes_through(stack)

    def test_bluetoothd_dies_while_signals_carry_a_history(self):
        stack = self.in_mid_stream(further=["--no-acquire-notify"])
        stack.sim.kill()
        stack.start_sim()
        self.comes_through(stack)

    def test_the_message_bus_is_restarted(self):
        stack = self.in_mid_stream()
        stack.bus.kill()
        stack.sim.kill()
        (stack.directory / "bus").unlink()
        stack.start_bus().start_sim()
        self.is_reached_over_the_bus(stack)
        self.comes_through(stack)

    def test_the_message_bus_answers_nothing_while_the_gateway_starts(self):
        stack = self.line()
        stack.start_bus().start_server().start_sim()
        stack.bus.popen.send_signal(signal.SIGSTOP)
        stack.start_daemon()
        # As long as a first call waits for its answer, twice: for org.bandferry and for BlueZ.
        stack.wait(lambda: "Bluetooth can't be reached" in stack.daemon.text(), "the bus to be given up", pause=0.3)
        stack.bus.popen.send_signal(signal.SIGCONT)
        self.is_reached_over_the_bus(stack)
        self.comes_through(stack)

    def is_reached_over_the_bus(self, stack):
        stack.wait(
            lambda: stack.command("sync", check=False).returncode == 0, "the command line to reach it", pause=0.3)


class Adapters(FieldCase):
    def test_it_comes_back_under_another_name_and_a_foreign_one_has_its_own(self):
        self.changed_places([])

    def test_the_configured_one_is_not_taken_for_another_of_its_name(self):
        stack = self.changed_places(["adapter = 00:AA:01:00:00:23"])
        later = stack.daemon.text().split("adapter=hci1", 1)
        self.assertEqual(len(later), 2, "it was never used again")
        self.assertNotIn("discovery started (adapter=hci0)", later[1])

    def changed_places(self, gateway):
        stack = self.in_mid_stream(gateway=gateway)
        self.control_adapter(stack, "Unplug")
        self.control_adapter(stack, "PlugForeign", "uint32:0")
        self.control_adapter(stack, "Plug", "uint32:1")
        self.comes_through(stack)
        return stack

    def test_without_the_configured_one_no_other_is_used(self):
        stack = self.in_mid_stream(gateway=["adapter = 00:AA:01:00:00:23"])
        self.control_adapter(stack, "Unplug")
        self.control_adapter(stack, "PlugForeign", "uint32:0")
        self.wait_for_problem(stack, "adapter_off")
        self.control_adapter(stack, "Plug", "uint32:1")
        self.comes_through(stack)

    def test_it_is_pulled_out_while_a_connect_waits(self):
        stack = self.line("connecthangs@1")
        stack.start()
        stack.wait(lambda: self.adapter_status(stack)["Connects"] > 0, "the connect", pause=0.1)
        self.control_adapter(stack, "Unplug")
        self.wait_for_problem(stack, "adapter_off")
        self.control_adapter(stack, "Plug", "uint32:0")
        self.comes_through(stack)

    def test_it_is_pulled_out_again_and_again(self):
        stack = self.in_mid_stream()
        for number in [1, 0, 2]:
            before = len(stack.acks())
            self.control_adapter(stack, "Unplug")
            self.control_adapter(stack, "Plug", f"uint32:{number}")
            stack.wait(lambda: len(stack.acks()) > before, "the history to go on", deadline=120)
        self.comes_through(stack)

    def test_there_is_none_until_one_is_plugged_in(self):
        stack = self.line()
        stack.start_bus().start_server().start_sim()
        self.control_adapter(stack, "Unplug")
        stack.start_daemon()
        self.wait_for_problem(stack, "adapter_off")
        self.control_adapter(stack, "Plug", "uint32:0")
        self.comes_through(stack)


class Discovery(FieldCase):
    def test_somebody_else_ends_it(self):
        stack = self.line(bands=2)
        stack.start_bus().start_server().start_sim()
        self.control(stack, "SetPresent", "boolean:false")
        stack.start_daemon()
        # The band that is away is looked for, and each look is cut short.
        for _ in range(5):
            before = self.adapter_status(stack)["ScanMilliseconds"]
            stack.wait(lambda: self.adapter_status(stack)["ScanMilliseconds"] > before, "a look for the band", deadline=120, pause=0.05)
            self.control_adapter(stack, "EndDiscovery")
        self.control(stack, "SetPresent", "boolean:true")
        self.comes_through(stack)
