import SQLite

/// A connection that only reads: the write-ahead log lets it go on while the writer commits.
actor ReadConnection {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var slot: DatabaseSlot
    private var isClosed = false

    init(path: String, label: String) {
        executor = QueueExecutor(label: label)
        slot = DatabaseSlot(path: path, use: .reading)
    }

    /// Runs `body` on one snapshot of the database.
    func perform<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) throws(StorageFailure) -> Value {
        guard !isClosed else { throw StorageFailure(.unavailable, "the storage is closed") }
        return try slot.with { database in try database.transaction(.deferred) { try body(database) } }
    }

    func close() {
        isClosed = true
        slot.close()
    }
}
