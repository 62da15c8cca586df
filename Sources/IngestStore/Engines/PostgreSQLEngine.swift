import PostgreSQL

/// A database of a PostgreSQL server, 15 or later, which other ingest servers may use at the same time.
struct PostgreSQLEngine: SQLEngine {
    let uri: String
    var times = Times()
    /// Each with a flush of its own; PostgreSQL lets them share it.
    var writers: Int { 4 }
    var readersOfAKind: Int { 2 }
    var freeBytes: UInt64? { nil }

    /// Without user, password and options.
    var name: String {
        let rest = uri.drop { $0 != "/" }.drop { $0 == "/" }
        let place = rest.prefix { $0 != "?" }
        return "postgresql://" + (place.split(separator: "@", omittingEmptySubsequences: false).last ?? place)
    }

    private static let oldestVersion = 150_000

    /// What the server and this side of a connection give up after.
    struct Times: Sendable {
        /// A call, where its transaction has no nearer end; and a statement. Whole seconds.
        var call = Duration.seconds(30)
        /// A statement that brings tables up to date: as long as the samples that are there make it.
        var upgrade = Duration.seconds(24 * 3600)
        /// Waiting for another server to do so, until it is said again.
        var wait = Duration.seconds(60)
    }

    func prepare(report: @Sendable (StoragePreparation) -> Void) throws(StorageFailure) {
        let connection = try open(until: nil)
        defer { connection.close() }
        guard connection.serverVersion >= Self.oldestVersion else {
            throw StorageFailure(
                .incompatible,
                "\(name) is PostgreSQL \(connection.serverVersion / 10_000); 15 or later is needed")
        }
        try StorageFailure.translating { () throws(PostgreSQLError) in
            try PostgreSQLSchema(connection: connection, name: name, times: times).bringUpToDate(report)
        }
    }

    func connect(toWrite: Bool, until end: ContinuousClock.Instant) throws(StorageFailure) -> any SQLSession {
        PostgreSQLSession(try open(until: end))
    }

    private func open(until end: ContinuousClock.Instant?) throws(StorageFailure) -> PostgreSQLConnection {
        let result = Result { () throws(PostgreSQLError) in
            let connection = try PostgreSQLConnection(uri, deadline: times.call, limit: end)
            // A server that hangs must not hold locks for ever, and whoever waits for one holds up others. What is answered must be on disk, whatever the
            // database's own setting is. Every statement names a key: a plan that was made while a table was empty
            // must not read all of it when it is full.
            try connection.script(
                """
                SET synchronous_commit = on; SET statement_timeout = '\(times.call.components.seconds)s'; SET lock_timeout = '1s';
                SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = warning;
                SET enable_seqscan = off; SET jit = off
                """)
            return connection
        }
        return try StorageFailure.translating { () throws(PostgreSQLError) in try result.get() }
    }
}

extension StorageFailure {
    init(_ error: PostgreSQLError) {
        guard case .server(let state) = error.kind else {
            self.init(error.kind == .misuse ? .defect : .unavailable, error.message)
            isCut = error.kind == .connection
            isStop = error.closedWith.map(Self.stops.contains) ?? false
            isLate = error.kind == .timeout
            return
        }
        // The classes are those of "PostgreSQL Error Codes", appendix A.
        switch state.prefix(2) {
        case "40", "55":
            // Serialization failure, deadlock, lock not available.
            self.init(.unavailable, "\(state): \(error.message)")
            isTransient = ["40001", "40P01", "55P03"].contains(state)
            isContended = ["40P01", "55P03"].contains(state)
        case "XX" where state != "XX000": self.init(.damaged, "\(state): \(error.message)")
        case "0A", "26":
            // A statement that was prepared before its table changed, or is not known behind a pooler.
            self.init(.unavailable, "\(state): \(error.message)")
            isTransient = true
        case "21", "22", "23", "42", "54": self.init(.defect, "\(state): \(error.message)")
        default:
            self.init(.unavailable, "\(state): \(error.message)")
            // Operator intervention: the server ended this connection.
            isCut = state.hasPrefix("57P")
            isStop = Self.stops.contains(state)
        }
    }

    /// admin_shutdown, crash_shutdown, cannot_connect_now. A full disk for the log of writes ends all connections as well, with a
    /// PANIC or without a word.
    private static let stops: Set = ["57P01", "57P02", "57P03"]

    static func translating<Value>(
        _ body: () throws(PostgreSQLError) -> Value
    ) throws(StorageFailure) -> Value {
        do {
            return try body()
        } catch {
            throw StorageFailure(error)
        }
    }
}
