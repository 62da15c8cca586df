import CSQLite

/// A result code of SQLite, extended where SQLite gives one. Printed in SQLite's own spelling.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    private static func extended(_ primary: Int32, _ detail: Int32) -> ResultCode {
        ResultCode(rawValue: primary | detail << 8)
    }

    /// The code without its extension: `SQLITE_IOERR_READ` becomes `SQLITE_IOERR`.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    // Result Codes, sqlite.org/rescode.html.
    public static let ok = ResultCode(rawValue: SQLITE_OK)
    public static let error = ResultCode(rawValue: SQLITE_ERROR)
    public static let `internal` = ResultCode(rawValue: SQLITE_INTERNAL)
    public static let permission = ResultCode(rawValue: SQLITE_PERM)
    public static let abort = ResultCode(rawValue: SQLITE_ABORT)
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
    public static let noMemory = ResultCode(rawValue: SQLITE_NOMEM)
    public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    public static let interrupt = ResultCode(rawValue: SQLITE_INTERRUPT)
    public static let ioError = ResultCode(rawValue: SQLITE_IOERR)
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    public static let cantOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    public static let `protocol` = ResultCode(rawValue: SQLITE_PROTOCOL)
    public static let schema = ResultCode(rawValue: SQLITE_SCHEMA)
    public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
    public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
    public static let authorization = ResultCode(rawValue: SQLITE_AUTH)
    public static let range = ResultCode(rawValue: SQLITE_RANGE)
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    public static let row = ResultCode(rawValue: SQLITE_ROW)
    public static let done = ResultCode(rawValue: SQLITE_DONE)
    public static let readOnlyMoved = extended(SQLITE_READONLY, 4)
    public static let uniqueConstraint = extended(SQLITE_CONSTRAINT, 8)
    public static let primaryKeyConstraint = extended(SQLITE_CONSTRAINT, 6)
    public static let notNullConstraint = extended(SQLITE_CONSTRAINT, 5)
    public static let checkConstraint = extended(SQLITE_CONSTRAINT, 1)
    public static let foreignKeyConstraint = extended(SQLITE_CONSTRAINT, 3)
    public static let ioErrorFsync = extended(SQLITE_IOERR, 4)
    public static let ioErrorWrite = extended(SQLITE_IOERR, 3)
}

extension ResultCode {
    /// Lets `catch let error where .ioError ~= error.code` match every extended code of a primary one.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern == code || pattern == code.primary
    }
}

extension ResultCode: CustomStringConvertible {
    public var description: String {
        guard let primary = Self.primaryNames[rawValue & 0xff] else { return "SQLITE_\(rawValue)" }
        guard rawValue > 0xff else { return primary }
        let details = Self.extendedNames[rawValue & 0xff] ?? []
        let detail = Int(rawValue >> 8) - 1
        // A code newer than this table keeps its number, so that nothing is lost.
        return details.indices.contains(detail)
            ? "\(primary)_\(details[detail])" : "\(primary)_\(rawValue >> 8)"
    }

    private static let primaryNames: [Int32: String] = [
        0: "SQLITE_OK", 1: "SQLITE_ERROR", 2: "SQLITE_INTERNAL", 3: "SQLITE_PERM", 4: "SQLITE_ABORT",
        5: "SQLITE_BUSY", 6: "SQLITE_LOCKED", 7: "SQLITE_NOMEM", 8: "SQLITE_READONLY", 9: "SQLITE_INTERRUPT",
        10: "SQLITE_IOERR", 11: "SQLITE_CORRUPT", 12: "SQLITE_NOTFOUND", 13: "SQLITE_FULL",
        14: "SQLITE_CANTOPEN", 15: "SQLITE_PROTOCOL", 16: "SQLITE_EMPTY", 17: "SQLITE_SCHEMA",
        18: "SQLITE_TOOBIG", 19: "SQLITE_CONSTRAINT", 20: "SQLITE_MISMATCH", 21: "SQLITE_MISUSE",
        22: "SQLITE_NOLFS", 23: "SQLITE_AUTH", 24: "SQLITE_FORMAT", 25: "SQLITE_RANGE", 26: "SQLITE_NOTADB",
        27: "SQLITE_NOTICE", 28: "SQLITE_WARNING", 100: "SQLITE_ROW", 101: "SQLITE_DONE",
    ]

    /// Names of the extended codes of a primary one, the first has the number 1.
    private static let extendedNames: [Int32: [String]] = [
        SQLITE_ERROR: ["MISSING_COLLSEQ", "RETRY", "SNAPSHOT"],
        SQLITE_ABORT: ["1", "ROLLBACK"],
        SQLITE_BUSY: ["RECOVERY", "SNAPSHOT", "TIMEOUT"],
        SQLITE_LOCKED: ["SHAREDCACHE", "VTAB"],
        SQLITE_READONLY: ["RECOVERY", "CANTLOCK", "ROLLBACK", "DBMOVED", "CANTINIT", "DIRECTORY"],
        SQLITE_IOERR: [
            "READ", "SHORT_READ", "WRITE", "FSYNC", "DIR_FSYNC", "TRUNCATE", "FSTAT", "UNLOCK", "RDLOCK",
            "DELETE", "BLOCKED", "NOMEM", "ACCESS", "CHECKRESERVEDLOCK", "LOCK", "CLOSE", "DIR_CLOSE",
            "SHMOPEN", "SHMSIZE", "SHMLOCK", "SHMMAP", "SEEK", "DELETE_NOENT", "MMAP", "GETTEMPPATH",
            "CONVPATH", "VNODE", "AUTH", "BEGIN_ATOMIC", "COMMIT_ATOMIC", "ROLLBACK_ATOMIC", "DATA",
            "CORRUPTFS", "IN_PAGE",
        ],
        SQLITE_CORRUPT: ["VTAB", "SEQUENCE", "INDEX"],
        SQLITE_CANTOPEN: ["NOTEMPDIR", "ISDIR", "FULLPATH", "CONVPATH", "DIRTYWAL", "SYMLINK"],
        SQLITE_CONSTRAINT: [
            "CHECK", "COMMITHOOK", "FOREIGNKEY", "FUNCTION", "NOTNULL", "PRIMARYKEY", "TRIGGER", "UNIQUE",
            "VTAB",
            "ROWID", "PINNED", "DATATYPE",
        ],
    ]
}
