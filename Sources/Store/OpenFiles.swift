import Locking
import SQLite

#if canImport(Glibc)
    import Glibc
#endif

/// The files that a connection writes to, by what they are: their names may come to belong to others.
///
/// A file that is removed, or that another one is moved over, can be written to until it is closed, and SQLite does
/// so. What is committed there the next start does not find.
struct OpenFiles: Equatable, Sendable {
    struct Identity: Equatable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    /// As the next start opens it; may be a link.
    let path: String
    /// Beside the file that the link leads to.
    let logPath: String
    let database: Identity
    /// Stays one file while the connection is open: SQLite only removes it when the last one closes.
    let log: Identity
    let index: Identity?

    /// Of a connection in WAL mode that has read or written.
    init(of database: Database) throws(StoreError) {
        path = database.path
        logPath = database.fileName + "-wal"
        guard let main = try Self.identity(of: path), !database.hasMoved else {
            throw Self.moved(path, "it is gone")
        }
        guard let log = try Self.identity(of: logPath) else { throw Self.moved(path, "its log is gone") }
        self.database = main
        self.log = log
        index = try Self.identity(of: database.fileName + "-shm")
    }

    private static let operation = "look where the database is"

    /// Throws `.moved` when what is committed through this connection is not what the next start opens; `.io` when
    /// that can't be told. Two calls of stat(2).
    func requireInPlace() throws(StoreError) {
        if try !isDatabaseInPlace() {
            let isGone = try Self.identity(of: path) == nil
            throw Self.moved(
                path,
                isGone ? "it was removed while it was open" : "another file took its place while it was open")
        }
        guard try Self.identity(of: logPath) == log else {
            throw Self.moved(path, "its log (-wal) was removed while it was open")
        }
    }

    func isDatabaseInPlace() throws(StoreError) -> Bool { try Self.identity(of: path) == database }

    /// Somebody has written to a log of the same name that is not this one.
    func isLogForeign() -> Bool {
        var facts = stat()
        guard stat(logPath, &facts) == 0 else { return false }
        return Identity(facts) != log && facts.st_size > 0
    }

    /// The log and its index stay behind when the database is taken away, and would be read as another one's. Only what is open
    /// here is touched; a log that still holds something is given another name.
    func removeLeftBehind(renaming name: String) {
        var facts = stat()
        if stat(logPath, &facts) == 0, Identity(facts) == log {
            if facts.st_size == 0 { unlink(logPath) } else { rename(logPath, name) }
        }
        let indexPath = logPath.dropLast("-wal".count) + "-shm"
        if stat(String(indexPath), &facts) == 0, Identity(facts) == index { unlink(String(indexPath)) }
    }

    private static func identity(of path: String) throws(StoreError) -> Identity? {
        var facts = stat()
        if stat(path, &facts) == 0 { return Identity(facts) }
        let number = errno
        if number == ENOENT || number == ENOTDIR { return nil }
        throw StoreError(
            kind: .io, operation: operation, path: path, message: String(cString: strerror(number)))
    }

    private static func moved(_ path: String, _ message: String) -> StoreError {
        StoreError(kind: .moved, operation: operation, path: path, message: message)
    }
}

extension OpenFiles.Identity {
    fileprivate init(_ facts: stat) {
        self.init(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
    }
}

/// Says which files the store of this process has open, while it has.
///
/// Two files under one name share a log and its index by that name: another connection of the process that met the new one
/// would mix both. So whoever opens the database beside the store asks here first.
final class OpenFilesNotice: Sendable {
    private static let notices = Guarded<[String: [OpenFilesNotice]]>([:])

    let files: OpenFiles

    private init(_ files: OpenFiles) { self.files = files }

    static func post(_ files: OpenFiles) -> OpenFilesNotice {
        let notice = OpenFilesNotice(files)
        notices.withLock { $0[files.path, default: []].append(notice) }
        return notice
    }

    func withdraw() {
        Self.notices.withLock { notices in
            notices[files.path]?.removeAll { $0 === self }
            if notices[files.path]?.isEmpty == true { notices[files.path] = nil }
        }
    }

    /// Throws `.moved` when the store here has other files open than those that are there now.
    static func requireInPlace(_ path: String) throws(StoreError) {
        try notices.withLock { $0[path]?.last }?.files.requireInPlace()
    }
}

extension Database {
    /// A transaction that is only told to be done when it is in these files. Looked at before the commit, so that as a rule
    /// nothing is written where it is lost, and after it, because only then it is known.
    func transaction<Value>(
        _ kind: TransactionKind, in files: OpenFiles, _ body: () throws -> Value
    ) throws -> Value {
        let value = try transaction(kind) {
            let value = try body()
            try files.requireInPlace()
            return value
        }
        try files.requireInPlace()
        return value
    }
}
