import BandProfile
import BlueZModel
import Conditions
import DBus
import GatewayBus
import GatewayModel
import Store

extension BlueZFailure {
    static let notHeard = BlueZFailure(
        kind: .transient, during: .connect, text: "the band was not heard while listening for it")
    static let stopped = BlueZFailure(kind: .cancelled, during: .connect, text: "the gateway is stopping")

    var problem: Problem { Problem(condition, parameters) }

    /// With its address where the fix is a command.
    func problem(of band: BluetoothAddress) -> Problem {
        Problem(condition, parameters(ofBand: band.description))
    }
}

/// Problems of a sync that neither BlueZ nor the store named.
extension Problem {
    static let stopping = Problem(.stopping)

    static let storeOpening = Problem(.storeOpening)

    static let interrupted = Problem(.interrupted)

    static let stalled = Problem(.stalled)

    static func protocolFault(_ text: String) -> Problem {
        Problem(.bandProtocol, ["what": text])
    }

    static func unexpected(_ error: any Error) -> Problem {
        switch error {
        case let error as StoreError: error.problem
        case let failure as BlueZFailure: failure.problem
        default: Problem(.internalFault, ["error": "\(error)"])
        }
    }

    /// The band is left alone until somebody acts, or for a while: see `BondTrouble.rest`.
    static func bond(_ trouble: BondTrouble, of band: BluetoothAddress) -> Problem {
        Problem(
            trouble.condition, ["band": band.description, "operation": "use the bond", "detail": ""])
    }

    // MARK: the radio

    static func bluetoothStuck(_ adapter: BluetoothAddress, mayRestart: Bool) -> Problem {
        Problem(
            mayRestart ? .bluetoothStuck : .bluetoothStuckForGood, ["adapter": adapter.description])
    }

    static func restartRefused(_ failure: BlueZFailure) -> Problem {
        Problem(.restartRefused, ["reason": failure.text.isEmpty ? failure.name : failure.text])
    }

    // MARK: org.bandferry

    static let busNameTaken = Problem(.busNameTaken)

    static func busPolicyMissing(_ file: String) -> Problem {
        Problem(.busPolicyMissing, ["file": file])
    }

    static func busUnavailable(_ error: any Error) -> Problem {
        Problem(.busUnavailable, ["error": "\(error)"])
    }
}

extension BondTrouble {
    /// Its code is the trouble's own.
    var condition: Condition {
        switch self {
        case .lost: .bondLost
        case .never: .neverPaired
        case .wrongPasskey: .wrongPasskey
        case .declined: .pairingDeclined
        case .doubtful: .bondDoubtful
        }
    }
}
