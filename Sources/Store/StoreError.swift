import Conditions
import GatewayModel
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
        /// Its files were removed or replaced while they were open: what is committed would be lost. It has to be opened again.
        case moved
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
        self.remedy = remedy ?? kind.condition.fix([:])
    }

    /// True when the same call may work later without anybody doing anything here.
    public var mayHealByItself: Bool {
        switch kind {
        case .full, .lowSpace, .readOnly, .io, .busy, .missing, .other: true
        case .corrupt, .moved, .newerSchema, .locked, .directory, .refused, .closed: false
        }
    }
}

extension StoreError {
    /// The remedy may be closer to the case than the condition's.
    public var problem: Problem {
        var problem = Problem(kind.condition, ["operation": operation, "message": message])
        problem.remedy = remedy
        return problem
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String { "\(operation): \(message) (\(path)). \(remedy)" }
}

extension StoreError.Kind {
    public var condition: Condition {
        switch self {
        case .full: .storeFull
        case .lowSpace: .storeLowSpace
        case .readOnly: .storeReadOnly
        case .corrupt: .storeCorrupt
        case .newerSchema: .storeNewerSchema
        case .io: .storeIO
        case .busy: .storeBusy
        case .locked: .storeLocked
        case .missing: .storeMissing
        case .moved: .storeMoved
        case .directory: .storeDirectory
        case .refused: .storeRefused
        case .closed: .storeClosed
        case .other: .storeOther
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
