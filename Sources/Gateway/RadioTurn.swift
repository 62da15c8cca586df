import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import RadioSchedule

/// A band's turn on the radio: it was heard just now, and a slot is kept for it.
struct RadioTurn: Sendable {
    /// Over which to connect.
    var adapter: BluetoothAddress
    /// To be called when the link is there: the next attempt may begin. More than once does no harm.
    var linked: @Sendable () -> Void
}

/// How a turn ended, its link gone.
struct TurnEnd: Sendable {
    var outcome: SyncOutcome
    /// What BlueZ said, if it was BlueZ.
    var failure: BlueZFailure?
    /// Something was read from the band: the radio works.
    var moved = false
}

/// What the end of a turn says of its adapter, or of bluetoothd.
struct RadioSuspicion: Equatable, Sendable {
    /// Nil = nothing, if bluetoothd answers.
    var symptom: RadioSymptom?
    /// bluetoothd is asked first: where it does not answer, it is that which is noticed.
    var isAskedFirst = false
    /// It may be the band as well, or where it is.
    var isOfBand = true
}

extension TurnEnd {
    /// - Parameters:
    ///   - isStillLinked: its owner is done with the link, and BlueZ shows it still
    ///   - otherLinks: that its adapter held when it ended
    /// - Returns: nil = nothing that says anything of the radio
    func suspicion(isStillLinked: Bool, otherLinks: Int = 0) -> RadioSuspicion? {
        // Another program keeps the link, or makes it again at once: it is in use, not stuck.
        if failure?.kind == .heldByAnother { return nil }
        if isStillLinked { return RadioSuspicion(symptom: .stuckLink, isAskedFirst: true) }
        guard !moved, let failure else { return nil }
        let isOfConnect = failure.operation == .connect
        switch failure.kind {
        case .deadline: return RadioSuspicion(symptom: isOfConnect ? .connectFailed : nil, isAskedFirst: true)
        case .transient where isOfConnect && failure != .notHeard:
            return RadioSuspicion(symptom: .connectFailed)
        case .adapterFault: return RadioSuspicion(symptom: .adapterFault, isOfBand: isOfConnect)
        // A controller that holds links which nobody sees.
        case .tooManyLinks where otherLinks == 0: return RadioSuspicion(symptom: .adapterFault)
        default: return nil
        }
    }
}

/// Whoever wants turns for a band.
struct RadioMember: Sendable {
    /// Tells two members of one band apart, of which one goes while the other comes.
    final class Identity: Sendable {}

    var identity = Identity()
    var device: DeviceID
    var takeTurn: @Sendable (RadioTurn) async -> TurnEnd
    /// It was looked for and not heard, or there is no adapter: whoever waits is told.
    var couldNot: @Sendable (BlueZFailure) async -> Void
    /// Somebody waits for another turn.
    var isAskedFor: @Sendable () async -> Bool = { false }
}

/// What others may read of the radio at any time.
struct RadioBoard: Sendable {
    var counters = RadioCounters()
    /// Of the radio as such; bands have their own.
    var problem: Problem?
}

extension SyncOutcome {
    /// Of a session after which only a new connection goes on. One more is nothing bad; a band that ends each so is tried less
    /// and less often.
    ///
    /// - Parameter fruitless: such sessions in a row by which nothing was stored
    static func goingOn(fruitless: Int) -> SyncOutcome { fruitless < 2 ? .again : .failed(moved: false) }

    /// Whose fault a failure is, and whether trying again can help.
    init(_ failure: BlueZFailure, moved: Bool) {
        switch failure.kind {
        case .gone where failure == .unseen: self = .forgotten
        case .tooManyLinks: self = .noSlot
        case .blocked: self = .radioFault
        case .cancelled: self = .again
        default:
            switch failure.retry {
            case .whenAdapterIsReady, .whenServiceIsBack, .whenBusIsBack: self = .radioFault
            case .afterHelp: self = .needsHelp
            case .backOff, .rediscover, .reconnect, .goOn: self = .failed(moved: moved)
            }
        }
    }
}
