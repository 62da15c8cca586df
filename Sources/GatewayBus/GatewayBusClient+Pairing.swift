import BandProfile
import DBus
import GatewayModel
import Locking

/// What the daemon says to the client that began a pairing.
public enum PairingNews: Equatable, Sendable {
    /// To be answered with `answerPairing` within the time; `.showPasskey` is not answered.
    case asked(PairingQuestion, within: Duration)
    /// The question is void.
    case withdrawn
    case progress(PairingProgress)
}

extension GatewayBusClient {
    /// Longest pairing: the band is listened for, connected, and a person answers two questions.
    private static let pairingDeadline = Duration.seconds(300)

    /// What is said of a band's pairing, from now on, in order. To be called before `adoptAsking` or `pair`.
    public func pairingNews(of address: BluetoothAddress) async -> AsyncStream<PairingNews> {
        // A dozen at most: each digit of a passkey, and some steps.
        let (stream, continuation) = AsyncStream.makeStream(
            of: PairingNews.self, bufferingPolicy: .bufferingNewest(64))
        news.withLock { $0 = continuation }
        await connection.setSignalHandler { signal in
            guard signal.interface == GatewayBusNames.gatewayInterface,
                signal.arguments.first?.text == address.description, let news = PairingNews(signal)
            else { return }
            continuation.yield(news)
        }
        await connection.setDisconnectHandler { continuation.finish() }
        return stream
    }

    /// Takes a band in and pairs it where it asks for that; questions come by `pairingNews`.
    public func adoptAsking(_ request: AdoptRequest) async throws(GatewayBusFailure) {
        var request = request
        request.isInteractive = true
        _ = try await call(
            "Adopt", [.string(request.address.description), .properties(request.options)],
            deadline: Self.pairingDeadline)
    }

    /// Removes the bond of an adopted band and makes a new one; questions come by `pairingNews`.
    public func pair(_ address: BluetoothAddress) async throws(GatewayBusFailure) {
        _ = try await call(
            "Pair", [.string(address.description), .properties([:])], deadline: Self.pairingDeadline)
    }

    /// Nil = no.
    public func answerPairing(
        _ address: BluetoothAddress, _ reply: PairingReply?
    ) async throws(GatewayBusFailure) {
        let answer = reply?.properties ?? ["Accept": .bool(false)]
        _ = try await call(
            "AnswerPairing", [.string(address.description), .properties(answer)], deadline: .seconds(20))
    }

    public func cancelPairing(_ address: BluetoothAddress) async throws(GatewayBusFailure) {
        _ = try await call("CancelPairing", [.string(address.description)], deadline: .seconds(20))
    }
}

extension PairingNews {
    /// Nil for what a newer daemon may say.
    init?(_ signal: BusSignal) {
        switch signal.member {
        case "PairingAsked":
            guard let properties = signal.arguments.last?.properties,
                let question = PairingQuestion(properties)
            else { return nil }
            self = .asked(question, within: .seconds(max(1, min(properties.integer("Seconds") ?? 55, 600))))
        case "PairingWithdrawn": self = .withdrawn
        case "PairingProgress":
            guard let state = signal.arguments.last?.text.flatMap({ PairingProgress(rawValue: $0) }) else {
                return nil
            }
            self = .progress(state)
        default: return nil
        }
    }
}
