import CSQLite

/// One connection to one database file. Not thread-safe: it belongs to one thread, queue or actor.
///
/// Opened in SQLite's multi-thread mode: "SQLite can be safely used by multiple threads provided that no single
/// database connection nor any object derived from it is used in two or more threads at the same time."
public final class Database {
    /// How to open a file.
    public enum Access: Sendable {
        case readWrite
        /// Makes the file when it is not there.
        case create
        case readOnly
        /// Read-only, without locks, for a file that nobody writes to: needs neither `-wal` nor `-shm`.
        case immutable
    }

    /// How `transaction` begins.
    public enum TransactionKind: String, Sendable {
        case deferred = "BEGIN DEFERRED"
        /// Takes the write lock at once, so that a transaction that writes never fails half way with SQLITE_BUSY.
        case immediate = "BEGIN IMMEDIATE"
        case exclusive = "BEGIN EXCLUSIVE"
    }

    public let path: String
    let connection: Connection
    private(set) var cache: [String: Statement] = [:]
    /// More distinct statements than any program here has; past it the cache starts anew.
    private static let cacheLimit = 256

    /// `vfs` names a registered SQLite VFS; nil = the default one. `busyTimeout` bounds every wait for a lock.
    public init(
        path: String, access: Access = .create, busyTimeout: Duration = .seconds(5), vfs: String? = nil
    ) throws(SQLiteError) {
        let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let target: String
        let flags: Int32
        switch access {
        case .readWrite: (target, flags) = (path, SQLITE_OPEN_READWRITE | common)
        case .create: (target, flags) = (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | common)
        case .readOnly: (target, flags) = (path, SQLITE_OPEN_READONLY | common)
        case .immutable:
            (target, flags) = (
                Self.uri(path) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | common
            )
        }
        self.path = path
        connection = try Connection(path: path, target: target, flags: flags, vfs: vfs)
        limitWaiting(to: busyTimeout)
    }

    /// Bounds every wait for a lock from now on.
    public func limitWaiting(to busyTimeout: Duration) {
        let parts = busyTimeout.components
        sqlite3_busy_timeout(
            connection.handle,
            Int32(clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000))
    }

    // MARK: Statements

    /// Runs one or more statements without parameters and drops their rows.
    public func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(connection.handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw connection.error(code, "execute \"\(sql)\"") }
    }

    /// A statement of the caller's own, for hot paths and long-lived owners.
    public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(sql, on: connection, persistent: true)
    }

    /// A statement from the cache of this connection, reset and with no bindings. If the cached one is in the
    /// middle of a run, a fresh one is made.
    public func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let cached = cache[sql] {
            if cached.isBusy { return try Statement(sql, on: connection, persistent: false) }
            cached.clearBindings()
            return cached
        }
        let fresh = try Statement(sql, on: connection, persistent: true)
        if cache.count >= Self.cacheLimit { cache.removeAll() }
        cache[sql] = fresh
        return fresh
    }

    /// Runs one statement to its end.
    public func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) {
        try statement(sql).run(values)
    }

    /// Calls `body` for each row. The statement is reset when `body` throws.
    public func query(
        _ sql: String, _ values: SQLiteValue..., body: (Statement) throws -> Void
    ) throws {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    /// The first row, turned into a value; nil when there is none.
    public func first<Value>(
        _ sql: String, _ values: SQLiteValue..., row: (Statement) throws -> Value
    ) throws -> Value? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? try row(statement) : nil
    }

    /// Every row, turned into a value. For results that are known to be small.
    public func all<Value>(
        _ sql: String, _ values: SQLiteValue..., row: (Statement) throws -> Value
    ) throws -> [Value] {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var rows: [Value] = []
        while try statement.step() { rows.append(try row(statement)) }
        return rows
    }

    /// Rows changed by the last INSERT, UPDATE or DELETE.
    @inline(__always)
    public var changes: Int { Int(sqlite3_changes(connection.handle)) }

    public var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(connection.handle) }

    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    // MARK: Transactions

    public var isInTransaction: Bool { sqlite3_get_autocommit(connection.handle) == 0 }

    /// Runs `body` in one transaction: committed when it returns, rolled back when it or the commit throws.
    /// Not to be nested. The transaction is durable when this returns, as far as `synchronous` says.
    public func transaction<Value>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Value
    ) throws -> Value {
        try statement(kind.rawValue).run()
        do {
            let value = try body()
            try statement("COMMIT").run()
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Ends a transaction that failed. Some errors (a full disk, an I/O error) have already rolled it back.
    private func rollBack() {
        if isInTransaction { sqlite3_exec(connection.handle, "ROLLBACK", nil, nil, nil) }
    }

    // MARK: Helpers

    /// `file:` with everything but unreserved characters and `/` percent-encoded.
    static func uri(_ path: String) -> String {
        var text = path.hasPrefix("/") ? "file://" : "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
                UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text
    }
}
