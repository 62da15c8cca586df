/// The adapter, bluetoothd and the way to them. `{detail}` is empty or BlueZ's own words in brackets.
extension Condition {
    static let adapterRows: [Condition] = [
        adapterOff, adapterMissing, adapterNotFound, adapterNotPowered, adapterBlocked, adapterBlockedHard,
        adapterFault, tooManyLinks, slotsUsedUp, bluetoothdGone, bluetoothdOld, bluetoothdLacks,
        bluetoothdVersionUnknown,
        bluetoothStuck, bluetoothStuckForGood, restartRefused,
        exchangeMTU, noAnswer, busGone, accessDenied, invalidCall, unsupported, busy, unknown,
    ]

    public static let adapterOff = Condition(
        "adapter_off", .error,
        "Could not {operation}: the Bluetooth adapter is off or missing{detail}.",
        fix: "Switch it on with `bluetoothctl power on`, or plug the adapter in.")
    public static let adapterMissing = Condition(
        "adapter_missing", .error, "none", "This host shows no Bluetooth adapter.",
        fix:
            "Plug a Bluetooth dongle in, or enable the built-in one (on a Raspberry Pi: remove `dtoverlay=disable-bt` from "
            + "/boot/firmware/config.txt and reboot). `bluetoothctl list` shows it then.")
    public static let adapterNotFound = Condition(
        "adapter_missing", .error, "other",
        "The configured adapter {adapter} is not there; there is {others}.",
        fix:
            "Plug that adapter in, or write another one's address as `adapter` under [gateway] in {file} and run `systemctl "
            + "restart bandferryd`.")
    public static let adapterNotPowered = Condition(
        "adapter_off", .error, "powered", "The Bluetooth adapter {adapter} is switched off.",
        fix:
            "Run `bluetoothctl`, and at its prompt `select {address}` and then `power on`: by itself it would switch the default "
            + "adapter.")
    public static let adapterBlocked = Condition(
        "adapter_blocked", .error,
        "Could not {operation}: the Bluetooth adapter is blocked by rfkill{detail}.",
        fix: "Run `rfkill unblock bluetooth`.")
    public static let adapterBlockedHard = Condition(
        "adapter_blocked_hard", .error,
        "A switch or key of this host blocks Bluetooth ({adapter}, rfkill's hard block).",
        fix: "Turn the radio on with that switch, key or BIOS setting: no command can do it.")
    public static let adapterFault = Condition(
        "adapter_fault", .error,
        "Could not {operation}: the Bluetooth adapter is off or does not do as it is told{detail}.",
        fix: "If it stays so, plug the adapter out and in, or run `systemctl restart bluetooth`.")
    public static let tooManyLinks = Condition(
        "too_many_links", .warning, "Could not {operation}: the adapter can't hold one more link{detail}.",
        fix: "Disconnect other Bluetooth devices, or use a second adapter.")
    public static let slotsUsedUp = Condition(
        "slots_used_up", .warning,
        "Adapter {adapter} holds {links} links, and {limit} are what it is taken to hold: further bands wait.",
        fix:
            "Disconnect devices that are no bands (`bluetoothctl devices Connected`, then `bluetoothctl disconnect ADDRESS`), "
            + "or plug a second adapter in. If the adapter holds more, raise `max_links` under [gateway].")
    public static let bluetoothStuck = Condition(
        "bluetooth_stuck", .error,
        "Adapter {adapter} does not do as it is told; switching it off and on has not helped.",
        fix: "Plug the adapter out and in, or run `systemctl restart bluetooth`.")
    public static let bluetoothStuckForGood = Condition(
        "bluetooth_stuck", .error, "alone",
        "Adapter {adapter} does not do as it is told; switching it off and on has not helped.",
        fix:
            "Plug the adapter out and in, or run `systemctl restart bluetooth`. With restart_bluetooth = yes the gateway does it "
            + "by itself.")
    public static let restartRefused = Condition(
        "bluetooth_restart_refused", .error,
        "bluetooth.service has to be restarted, and systemd did not do it for this user: {reason}.",
        fix: "Run `systemctl restart bluetooth`; docs/bluez-setup.md has the polkit rule that permits it.")
    public static let bluetoothdGone = Condition(
        "bluetoothd_gone", .error, "Could not {operation}: bluetoothd is not running{detail}.",
        fix: "Run `systemctl start bluetooth`; the gateway goes on when it is back.")
    public static let bluetoothdOld = Condition(
        "bluetoothd_old", .warning, "bluetoothd is {version}; Bandferry needs {needed} or later.",
        fix:
            "Upgrade the distribution to one with BlueZ {needed} or later (Debian 12, Raspberry Pi OS Bookworm, Ubuntu 23.04), "
            + "then run `systemctl restart bluetooth bandferryd`.")
    public static let bluetoothdLacks = Condition(
        "bluetoothd_lacks", .notice, "bluetoothd is {version}: {lacks}. Bandferry does without.",
        fix: "Nothing has to be done. A newer BlueZ comes with a newer release of the distribution.")
    public static let bluetoothdVersionUnknown = Condition(
        "bluetoothd_version_unknown", .notice,
        "The version of bluetoothd could not be found out, so what it lacks can't be told.",
        fix:
            "Run `bluetoothd --version` where it is installed (Debian: /usr/libexec/bluetooth/bluetoothd); 5.66 or later is "
            + "needed.")
    public static let exchangeMTU = Condition(
        "exchange_mtu", .warning,
        "{file} sets ExchangeMTU = {value}: a packet carries {records} records instead of 15.",
        fix:
            "Set `ExchangeMTU = 517` under [GATT] in {file}, or remove the line, and run `systemctl restart bluetooth`."
    )
    public static let noAnswer = Condition(
        "no_answer", .warning, "Could not {operation}: BlueZ did not answer in time{detail}.",
        fix: "It is tried again by itself; if it stays so, run `systemctl restart bluetooth`.")
    public static let busGone = Condition(
        "bus_gone", .error, "Could not {operation}: the message bus is not there{detail}.",
        fix: "Check that dbus is running (`systemctl status dbus`); the gateway tries again by itself.")
    public static let accessDenied = Condition(
        "access_denied", .error, "Could not {operation}: the message bus does not permit it{detail}.",
        fix:
            "Add the service's user to the group `bluetooth` (`usermod -aG bluetooth bandferry`) and run `systemctl restart "
            + "bandferryd`.")
    public static let invalidCall = Condition(
        "invalid_call", .warning, "Could not {operation}: BlueZ did not take the call{detail}.",
        fix: "Please report this with the log; it is tried again by itself.")
    public static let unsupported = Condition(
        "unsupported", .error, "Could not {operation}: this band or this BlueZ can't do it{detail}.",
        fix: "Use BlueZ 5.66 or later, and check that the band speaks Band History Profile 1.")
    public static let busy = Condition(
        "busy", .warning,
        "Could not {operation}: the same is being done already, perhaps by another program{detail}.",
        fix:
            "Stop other programs that use Bluetooth (bluetoothctl scan, Home Assistant); it is tried again by itself."
    )
    public static let unknown = Condition(
        "unknown", .warning, "Could not {operation}: BlueZ failed in an unknown way{detail}.",
        fix: "It is tried again by itself; if it stays so, please report it with the log.")
}
