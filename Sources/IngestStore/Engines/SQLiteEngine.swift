import Glibc
import SQLite

/// One SQLite file: one connection writes, others read beside it (write-ahead log).
struct SQLiteEngine: SQLEngine {
    /// Pages of the log until it is written back; 64 MiB.
    private static let checkpointPages = 16_384
    /// KiB.
    private static let writerCache = 65_536
    private static let readerCache = 8_192

    let path: String
    var writers: Int { 1 }
    var readersOfAKind: Int { 1 }
    var name: String { path }

    /// Makes the file, for its owner's eyes only, when it is not there.
    func prepare(report: @Sendable (StoragePreparation) -> Void) throws(StorageFailure) {
        // SQLite gives its own files (`-wal`, `-shm`) the mode of the database.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StorageFailure(.unavailable, "can't make \(path): \(String(cString: strerror(errno)))")
        }
        fsync(descriptor)
        Glibc.close(descriptor)
        try session(toWrite: true, until: .now + TimeLimits.background.end, report: report).close()
    }

    func connect(toWrite: Bool, until end: ContinuousClock.Instant) throws(StorageFailure) -> any SQLSession {
        try session(toWrite: toWrite, until: end, report: { _ in })
    }

    private func session(
        toWrite: Bool, until end: ContinuousClock.Instant, report: (StoragePreparation) -> Void
    ) throws(StorageFailure) -> any SQLSession {
        guard let identity = FileIdentity(path: path) else {
            throw StorageFailure(.unavailable, "\(path) is gone")
        }
        return try StorageFailure.translating { () throws(any Error) in
            let database = try Database(
                path: path, access: .readWrite, busyTimeout: SQLiteSession.wait(until: end))
            try SQLiteSchema.check(database)
            if toWrite {
                // "With synchronous=FULL in WAL mode, an additional sync operation of the WAL file happens after
                // each transaction commit" (sqlite.org/pragma.html): an answer may follow the commit.
                let mode = try database.setPragma("journal_mode", "WAL")
                let synchronous = try database.setPragma("synchronous", "FULL")
                guard mode == "wal", synchronous == "2" else {
                    throw StorageFailure(.unavailable, "\(path): write-ahead log or full sync refused")
                }
                try database.setPragma("journal_size_limit", "134217728")
                // In a large store each upload changes pages of its own, and a checkpoint writes each page once, however
                // often it was changed since the last: with the usual 1,000 pages it would hardly ever meet one twice.
                try database.setPragma("wal_autocheckpoint", "\(Self.checkpointPages)")
                try database.setPragma("cache_size", "\(-Self.writerCache)")
                try SQLiteSchema.migrate(database, report: report)
            } else {
                try database.setPragma("cache_size", "\(-Self.readerCache)")
                try database.setPragma("query_only", "1")
            }
            let session = SQLiteSession(database, identity, toWrite: toWrite)
            session.limit(to: end)
            return session
        }
    }

    var freeBytes: UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
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

    /// Runs what speaks to SQLite.
    static func translating<Value>(_ body: () throws -> Value) throws(StorageFailure) -> Value {
        do {
            return try body()
        } catch let failure as StorageFailure {
            throw failure
        } catch let error as SQLiteError {
            throw StorageFailure(error)
        } catch {
            throw StorageFailure(.defect, "an unexpected error of type \(type(of: error))")
        }
    }
}
