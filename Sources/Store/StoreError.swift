import SQLite

/// Why the store could not do something, where, and what a person can do about it.
public struct StoreError: Error, Equatable, Sendable {
    public enum Kind: String, Sendable {
        /// No space left for the database.
        case full
        /// Less space is free than is to stay free: nothing is committed before there is more.
        case lowSpace = "low_space"
        /// The database or its directory can't be written.
        case readOnly = "read_only"
        /// The database is damaged or is no database; it was set aside and waits to be restored.
        case corrupt
        /// A newer program wrote the database; it is left alone.
        case newerSchema = "newer_schema"
        /// The medium failed.
        case io
        /// Another connection kept the lock for too long; a retry can help.
        case busy
        /// Another daemon has the state directory.
        case locked
        /// There is no database yet.
        case missing
        /// The state directory can't be used as it is: owner, mode or path.
        case directory
        /// The store was asked for something that would break its promises; a defect of the caller.
        case refused
        /// The store was closed, or gave up after damage.
        case closed
        /// Anything else that SQLite said.
        case other
    }

    public var kind: Kind
    /// What was being done.
    public var operation: String
    public var path: String
    public var message: String
    /// What to do next; one sentence.
    public var remedy: String

    public init(kind: Kind, operation: String, path: String, message: String, remedy: String? = nil) {
        self.kind = kind
        self.operation = operation
        self.path = path
        self.message = message
        self.remedy = remedy ?? kind.remedy
    }

    /// True when the same call may work later without anybody doing anything here.
    public var mayHealByItself: Bool {
        switch kind {
        case .full, .lowSpace, .readOnly, .io, .busy, .missing, .other: true
        case .corrupt, .newerSchema, .locked, .directory, .refused, .closed: false
        }
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String { "\(operation): \(message) (\(path)). \(remedy)" }
}

extension StoreError.Kind {
    var remedy: String {
        switch self {
        case .full: "Free space on this file system; syncing goes on by itself."
        case .lowSpace:
            "Free space on this file system, or lower free_space_floor in the configuration; it goes on by itself."
        case .readOnly: "Make the file system and the file writable for the daemon's user."
        case .corrupt:
            "Run `bandferry recover`, restore gateway.db from a backup, or `bandferry recover --start-empty` to start without it."
        case .newerSchema: "Run the version of Bandferry that wrote it, or a newer one."
        case .io: "Check the medium and the kernel's log; syncing goes on when writes work again."
        case .busy: "Try again; close other programs that have the database open."
        case .locked: "Stop the other daemon, or give this one a state directory of its own."
        case .missing: "Start the daemon once, or check state_directory in the configuration."
        case .directory: "Make it a directory that belongs to the daemon's user, with mode 0700."
        case .refused: "Report this as a defect."
        case .closed: "Start the daemon again."
        case .other: "See the message; report it if it stays."
        }
    }
}

extension StoreError {
    init(_ error: SQLiteError, doing operation: String) {
        let kind: Kind =
            switch error.code.primary {
            case .full: .full
            case .readOnly, .permission: .readOnly
            case .corrupt, .notADatabase: .corrupt
            case .ioError, .cantOpen, .protocol: .io
            case .busy, .locked: .busy
            default: .other
            }
        self.init(
            kind: kind, operation: operation, path: error.path, message: "\(error.message) (\(error.code))")
    }

    init(_ error: any Error, doing operation: String, path: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as SQLiteError: self.init(error, doing: operation)
        default: self.init(kind: .other, operation: operation, path: path, message: "\(error)")
        }
    }
}

/// Runs `body` and turns whatever it throws into a `StoreError` that names the operation.
func storing<Value>(
    _ operation: String, _ path: String, _ body: () throws -> Value
) throws(StoreError) -> Value {
    do {
        return try body()
    } catch {
        throw StoreError(error, doing: operation, path: path)
    }
}
