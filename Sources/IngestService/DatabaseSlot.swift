import Glibc
import SQLite

/// Holds one connection to the storage's file, and makes a new one when the old can't be trusted any more.
struct DatabaseSlot {
    enum Use {
        case writing
        case reading
    }

    private let path: String
    private let use: Use
    private var database: Database?
    private var identity: FileIdentity?

    init(path: String, use: Use) {
        self.path = path
        self.use = use
    }

    /// Calls `body` with an open connection. After an error that may stick to the connection it is closed, so
    /// that a restored file or a disk that came back is found at the next call.
    mutating func with<Value>(_ body: (Database) throws -> Value) throws(StorageFailure) -> Value {
        do {
            return try body(try opened())
        } catch let failure as StorageFailure {
            throw failure
        } catch let error as SQLiteError {
            let failure = StorageFailure(error)
            if failure.kind == .damaged || error.code.primary != .full { close() }
            throw failure
        } catch {
            throw StorageFailure(.defect, "an unexpected error of type \(type(of: error))")
        }
    }

    mutating func close() {
        database = nil
        identity = nil
    }

    private mutating func opened() throws -> Database {
        let current = FileIdentity(path: path)
        if let database, let current, current == identity { return database }
        // What the path names is not what was open: writing on would store into a file that nobody can find.
        close()
        guard current != nil else { throw StorageFailure(.unavailable, "\(path) is gone") }
        let database = try Database(path: path, access: .readWrite)
        try Self.configure(database, use)
        self.database = database
        identity = current
        return database
    }

    private static func configure(_ database: Database, _ use: Use) throws {
        try Schema.check(database)
        switch use {
        case .reading:
            try database.setPragma("query_only", "1")
        case .writing:
            // "With synchronous=FULL in WAL mode, an additional sync operation of the WAL file happens after
            // each transaction commit" (sqlite.org/pragma.html): an answer may follow the commit.
            let mode = try database.setPragma("journal_mode", "WAL")
            let synchronous = try database.setPragma("synchronous", "FULL")
            guard mode == "wal", synchronous == "2" else {
                throw StorageFailure(.unavailable, "\(database.path): write-ahead log or full sync refused")
            }
            try database.setPragma("journal_size_limit", "67108864")
            try Schema.migrate(database)
        }
        try database.setPragma("cache_size", "-8192")
    }
}

/// Which file a path names.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

extension StorageFailure {
    init(_ error: SQLiteError) {
        let kind: Kind =
            switch error.code.primary {
            case .corrupt, .notADatabase: .damaged
            case .constraint, .misuse, .range, .mismatch, .error, .tooBig: .defect
            default: .unavailable
            }
        // A call's SQL has no values in it: they are bound.
        self.init(kind, error.description)
    }
}
