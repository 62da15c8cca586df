import BandProfile
import BlueZModel
import DBus
import GatewayBus
import GatewayModel
import Store

/// Problems of a sync that neither BlueZ nor the store named.
extension StoreError {
    var problem: Problem {
        Problem(code: "store_\(kind.rawValue)", text: "\(operation): \(message).", remedy: remedy)
    }
}

extension BlueZFailure {
    static let notHeard = BlueZFailure(
        kind: .transient, during: .connect, text: "the band was not heard while listening for it")
    static let stopped = BlueZFailure(kind: .cancelled, during: .connect, text: "the gateway is stopping")

    var problem: Problem { Problem(code: code, text: sentence, remedy: remedy) }
}

extension Problem {
    static let stopping = Problem(
        code: "stopping", text: "The gateway is stopping.", remedy: "Try again when it runs.")

    static let storeOpening = Problem(
        code: "store_opening", text: "The database is being checked, or salvaged.",
        remedy: "Wait: a large one takes some minutes. Nothing is acknowledged meanwhile.")

    static let interrupted = Problem(
        code: "link_lost", text: "The link to the band went down during the sync.",
        remedy: "Nothing is lost: the sync resumes by itself. If it happens often, bring the band nearer.")

    static let stalled = Problem(
        code: "stalled", text: "The band stopped sending its history several times.",
        remedy: "The gateway tries again by itself. If it goes on, restart the band.")

    static func protocolFault(_ text: String) -> Problem {
        Problem(
            code: "band_protocol", text: text + ".",
            remedy: "The gateway tries again by itself. If it goes on, update the band's firmware.")
    }

    static func unexpected(_ error: any Error) -> Problem {
        switch error {
        case let error as StoreError: error.problem
        case let failure as BlueZFailure: failure.problem
        default: Problem(code: "internal", text: "\(error).", remedy: "Report this as a defect.")
        }
    }

    /// The band is left alone until somebody acts, or for a day.
    static func bond(_ trouble: BondTrouble, of band: BluetoothAddress) -> Problem {
        let pair = "Put the band into pairing mode and run 'bandferry pair \(band)'"
        let (text, remedy) =
            switch trouble {
            case .lost:
                (
                    "The band has lost the bond that this host still has.",
                    pair + ": it removes the old bond and makes a new one."
                )
            case .never:
                (
                    "The band asks for pairing and refuses it: it is not in pairing mode, or it wants a passkey.",
                    pair + " at a terminal: it asks for the passkey where there is one."
                )
            case .wrongPasskey:
                (
                    "The passkey was wrong, or came too late.",
                    pair + " again, with the digits that the band shows."
                )
            case .declined:
                ("The pairing was declined, or nobody answered in time.", pair + " and answer what it asks.")
            case .doubtful:
                (
                    "The band is heard, and each connection breaks: it may have lost the bond that this host has.",
                    "Bring the band nearer. If it stays so: \(pair.prefix(1).lowercased() + pair.dropFirst())."
                )
            }
        return Problem(code: trouble.rawValue, text: text, remedy: remedy)
    }

    // MARK: the radio

    static func bluetoothStuck(_ adapter: BluetoothAddress, mayRestart: Bool) -> Problem {
        Problem(
            code: "bluetooth_stuck",
            text: "Adapter \(adapter) does not do as it is told; switching it off and on has not helped.",
            remedy: "Plug the adapter out and in, or run `systemctl restart bluetooth`."
                + (mayRestart ? "" : " With restart_bluetooth = yes the gateway does it by itself."))
    }

    static func restartRefused(_ failure: BlueZFailure) -> Problem {
        Problem(
            code: "bluetooth_restart_refused",
            text: "bluetooth.service has to be restarted, and systemd did not do it for this user: "
                + "\(failure.text.isEmpty ? failure.name : failure.text).",
            remedy:
                "Run `systemctl restart bluetooth`; docs/bluez-setup.md has the polkit rule that permits it.")
    }

    // MARK: org.bandferry

    static let busNameTaken = Problem(
        code: "bus_name_taken", text: "Another daemon owns org.bandferry on this bus.",
        remedy: "Stop the other one, or use `bandferry` with its configuration file.")

    static func busPolicyMissing(_ file: String) -> Problem {
        Problem(
            code: "bus_policy_missing",
            text: "The bus does not let this user own org.bandferry; the sync goes on.",
            remedy: "Install \(file) and run `systemctl reload dbus`; `make install` does it.")
    }

    static func busUnavailable(_ error: any Error) -> Problem {
        Problem(
            code: "bus_unavailable", text: "The message bus can't be reached: \(error).",
            remedy: "Start dbus (`systemctl start dbus`), or set DBUS_SYSTEM_BUS_ADDRESS.")
    }
}
