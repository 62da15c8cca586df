import Locking
import Threading

/// A connection that only reads, beside those that write.
actor ReadConnection {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var slot: SessionSlot
    private var rules: WaitingRules
    private var isClosed = false

    init(_ engine: any SQLEngine, label: String, limits: TimeLimits) {
        executor = QueueExecutor(label: label)
        slot = SessionSlot(engine, toWrite: false)
        rules = WaitingRules(limits)
    }

    /// Runs `body`, which was asked for then, on one snapshot of the database.
    func perform<Value: Sendable>(
        asked: ContinuousClock.Instant, _ body: @Sendable (any SQLSession) throws(StorageFailure) -> Value
    ) throws(StorageFailure) -> Value {
        guard !isClosed else { throw StorageFailure(.unavailable, "the storage is closed") }
        if let refusal = rules.refusal(asked, at: .now) { throw refusal }
        do {
            return try slot.with(until: rules.end(asked)) {
                session throws(StorageFailure) in
                try session.beginReading()
            } then: { session, _ throws(StorageFailure) in
                let value = try body(session)
                try session.commit([])
                return value
            }
        } catch {
            rules.note(error, at: .now)
            throw error
        }
    }

    func close() {
        isClosed = true
        slot.close()
    }
}

/// Some connections. Each question goes to the one with the fewest before it, so a long one holds up none that could be
/// answered beside it.
final class ReadPool: Sendable {
    /// Questions at a connection. Beyond it a question is refused, not kept.
    private static let mostQuestions = 1024

    private let connections: [ReadConnection]
    /// Questions at each of them, the one that is being answered included.
    private let questions: Guarded<[Int]>
    private let mostQuestions: Int

    /// `count`: nil = as many as the engine has for each kind of reading.
    init(
        _ engine: any SQLEngine, label: String, count: Int? = nil, limits: TimeLimits = .request,
        mostQuestions: Int = ReadPool.mostQuestions
    ) {
        self.mostQuestions = mostQuestions
        connections = (0..<max(1, count ?? engine.readersOfAKind)).map { _ in
            ReadConnection(engine, label: label, limits: limits)
        }
        questions = Guarded(Array(repeating: 0, count: connections.count))
    }

    var count: Int { connections.count }

    func perform<Value: Sendable>(
        _ body: @Sendable (any SQLSession) throws(StorageFailure) -> Value
    ) async throws(StorageFailure) -> Value {
        let asked = ContinuousClock.now
        let place: Int? = questions.withLock { questions in
            let place = questions.indices.min { questions[$0] < questions[$1] } ?? 0
            guard questions[place] < mostQuestions else { return nil }
            questions[place] += 1
            return place
        }
        guard let place else {
            throw StorageFailure(.overloaded, "\(mostQuestions) questions wait for each connection")
        }
        defer { questions.withLock { $0[place] -= 1 } }
        return try await connections[place].perform(asked: asked, body)
    }

    func close() async { for connection in connections { await connection.close() } }
}
