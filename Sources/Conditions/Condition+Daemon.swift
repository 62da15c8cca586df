/// The service itself, its configuration and its place on the message bus.
extension Condition {
    static let daemonRows: [Condition] = [
        stopping, internalFault, notRunning, daemonSilent, notOnBus, busNameTaken, busPolicyMissing,
        busUnavailable,
        busNotPermitted, configurationInvalid, configurationIgnored, checkUnfinished, checkNotPermitted,
    ]

    public static let stopping = Condition(
        "stopping", .notice, "The gateway is stopping.", fix: "Try again when it runs.")
    public static let internalFault = Condition(
        "internal", .error, "{error}.", fix: "Report this as a defect.")
    public static let notRunning = Condition(
        "not_running", .error, "bandferryd is not running: no band is synced, and nothing goes up.",
        fix: "systemctl start bandferryd; journalctl -u bandferryd says why it ended.")
    public static let daemonSilent = Condition(
        "daemon_silent", .error, "bandferryd is on the bus and does not answer: {reason}.",
        fix: "Run `systemctl restart bandferryd`; nothing is lost. Report it with `journalctl -u bandferryd`."
    )
    public static let notOnBus = Condition(
        "not_on_bus", .warning, "bandferryd runs, but can't be reached over the bus from here.",
        fix: "Install its policy as {file} and reload dbus; it syncs all the same.")
    public static let busNameTaken = Condition(
        "bus_name_taken", .warning, "Another daemon owns org.bandferry on this bus.",
        fix: "Stop the other one, or use `bandferry` with its configuration file.")
    public static let busPolicyMissing = Condition(
        "bus_policy_missing", .warning, "The bus does not let this user own org.bandferry; the sync goes on.",
        fix: "Install {file} and run `systemctl reload dbus`; `make install` does it.")
    public static let busUnavailable = Condition(
        "bus_unavailable", .error, "The message bus can't be reached: {error}.",
        fix:
            "Start dbus (`systemctl start dbus`), or set DBUS_SYSTEM_BUS_ADDRESS; a daemon that runs tries again by itself."
    )
    public static let busNotPermitted = Condition(
        "bus_not_permitted", .warning, "This user may not talk to {service} on the message bus.",
        fix: "Use sudo, or join the group: `usermod -aG {group} USER`, and log in again.")
    public static let configurationInvalid = Condition(
        "configuration_invalid", .error,
        "The configuration is not valid, so bandferryd does not start: {note}.",
        fix: "Correct it with `sudoedit {file}` and run `systemctl restart bandferryd`.")
    public static let configurationIgnored = Condition(
        "configuration_ignored", .warning, "A line of the configuration is ignored: {note}.",
        fix: "Correct or remove it with `sudoedit {file}` and run `systemctl restart bandferryd`.")
    public static let checkUnfinished = Condition(
        "check_unfinished", .warning, "The check of {what} did not end within {seconds} s.",
        fix:
            "Run `bandferry doctor` again. If it stays so, what is checked hangs: see `journalctl -b -p warning`."
    )
    public static let checkNotPermitted = Condition(
        "check_not_permitted", .notice, "This user may not check {what}: {reason}.",
        fix: "Run `sudo bandferry doctor`.")
}
