"""Adapters, bluetoothd and bands."""

import os
import signal
import sqlite3

from clinic import ClinicCase


class Adapter(ClinicCase):
    def test_a_blocked_adapter(self):
        stack = self.stack()
        stack.files.rfkill(soft=1)
        stack.start()
        self.check(stack, "adapter_blocked", "error", "Run `rfkill unblock bluetooth`.", "hci0")

    def test_an_adapter_that_a_switch_blocks(self):
        stack = self.stack()
        stack.files.rfkill(soft=1, hard=1)
        stack.start()
        self.check(stack, "adapter_blocked_hard", "error", "with that switch")

    def test_an_adapter_that_is_off(self):
        stack = self.stack(modes={})
        stack.start_bus().start_server().start_sim().start_daemon()
        from dbus_fast import Variant
        self.foreign(stack).call(
            "/org/bluez/hci0", "org.freedesktop.DBus.Properties", "Set", "ssv",
            ["org.bluez.Adapter1", "Powered", Variant("b", False)])
        self.check(stack, "adapter_off", "error", "` and then `power on`")

    def test_no_adapter(self):
        stack = self.stack(modes={})
        stack.start_bus().start_server().start_daemon()
        self.foreign(stack).own("org.bluez", {})
        self.check(stack, "adapter_missing", "error", "Plug a Bluetooth dongle in")

    def test_another_adapter_than_the_configured_one(self):
        stack = self.stack(more=["adapter = 00:1A:7D:DA:71:13"])
        stack.start()
        self.check(
            stack, "adapter_missing", "error", str(stack.configuration), "00:1A:7D:DA:71:13 is not there; there is 00:AA:01")


class Bluetoothd(ClinicCase):
    def test_it_is_not_running(self):
        stack = self.stack()
        stack.start_bus().start_server().start_daemon()
        self.check(stack, "bluetoothd_gone", "error", "Run `systemctl start bluetooth`")

    def test_it_does_not_answer(self):
        stack = self.stack()
        stack.start()
        self.synced(stack)
        os.kill(stack.sim.popen.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, stack.sim.popen.pid, signal.SIGCONT)
        self.check(stack, "no_answer", "warning", "`systemctl restart bluetooth`")

    def test_it_is_too_old(self):
        stack = self.stack()
        stack.files.bluetoothd("5.50")
        stack.start()
        self.check(stack, "bluetoothd_old", "warning", "Upgrade the distribution", "5.50")

    def test_it_lacks_what_newer_ones_have(self):
        stack = self.stack()
        stack.files.bluetoothd("5.66")
        stack.start()
        self.check(stack, "bluetoothd_lacks", "notice", "Nothing has to be done", "why a link was lost")

    def test_its_version_is_unknown(self):
        stack = self.stack()
        (stack.files.root / "usr/libexec/bluetooth/bluetoothd").unlink()
        stack.start()
        self.check(stack, "bluetoothd_version_unknown", "notice", "bluetoothd --version")

    def test_a_small_exchange_mtu(self):
        stack = self.stack()
        stack.files.write("etc/bluetooth/main.conf", "[GATT]\nExchangeMTU = 23\n")
        stack.start()
        self.check(stack, "exchange_mtu", "warning", "Set `ExchangeMTU = 517` under [GATT]", "ExchangeMTU = 23")

    def test_the_bus_does_not_let_us(self):
        stack = self.stack(modes={})
        policy = stack.directory / "bus.conf"
        policy.write_text(policy.read_text().replace(
            '<allow own="*"/>', '<allow own="*"/><deny send_destination="org.bluez"/>'))
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        self.check(stack, "bus_not_permitted", "warning", "usermod -aG bluetooth", "bluetoothd")


class Band(ClinicCase):
    def test_another_program_holds_the_notifications(self):
        stack = self.stack()
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        other = self.foreign(stack)
        other.connect(stack.bands[0])
        other.subscribe(stack.bands[0])
        self.check(
            stack, "held_by_another_program", "error", f"bluetoothctl disconnect {stack.bands[0]}", stack.bands[0])

    def test_a_stale_cache(self):
        stack = self.stack(band_options=["--records", "200", "--time-scale", "20", "--faults", "noobjects"])
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        self.foreign(stack).connect(stack.bands[0])
        findings = self.check(
            stack, "cache_stale", "error", f"`bluetoothctl remove {stack.bands[0]}`", "firmware changed")
        self.assertIn(f"`bandferry pair {stack.bands[0]}`", findings["cache_stale"]["remedy"])

    def test_the_slots_are_used_up(self):
        stack = self.stack(more=["max_links = 1"])
        stack.start_bus().start_server().start_sim()
        stack.write_configuration()
        self.foreign(stack).connect(stack.bands[0])
        self.check(stack, "slots_used_up", "warning", "`max_links`", "holds 1 links")

    def test_a_weak_signal(self):
        from dbus_fast import Variant
        stack = self.stack()
        stack.start_bus().start_server()
        stack.write_configuration()
        band = "/org/bluez/hci0/dev_" + stack.bands[0].replace(":", "_")
        self.foreign(stack).own("org.bluez", {
            "/org/bluez/hci0": {"org.bluez.Adapter1": {
                "Address": Variant("s", "00:AA:01:00:00:23"), "Powered": Variant("b", True)}},
            band: {"org.bluez.Device1": {
                "UUIDs": Variant("as", ["bf1e0001-9c4e-4f6b-8d2a-5e7a10b3c6f4"]), "RSSI": Variant("n", -95)}},
        })
        self.check(stack, "weak_signal", "warning", "nearer to each other", "-95 dBm")

    def test_a_bond_that_does_not_work(self):
        from dbus_fast import Variant
        stack = self.stack()
        stack.start()
        self.synced(stack)
        stack.daemon.stop()
        stack.sim.stop()
        # What the daemon writes down when BlueZ says "le-connection-key-missing", and what BlueZ shows then.
        database = sqlite3.connect(stack.state / "gateway.db")
        with database:
            database.execute(
                "INSERT INTO problems (band, code, text, remedy, since) SELECT id, 'bond_lost', 'Could not connect.', 'Pair.', 0 FROM bands")
        database.close()
        band = "/org/bluez/hci0/dev_" + stack.bands[0].replace(":", "_")
        self.foreign(stack).own("org.bluez", {
            "/org/bluez/hci0": {"org.bluez.Adapter1": {
                "Address": Variant("s", "00:AA:01:00:00:23"), "Powered": Variant("b", True)}},
            band: {"org.bluez.Device1": {"Paired": Variant("b", True), "Bonded": Variant("b", True)}},
        })
        self.check(stack, "bond_stale", "error", f"`bandferry pair {stack.bands[0]}`", "lost its keys")
