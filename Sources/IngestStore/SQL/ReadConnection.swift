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

/// Some connections that take turns.
final class ReadPool: Sendable {
    private let connections: [ReadConnection]
    private let next = Guarded(0)

    init(_ engine: any SQLEngine, label: String) {
        connections = (0..<max(1, engine.readersOfAKind)).map { _ in ReadConnection(engine, label: label) }
    }

    func perform<Value: Sendable>(
        _ body: @Sendable (any SQLSession) throws(StorageFailure) -> Value
    ) async throws(StorageFailure) -> Value {
        let turn = next.withLock {
            $0 = ($0 + 1) % connections.count
            return $0
        }
        return try await connections[turn].perform(body)
    }

    func close() async { for connection in connections { await connection.close() } }
}
