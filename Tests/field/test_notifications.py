"""What GATT shows and how notifications come: sockets, signals, MTU, and what bluetoothd remembers."""

from lab import FieldCase


class Notifications(FieldCase):
    def test_each_comes_twice(self):
        self.comes_through(self.line("duplicate"))

    def test_each_comes_twice_over_signals(self):
        self.comes_through(self.line("duplicate", further=["--no-acquire-notify"]))

    def test_some_are_empty_over_signals(self):
        self.comes_through(self.line("empty:0.3", further=["--no-acquire-notify"]))

    def test_some_are_empty(self):
        self.comes_through(self.line("empty:0.3"))

    def test_some_are_lost_on_the_way(self):
        self.comes_through(self.line("drop:0.1"), allowed=["unreadable", "lost_by_band"])

    def test_they_are_out_of_order(self):
        self.comes_through(self.line("reorder:0.2"), allowed=["unreadable", "lost_by_band"])

    def test_over_signals_for_want_of_a_socket(self):
        self.comes_through(self.line(further=["--no-acquire-notify"]))

    def test_the_smallest_mtu(self):
        self.comes_through(self.line(further=["--mtu", "23"]))

    def test_the_largest_mtu(self):
        self.comes_through(self.line(further=["--mtu", "517"]))

    def test_an_mtu_that_is_another_on_each_link(self):
        self.comes_through(self.line("smallmtu:0.5,disconnect:0.03", records=1500, further=["--mtu", "498"]))

    def test_a_socket_that_ends_at_once(self):
        self.comes_through(self.line("deadsocket@1"))

    def test_sockets_that_always_end_at_once(self):
        self.comes_through(self.line("deadsocket"))

    def test_a_stop_of_notifications_that_is_never_answered(self):
        stack = self.in_mid_stream("slow:200,neveranswer:StopNotify", further=["--no-acquire-notify"])
        self.control(stack, "Disconnect")
        self.comes_through(stack)

    def test_an_end_of_an_earlier_stream_at_the_start_of_the_next(self):
        self.comes_through(self.line("lateend,disconnect:0.03", records=1500))

    def test_a_socket_that_holds_only_a_few(self):
        # Each stream loses its end, and is given 15 s of silence before the next: some 60 records a time.
        line = self.line(records=240, further=["--socket-buffer", "4608", "--window", "0"])
        self.comes_through(line, allowed=["unreadable", "lost_by_band"])

    def test_a_band_that_does_not_give_them_is_named(self):
        stack = self.line("notifyrefused")
        stack.start()
        self.wait_for_band_problem(stack, ["no_answer"])
        self.control(stack, "SetFaults", "string:")
        self.comes_through(stack)


class Services(FieldCase):
    def test_what_bluetoothd_remembers_of_another_firmware_is_named(self):
        stack = self.line("noobjects")
        stack.start()
        self.wait_for_band_problem(stack, ["no_band_history", "cache_stale"])
        self.control(stack, "SetFaults", "string:")
        self.comes_through(stack)

    def test_a_link_that_is_cut_finds_everything_anew(self):
        stack = self.in_mid_stream()
        for _ in range(3):
            before = len(stack.acks())
            self.control(stack, "Disconnect")
            stack.wait(lambda: len(stack.acks()) > before, "the history to go on", deadline=120)
        self.comes_through(stack)
