import Locking
import Threading

/// A connection that only reads, beside those that write.
actor ReadConnection {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var slot: SessionSlot
    private var isClosed = false

    init(_ engine: any SQLEngine, label: String) {
        executor = QueueExecutor(label: label)
        slot = SessionSlot(engine, toWrite: false)
    }

    /// Runs `body` on one snapshot of the database.
    func perform<Value: Sendable>(
        _ body: @Sendable (any SQLSession) throws(StorageFailure) -> Value
    ) throws(StorageFailure) -> Value {
        guard !isClosed else { throw StorageFailure(.unavailable, "the storage is closed") }
        return try slot.with {
            session throws(StorageFailure) in
            try session.beginReading()
        } then: { session, _ throws(StorageFailure) in
            let value = try body(session)
            try session.commit([])
            return value
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
    private let connections: [ReadConnection]
    /// Questions at each of them, the one that is being answered included.
    private let questions: Guarded<[Int]>

    /// `count`: nil = as many as the engine has for each kind of reading.
    init(_ engine: any SQLEngine, label: String, count: Int? = nil) {
        connections = (0..<max(1, count ?? engine.readersOfAKind)).map { _ in
            ReadConnection(engine, label: label)
        }
        questions = Guarded(Array(repeating: 0, count: connections.count))
    }

    var count: Int { connections.count }

    func perform<Value: Sendable>(
        _ body: @Sendable (any SQLSession) throws(StorageFailure) -> Value
    ) async throws(StorageFailure) -> Value {
        let place = questions.withLock { questions in
            let place = questions.indices.min { questions[$0] < questions[$1] } ?? 0
            questions[place] += 1
            return place
        }
        defer { questions.withLock { $0[place] -= 1 } }
        return try await connections[place].perform(body)
    }

    func close() async { for connection in connections { await connection.close() } }
}
