/// What to do about a kind of failure, for programs and for people.
struct BlueZAdvice: Equatable, Sendable {
    var code: String
    var retry: BlueZRetry
    /// Completes "Could not connect: …".
    var what: String
    var remedy: String

    private init(_ code: String, _ retry: BlueZRetry, _ what: String, _ remedy: String) {
        self.code = code
        self.retry = retry
        self.what = what
        self.remedy = remedy
    }

    static func of(_ kind: BlueZFailureKind) -> BlueZAdvice {
        switch kind {
        case .transient:
            BlueZAdvice(
                "band_unreachable", .backOff, "the band was not reached, or the link broke",
                "Bring the band nearer and away from metal; it is tried again by itself.")
        case .notConnected:
            BlueZAdvice(
                "link_lost", .reconnect, "there is no link to the band",
                "Nothing: the gateway connects again and resumes.")
        case .inProgress:
            BlueZAdvice(
                "busy", .backOff, "the same is being done already, perhaps by another program",
                "Stop other programs that use Bluetooth (bluetoothctl scan, Home Assistant); it is tried again "
                    + "by itself.")
        case .heldByAnother:
            BlueZAdvice(
                "held_by_another_program", .backOff, "another program holds the band's notifications",
                "Stop the other program that is connected to this band, such as bluetoothctl or Home Assistant."
            )
        case .notPermitted:
            BlueZAdvice(
                "not_permitted", .afterHelp, "the band does not permit it",
                "Check that the band speaks Band History Profile 1; remove the band with `bluetoothctl remove` if "
                    + "its firmware was changed.")
        case .notPaired:
            BlueZAdvice(
                "not_paired", .backOff, "the band asks for pairing",
                "Put the band into pairing mode; the gateway pairs by itself.")
        case .authentication:
            BlueZAdvice(
                "pairing_failed", .afterHelp, "pairing failed",
                "Put the band into pairing mode. If it was paired with this gateway before, run `bluetoothctl "
                    + "remove ADDRESS` first.")
        case .keyMissing:
            BlueZAdvice(
                "bond_lost", .afterHelp, "the band has lost the keys of its bond with this gateway",
                "Run `bluetoothctl remove ADDRESS`, put the band into pairing mode, and let it be found again."
            )
        case .gone:
            BlueZAdvice(
                "band_forgotten", .rediscover, "BlueZ does not know it any more",
                "Nothing: the gateway searches for the band again.")
        case .noService:
            BlueZAdvice(
                "no_band_history", .reconnect, "the band shows no Band History service",
                "If the band's firmware was changed, run `bluetoothctl remove ADDRESS` so that BlueZ forgets what "
                    + "it remembers of it.")
        case .notReady:
            BlueZAdvice(
                "adapter_off", .whenAdapterIsReady, "the Bluetooth adapter is off or missing",
                "Switch it on with `bluetoothctl power on`, or plug the adapter in.")
        case .blocked:
            BlueZAdvice(
                "adapter_blocked", .afterHelp, "the Bluetooth adapter is blocked by rfkill",
                "Run `rfkill unblock bluetooth`.")
        case .adapterFault:
            BlueZAdvice(
                "adapter_fault", .backOff, "the Bluetooth adapter is off or does not do as it is told",
                "If it stays so, plug the adapter out and in, or run `systemctl restart bluetooth`.")
        case .tooManyLinks:
            BlueZAdvice(
                "too_many_links", .backOff, "the adapter can't hold one more link",
                "Disconnect other Bluetooth devices, or use a second adapter.")
        case .applicationError(let code): ofApplicationError(code)
        case .attributeError(let code):
            BlueZAdvice(
                "att_error", .reconnect, "the band answered with error \(hexadecimal(code))",
                "It is tried again by itself; if it stays so, restart the band.")
        case .unsupported:
            BlueZAdvice(
                "unsupported", .afterHelp, "this band or this BlueZ can't do it",
                "Use BlueZ 5.66 or later, and check that the band speaks Band History Profile 1.")
        case .invalidCall:
            BlueZAdvice(
                "invalid_call", .reconnect, "BlueZ did not take the call",
                "Please report this with the log; it is tried again by itself.")
        case .alreadyDone:
            BlueZAdvice("already_done", .goOn, "it is done already", "Nothing.")
        case .deadline:
            BlueZAdvice(
                "no_answer", .reconnect, "BlueZ did not answer in time",
                "It is tried again by itself; if it stays so, run `systemctl restart bluetooth`.")
        case .serviceGone:
            BlueZAdvice(
                "bluetoothd_gone", .whenServiceIsBack, "bluetoothd is not running",
                "Run `systemctl start bluetooth`; the gateway goes on when it is back.")
        case .busGone:
            BlueZAdvice(
                "bus_gone", .whenBusIsBack, "the message bus is not there",
                "Check that dbus is running (`systemctl status dbus`); the gateway tries again by itself.")
        case .accessDenied:
            BlueZAdvice(
                "access_denied", .afterHelp, "the message bus does not permit it",
                "Add the service's user to the group `bluetooth` and restart the service.")
        case .cancelled:
            BlueZAdvice("cancelled", .backOff, "it was given up", "Nothing: it is tried again by itself.")
        case .unknown:
            BlueZAdvice(
                "unknown", .reconnect, "BlueZ failed in an unknown way",
                "It is tried again by itself; if it stays so, please report it with the log.")
        }
    }

    /// Band History Profile 1, "Streams".
    private static func ofApplicationError(_ code: UInt8) -> BlueZAdvice {
        let what =
            switch code {
            case 0x80: "the band is busy with a stream"
            case 0x81: "the band does not know the command"
            case 0x82: "the band found the command's length wrong"
            case 0x83: "the band says that notifications are not enabled"
            default: "the band answered with its own error \(hexadecimal(code))"
            }
        return BlueZAdvice(
            "band_error_\(hexadecimal(code))", .backOff, what,
            "It is tried again by itself; if it stays so, restart the band.")
    }
}

private func hexadecimal(_ code: UInt8) -> String {
    (code < 16 ? "0x0" : "0x") + String(code, radix: 16)
}
