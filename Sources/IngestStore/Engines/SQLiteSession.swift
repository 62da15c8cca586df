import SQLite

/// A connection with a SQLite file.
final class SQLiteSession: SQLSession {
    private let database: Database
    private let identity: FileIdentity
    private let toWrite: Bool
    private var prepared: [String: Prepared] = [:]
    /// The last transaction that was to write did not begin.
    private var isLockedOut = false

    /// A statement and which of the call's values each of its parameters takes.
    private struct Prepared {
        let statement: Statement
        let places: [Int]
    }

    init(_ database: Database, _ identity: FileIdentity, toWrite: Bool) {
        self.database = database
        self.identity = identity
        self.toWrite = toWrite
    }

    /// What the path names is not what was open: writing on would store into a file that nobody can find.
    var isUsable: Bool { FileIdentity(path: database.path) == identity }

    /// For another process's lock, which is the only thing that it waits for.
    private static let longestWait = Duration.seconds(5)
    /// Of a checkpoint at the end, without which nothing is lost.
    private static let longestTidying = Duration.seconds(1)

    static func wait(until end: ContinuousClock.Instant) -> Duration {
        // SQLite counts the pauses that it asks for; on a busy machine each is longer.
        max(.zero, min(longestWait, (end - .now) * 9 / 10))
    }

    func limit(to end: ContinuousClock.Instant) { database.limitWaiting(to: Self.wait(until: end)) }

    func beginWriting(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
        do {
            try StorageFailure.translating { try database.run("BEGIN IMMEDIATE") }
        } catch {
            isLockedOut = true
            throw error
        }
        isLockedOut = false
        return try run(calls)
    }

    func beginReading() throws(StorageFailure) {
        try StorageFailure.translating { try database.run("BEGIN DEFERRED") }
    }

    func run(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
        try StorageFailure.translating { try calls.map { try result(of: $0) } }
    }

    func commit(_ calls: [SQLCall]) throws(StorageFailure) {
        _ = try run(calls)
        try StorageFailure.translating { try database.run("COMMIT") }
    }

    func rollBack() {
        // A full disk or an I/O error has ended the transaction already.
        if database.isInTransaction { try? database.execute("ROLLBACK") }
    }

    func close() {
        prepared = [:]
        // Whoever has the lock would have to be waited for once more.
        guard toWrite, !isLockedOut else { return }
        database.limitWaiting(to: Self.longestTidying)
        _ = try? database.checkpoint(.truncate)
    }

    private func result(of call: SQLCall) throws -> SQLResult {
        let prepared = try prepare(call.text)
        let statement = prepared.statement
        defer { statement.reset() }
        for (index, place) in prepared.places.enumerated() {
            guard place < call.values.count else {
                throw StorageFailure(.defect, "a statement has more parameters than values")
            }
            let parameter = Int32(index + 1)
            switch call.values[place] {
            case .null: try statement.bindNull(parameter)
            case .integer(let value): try statement.bind(parameter, value)
            case .text(let value): try statement.bind(parameter, value)
            case .bytes(let value): try statement.bind(parameter, value)
            }
        }
        var result = SQLResult()
        while try statement.step() {
            result.rows.append(
                SQLRow(
                    (0..<Int32(statement.columnCount)).map { column in
                        switch statement.value(column) {
                        case .integer(let value): .integer(value)
                        case .text(let value): .text(value)
                        case .blob(let value): .bytes(value)
                        case .null, .real: .null
                        }
                    }))
        }
        return result
    }

    private func prepare(_ text: String) throws -> Prepared {
        if let known = prepared[text] { return known }
        // One writer holds the lock of the whole file.
        let statement = try database.prepare(text.replacing(" FOR UPDATE SKIP LOCKED", with: ""))
        // SQLite numbers `$n` by first appearance.
        let places = try statement.parameterNames.map { name in
            guard let name, name.hasPrefix("$"), let number = Int(name.dropFirst()), number > 0 else {
                throw StorageFailure(.defect, "a parameter of a statement is not $1, $2 and so on")
            }
            return number - 1
        }
        let made = Prepared(statement: statement, places: places)
        prepared[text] = made
        return made
    }
}
