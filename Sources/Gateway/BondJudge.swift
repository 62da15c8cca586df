import BlueZModel
import GatewayModel

/// What is known of a connection or a pairing that failed. The band was heard just before: without that there is no turn.
struct BondEvidence: Equatable {
    var kind: BlueZFailureKind
    var operation: BlueZOperation
    /// BlueZ had keys of the band before it was tried.
    var wasBonded: Bool
    var demand = PairingDemand.nothing
    /// BlueZ's word for why the link dropped, since 5.83: the name of the signal `Device1.Disconnected`.
    var reason: String?
}

/// Tells a bond that the band has lost from one that never was and from a wrong passkey. BlueZ says of all of them that
/// authentication failed, and 5.66 of the first only that the link broke: whether there were keys here tells them apart.
enum BondJudge {
    /// Nil = it is no matter of the bond.
    static func judge(_ evidence: BondEvidence) -> BondTrouble? {
        // The bond was not made for what happened here, and will be.
        if evidence.demand == .notNow, !evidence.wasBonded { return nil }
        if evidence.reason == "org.bluez.Reason.Authentication" { return refused(evidence) }
        switch evidence.kind {
        case .authentication, .keyMissing, .notPaired:
            return refused(evidence)
        case .transient where evidence.operation == .connect,
            .notConnected where evidence.operation != .start:
            return evidence.wasBonded ? .doubtful : nil
        case .transient, .notConnected, .inProgress, .heldByAnother, .notPermitted, .gone, .noService,
            .notReady, .blocked, .adapterFault, .tooManyLinks, .applicationError, .attributeError,
            .unsupported, .invalidCall, .alreadyDone, .deadline, .serviceGone, .busGone, .accessDenied,
            .cancelled, .unknown:
            return nil
        }
    }

    private static func refused(_ evidence: BondEvidence) -> BondTrouble {
        if evidence.wasBonded { return .lost }
        switch evidence.demand {
        case .answered, .shown: return .wrongPasskey
        case .declined: return .declined
        case .nothing, .nobodyThere, .notNow: return .never
        }
    }
}
