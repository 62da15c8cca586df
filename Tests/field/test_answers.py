"""What BlueZ answers: each of its errors once, in the words of old and new releases, and some of them for ever."""

import time

from lab import FieldCase

BLUEZ, BUS = "org.bluez.Error.", "org.freedesktop.DBus.Error."
ATT = "Operation failed with ATT error: 0x"
GONE = 'Method "Connect" with signature "" on interface "org.bluez.Device1" doesn\'t exist\n'


class Once(FieldCase):
    """A call fails once with each error; the sync after it has all."""

    def each(self, call, errors, band=0, **options):
        stack = self.line(records=60, **options)
        stack.start()
        self.wait_until_calm(stack)
        for error, text in errors:
            with self.subTest(error=error, text=text):
                self.answer(stack, call, error, text, band=band)
                self.synced_anew(stack)
        self.comes_through(stack)

    def test_connect_in_the_words_of_new_releases(self):
        reasons = ["abort-by-local", "abort-by-remote", "timeout", "busy", "refused", "concurrent-connection-limit", "gatt-browsing",
                   "adapter-not-powered", "unknown"]
        self.each("Connect", [(BLUEZ + "Failed", "le-connection-" + reason) for reason in reasons])

    def test_connect_in_the_words_of_old_releases(self):
        self.each("Connect", [(BLUEZ + "Failed", text) for text in [
            "Software caused connection abort", "Connection timed out", "Connection refused", "Connection reset by peer", "Host is down",
            "Operation already in progress", "Input/output error", "Device or resource busy"]])

    def test_connect_by_each_name(self):
        self.each("Connect", [
            (BLUEZ + "InProgress", "In Progress"), (BLUEZ + "NotReady", "Resource Not Ready"), (BLUEZ + "Busy", "Busy"),
            (BLUEZ + "ConnectionAttemptFailed", "Page Timeout"), ("org.bluez.Failed", "Connect failed"), (BUS + "UnknownObject", GONE),
            (BUS + "NoReply", "Did not receive a reply."), (BUS + "Timeout", "timed out"), (BUS + "LimitsExceeded", "Too much"),
            (BLUEZ + "Newer", "what nobody knows yet")])

    def test_discovery(self):
        self.each("StartDiscovery", [
            (BLUEZ + "InProgress", "Operation already in progress"), (BLUEZ + "NotReady", "Resource Not Ready"),
            (BLUEZ + "Failed", "Input/output error"), (BUS + "NoReply", "Did not receive a reply.")], band=None)

    def test_reading(self):
        self.each("ReadValue", [
            (BLUEZ + "Failed", "Not connected"), (BLUEZ + "InProgress", "In Progress"), (BLUEZ + "Failed", ATT + "0e"),
            (BLUEZ + "NotPermitted", "Read not permitted"), (BLUEZ + "NotAuthorized", "Operation Not Authorized")])

    def test_writing(self):
        self.each("WriteValue", [
            (BLUEZ + "Failed", "Not connected"), (BLUEZ + "InProgress", "In Progress"), (BLUEZ + "Failed", ATT + "80"),
            (BLUEZ + "Failed", ATT + "83"), (BLUEZ + "Failed", ATT + "11")])

    def test_subscribing(self):
        self.each("AcquireNotify", [
            (BLUEZ + "Failed", "Not connected"), (BLUEZ + "InProgress", "In Progress"), (BLUEZ + "NotPermitted", "Notify acquired"),
            (BLUEZ + "NotSupported", "Operation is not supported"), (BLUEZ + "Failed", ATT + "fd")])

    def test_subscribing_over_signals(self):
        self.each("StartNotify", [
            (BLUEZ + "Failed", "Not connected"), (BLUEZ + "InProgress", "In Progress"), (BLUEZ + "Failed", ATT + "fd")],
            further=["--no-acquire-notify"])


class ForEver(FieldCase):
    """Until somebody helps: it is named, and holds up no other band."""

    def named(self, call, error, text, codes):
        stack = self.line(bands=2, records=60)
        stack.start_bus().start_server().start_sim()
        self.answer(stack, call, error, text, times=1_000_000)
        stack.start_daemon()
        stack.wait(lambda: self.is_synced(stack, 1), "the other band", deadline=120, pause=0.3)
        self.wait_for_band_problem(stack, codes)
        self.synced_anew(stack, band=1)
        self.answer(stack, call, error, times=0)
        self.comes_through(stack)

    def test_a_connect_that_is_always_in_progress(self):
        self.named("Connect", BLUEZ + "InProgress", "In Progress", ["busy"])

    def test_a_connect_that_is_always_aborted(self):
        self.named("Connect", BLUEZ + "Failed", "le-connection-abort-by-local", ["band_unreachable"])

    def test_a_connect_for_which_nothing_is_ready(self):
        self.named("Connect", BLUEZ + "NotReady", "Resource Not Ready", ["adapter_off"])

    def test_a_device_that_is_always_unknown(self):
        self.named("Connect", BUS + "UnknownObject", GONE, ["band_forgotten"])

    def test_a_link_that_is_always_one_too_many(self):
        self.named("Connect", BLUEZ + "Failed", "le-connection-concurrent-connection-limit", ["too_many_links"])

    def test_notifications_that_somebody_else_has(self):
        self.named("AcquireNotify", BLUEZ + "NotPermitted", "Notify acquired", ["held_by_another_program"])

    def test_an_error_that_nobody_knows(self):
        self.named("Connect", BLUEZ + "Newer", "what nobody knows yet", ["unknown"])

    def test_what_this_host_can_not_do_is_named_and_tried_when_somebody_asks(self):
        stack = self.line(records=60)
        stack.start_bus().start_server().start_sim()
        self.answer(stack, "Connect", BLUEZ + "Failed", "Function not implemented", times=1)
        stack.start_daemon()
        self.wait_for_band_problem(stack, ["unsupported"])
        stack.command("sync")
        self.comes_through(stack)

    def test_discovery_that_is_always_in_progress(self):
        stack = self.line(records=60)
        stack.start_bus().start_server().start_sim()
        self.answer(stack, "StartDiscovery", BLUEZ + "InProgress", "Operation already in progress", times=1_000_000, band=None)
        stack.start_daemon()
        # Nobody is looked for, and whoever asks is told why.
        self.wait_for_band_problem(stack, ["busy"])
        self.assertNotEqual(stack.command("sync", check=False).returncode, 0)
        self.answer(stack, "StartDiscovery", BLUEZ + "InProgress", times=0, band=None)
        self.comes_through(stack)


class Never(FieldCase):
    """One call is never answered, as by a bluetoothd that hangs."""

    def test_a_connect(self):
        self.comes_through(self.line("neveranswer:Connect@1"))

    def test_a_read(self):
        self.comes_through(self.line("neveranswer:ReadValue@2"))

    def test_a_write(self):
        self.comes_through(self.line("neveranswer:WriteValue@1"))

    def test_the_socket_of_notifications(self):
        self.comes_through(self.line("neveranswer:AcquireNotify@1"))

    def test_a_disconnect_holds_up_no_stop(self):
        stack = self.line("neveranswer:Disconnect@1")
        stack.start()
        stack.wait(lambda: stack.acks(), "the history to come in")
        began = time.monotonic()
        self.assertEqual(stack.daemon.stop(), 0)
        # The unit gives it more; what hangs for ever is meant here.
        self.assertLess(time.monotonic() - began, 30)
        stack.start_daemon()
        self.comes_through(stack)
