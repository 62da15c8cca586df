"""Links that are not made, break, hang, or are not what BlueZ says."""

from lab import FieldCase


class Connecting(FieldCase):
    def test_every_second_connect_is_aborted(self):
        self.comes_through(self.line("connectfails:0.5", bands=2))

    def test_a_band_that_is_never_reached_is_named_and_holds_up_no_other(self):
        stack = self.line(bands=2)
        stack.sim.command += ["--faults-for", f"{stack.bands[0]}=connectfails"]
        stack.start()
        stack.wait(lambda: self.is_synced(stack, 1), "the other band", pause=0.3)
        self.wait_for_band_problem(stack, ["band_unreachable"])
        self.control(stack, "SetFaults", "string:")
        self.comes_through(stack)

    def test_a_connect_that_stays_without_an_answer(self):
        self.comes_through(self.line("connecthangs@1"))

    def test_a_link_that_nobody_tells_of(self):
        self.comes_through(self.line("quietconnect@1"))

    def test_services_are_resolved_before_their_objects_are_there(self):
        self.comes_through(self.line("lateobjects@1:20000"))

    def test_services_that_come_late(self):
        self.comes_through(self.line("lateservices@1:100000"))

    def test_services_that_never_get_objects_on_the_first_link(self):
        self.comes_through(self.line("noobjects@1"))

    def test_a_band_that_falls_silent_after_connecting(self):
        self.comes_through(self.line("silent@1"))

    def test_a_device_that_bluetoothd_forgets(self):
        stack = self.in_mid_stream()
        self.control(stack, "Vanish")
        self.comes_through(stack)

    def test_a_device_that_is_forgotten_before_the_connect(self):
        self.comes_through(self.line("forgotten@1,forgotten@2"))

    def test_a_device_that_is_forgotten_whenever_nobody_looks_for_it(self):
        self.comes_through(self.line("forgotten:0.7", bands=2))

    def test_a_device_that_is_forgotten_at_its_first_call(self):
        self.comes_through(self.line("vanish@1"))

    def test_a_device_that_is_removed_again_and_again(self):
        self.comes_through(self.line("vanish:0.05"))

    def test_a_link_that_breaks_again_and_again_in_the_middle(self):
        self.comes_through(self.line("disconnect:0.05", records=1500))

    def test_a_band_that_leaves_and_comes_home(self):
        stack = self.in_mid_stream("slow:100")
        self.control(stack, "SetPresent", "boolean:false")
        self.wait_for_band_problem(stack, ["band_unreachable", "link_lost"])
        self.control(stack, "Record", "uint32:50")
        self.control(stack, "SetPresent", "boolean:true")
        self.comes_through(stack)
