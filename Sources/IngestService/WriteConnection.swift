import SQLite

/// The one writer. Requests that wait while a commit syncs are committed together by the next.
actor WriteConnection {
    /// Enough for every connection that the HTTP server takes; past it a request is refused, not kept.
    private static let waitingLimit = 1024
    /// Bounds how long the first of a group waits for the last.
    private static let groupLimit = 64

    private let executor = QueueExecutor(label: "ingest-writer")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var slot: DatabaseSlot
    private var waiting: [WriteJob] = []
    private var isClosed = false
    /// Groups committed so far.
    private(set) var commits = 0
    /// When something was last written durably; nil after a failure.
    private var lastSuccess: ContinuousClock.Instant?
    /// Since the last failure nothing as large as a full batch was written: a small write may fit where none fits.
    private(set) var roomIsInDoubt = false

    init(path: String) { slot = DatabaseSlot(path: path, use: .writing) }

    /// Runs `body` in a transaction, maybe with others; returns after the commit. `provesRoom` when what it
    /// writes is as large as what the store must be able to take.
    func perform<Value: Sendable>(
        provesRoom: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageFailure) -> Value {
        guard !isClosed else { throw StorageFailure(.unavailable, "the storage is closed") }
        guard waiting.count < Self.waitingLimit else {
            throw StorageFailure(.overloaded, "\(Self.waitingLimit) requests wait for the storage")
        }
        let result = await withCheckedContinuation { continuation in
            waiting.append(WriteJob(provesRoom: provesRoom, body) { continuation.resume(returning: $0) })
            // What is already on its way to this actor joins the group before the task runs.
            if waiting.count == 1 { Task { self.commitGroup() } }
        }
        return try result.get()
    }

    /// How long ago something was written durably, with no failure since.
    func sinceLastSuccess() -> Duration? { lastSuccess.map { .now - $0 } }

    func open() throws(StorageFailure) { try slot.with { _ in } }

    func close() {
        isClosed = true
        // What is still waiting is committed first: it was accepted before.
        while !waiting.isEmpty { commitGroup() }
        try? slot.with { _ = try $0.checkpoint(.truncate) }
        slot.close()
    }

    private func commitGroup() {
        guard !waiting.isEmpty else { return }
        let group = Array(waiting.prefix(Self.groupLimit))
        waiting.removeFirst(group.count)
        if !waiting.isEmpty { Task { self.commitGroup() } }
        do {
            let outcomes = try slot.with { database in
                try database.transaction {
                    try group.map { try $0.run(in: database, alone: group.count == 1) }
                }
            }
            lastSuccess = .now
            commits += 1
            if group.contains(where: \.provesRoom) { roomIsInDoubt = false }
            for outcome in outcomes { outcome() }
        } catch {
            lastSuccess = nil
            roomIsInDoubt = true
            for job in group { job.fail(error) }
        }
    }
}

/// One request's part of a group, and how to tell it the outcome once the group is durable.
private struct WriteJob {
    let provesRoom: Bool
    private let body: @Sendable (Database) throws -> @Sendable () -> Void
    let fail: @Sendable (StorageFailure) -> Void

    init<Value: Sendable>(
        provesRoom: Bool, _ body: @escaping @Sendable (Database) throws -> Value,
        deliver: @escaping @Sendable (Result<Value, StorageFailure>) -> Void
    ) {
        self.provesRoom = provesRoom
        self.body = { database in
            let value = try body(database)
            return { deliver(.success(value)) }
        }
        fail = { deliver(.failure($0)) }
    }

    /// A defect of one request leaves the others of the group alone; anything else fails the whole group.
    func run(in database: Database, alone: Bool) throws -> @Sendable () -> Void {
        if alone { return try body(database) }
        try database.execute("SAVEPOINT job")
        do {
            let outcome = try body(database)
            try database.execute("RELEASE job")
            return outcome
        } catch {
            // A full disk or an I/O error has ended the transaction, and the savepoint with it.
            guard database.isInTransaction else { throw error }
            let failure = (error as? SQLiteError).map(StorageFailure.init) ?? (error as? StorageFailure)
            guard let failure, failure.kind == .defect else { throw error }
            try database.execute("ROLLBACK TO job")
            try database.execute("RELEASE job")
            let fail = fail
            return { fail(failure) }
        }
    }
}
