import BandProfile
import DBus
import GatewayModel
import Locking

/// What is asked of the one client that began a pairing, and what it answers.
final class PairingTalk: PairingPerson {
    /// Less than the 60 s after which BlueZ stops waiting.
    static let limit = Duration.seconds(55)

    let address: BluetoothAddress
    /// Unique name of the client on the bus.
    let client: String
    private let send: @Sendable (BusSignal) -> Void
    private let limit: Duration

    private struct State {
        var question: OneShot<PairingReply?>?
        var isGone = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    init(
        _ address: BluetoothAddress, with client: String, limit: Duration = PairingTalk.limit,
        send: @escaping @Sendable (BusSignal) -> Void
    ) {
        self.address = address
        self.client = client
        self.limit = limit
        self.send = send
    }

    var isGone: Bool { state.withLock { $0.isGone } }

    // MARK: asking

    func ask(_ question: PairingQuestion) async -> PairingReply? {
        guard !isGone else { return nil }
        if case .showPasskey = question {
            emitAsked(question)
            return nil
        }
        // Noted first: the answer may come before this goes on.
        let answer = OneShot<PairingReply?>()
        let before = state.withLock { state in
            defer { state.question = answer }
            return state.question
        }
        before?.set(nil)
        emitAsked(question)
        // It may have gone while the question was noted.
        if isGone { answer.set(nil) }
        let reply = await answer.value(within: limit, else: nil)
        // Too late is too late: an answer that comes now belongs to nothing.
        state.withLock { state in
            if state.question === answer { state.question = nil }
        }
        return reply
    }

    func withdraw() {
        take()?.set(nil)
        emit("PairingWithdrawn", [])
    }

    func told(_ progress: PairingProgress) { emit("PairingProgress", [.string(progress.rawValue)]) }

    // MARK: answers

    /// False when nothing is asked now.
    func answer(_ reply: PairingReply?) -> Bool {
        guard let question = take() else { return false }
        question.set(reply)
        return true
    }

    /// What `end` calls, to give up what runs.
    func onEnd(_ cancel: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            state.cancel = cancel
            return state.isGone
        }
        if isGone { cancel() }
    }

    /// The client gave up, or is gone.
    func end() {
        let (question, cancel) = state.withLock { state in
            defer { (state.isGone, state.question) = (true, nil) }
            return (state.question, state.cancel)
        }
        question?.set(nil)
        cancel?()
    }

    private func take() -> OneShot<PairingReply?>? {
        state.withLock { state in
            defer { state.question = nil }
            return state.question
        }
    }

    private func emitAsked(_ question: PairingQuestion) {
        emit("PairingAsked", [.properties(question.properties(seconds: limit))])
    }

    private func emit(_ member: String, _ arguments: [BusValue]) {
        send(
            BusSignal(
                path: GatewayBusNames.gatewayPath, interface: GatewayBusNames.gatewayInterface,
                member: member,
                arguments: [.string(address.description)] + arguments))
    }
}

extension PairingQuestion {
    /// docs/dbus-api.md, "Pairing".
    func properties(seconds: Duration) -> BusProperties {
        let limit = BusValue.uint32(UInt32(clamping: Int64(seconds / .seconds(1))))
        return switch self {
        case .enterPasskey: ["Kind": .string("enter"), "Seconds": limit]
        case .showPasskey(let passkey, let entered):
            [
                "Kind": .string("show"), "Passkey": .uint32(passkey),
                "Entered": .uint32(UInt32(clamping: entered)),
            ]
        case .comparePasskey(let passkey):
            ["Kind": .string("compare"), "Passkey": .uint32(passkey), "Seconds": limit]
        }
    }

    /// Nil for a kind that is not known here.
    init?(_ properties: BusProperties) {
        let passkey = properties.integer("Passkey").flatMap { UInt32(exactly: $0) }
        switch (properties.string("Kind"), passkey) {
        case ("enter", _): self = .enterPasskey
        case ("show", let passkey?): self = .showPasskey(passkey, entered: properties.integer("Entered") ?? 0)
        case ("compare", let passkey?): self = .comparePasskey(passkey)
        default: return nil
        }
    }
}

extension PairingReply {
    var properties: BusProperties {
        switch self {
        case .passkey(let passkey): ["Passkey": .uint32(passkey)]
        case .same: ["Accept": .bool(true)]
        }
    }

    /// Nil = no.
    static func reading(_ properties: BusProperties) throws(CommandFailure) -> PairingReply? {
        guard properties.count == 1, let (key, value) = properties.first else {
            throw CommandFailure(.invalidArguments, "answer with one of Passkey and Accept")
        }
        switch (key, value) {
        case ("Passkey", .uint32(let passkey)) where passkey <= 999_999: return .passkey(passkey)
        case ("Passkey", _): throw CommandFailure(.invalidArguments, "a passkey is a number (u) up to 999999")
        case ("Accept", .bool(let flag)): return flag ? .same : nil
        default:
            throw CommandFailure(.invalidArguments, "unknown answer or wrong type: \(key.prefix(40))")
        }
    }
}
