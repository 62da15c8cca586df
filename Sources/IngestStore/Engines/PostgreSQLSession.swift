import PostgreSQL

/// A connection with PostgreSQL. The calls of a step go out together and cost one round trip.
final class PostgreSQLSession: SQLSession {
    private let connection: PostgreSQLConnection

    init(_ connection: PostgreSQLConnection) { self.connection = connection }

    var isUsable: Bool { !connection.isBroken }

    func limit(to end: ContinuousClock.Instant) { connection.limit = end }

    func beginWriting(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
        // Locks come first, and what is read after one must be what the last holder wrote: no snapshot from before.
        try perform(before: "BEGIN ISOLATION LEVEL READ COMMITTED", calls)
    }

    func beginReading() throws(StorageFailure) {
        _ = try perform(before: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", [])
    }

    func run(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] { try perform(calls) }

    func commit(_ calls: [SQLCall]) throws(StorageFailure) { _ = try perform(calls, after: "COMMIT") }

    func rollBack() {
        guard !connection.isBroken, connection.isInTransaction else { return }
        _ = try? connection.run([PostgreSQLCall("ROLLBACK")])
    }

    func close() { connection.close() }

    private func perform(
        before: String? = nil, _ calls: [SQLCall], after: String? = nil
    ) throws(StorageFailure) -> [SQLResult] {
        var all: [PostgreSQLCall] = []
        all.reserveCapacity(calls.count + 2)
        if let before { all.append(PostgreSQLCall(before)) }
        for call in calls { all.append(PostgreSQLCall(call.text, call.values.map(PostgreSQLValue.init))) }
        if let after { all.append(PostgreSQLCall(after)) }
        guard !all.isEmpty else { return [] }
        let results = try StorageFailure.translating { () throws(PostgreSQLError) in try connection.run(all) }
        return results.dropFirst(before == nil ? 0 : 1).prefix(calls.count).map { result in
            SQLResult(rows: result.rows.map { SQLRow($0.map(SQLValue.init)) })
        }
    }
}

extension PostgreSQLValue {
    fileprivate init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .int(value)
        case .text(let value): self = .text(value)
        case .bytes(let value): self = .bytes(value)
        }
    }
}

extension SQLValue {
    fileprivate init(_ value: PostgreSQLValue) {
        switch value {
        case .null: self = .null
        case .int(let value): self = .integer(value)
        case .text(let value): self = .text(value)
        case .bytes(let value): self = .bytes(value)
        }
    }
}
