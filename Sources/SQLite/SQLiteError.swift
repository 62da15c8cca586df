/// A call of SQLite that failed: which, on which file, and what SQLite said.
///
/// Bound values are never part of it.
public struct SQLiteError: Error, Equatable, Sendable {
    public var code: ResultCode
    /// What was being done: `open`, `prepare`, `step`, `bind`, `backup` or the like, with the SQL where there is one.
    public var operation: String
    public var path: String
    /// SQLite's own words.
    public var message: String

    public init(code: ResultCode, operation: String, path: String, message: String) {
        self.code = code
        self.operation = operation
        self.path = path
        self.message = message
    }
}

extension SQLiteError: CustomStringConvertible {
    public var description: String { "\(operation) failed on \(path): \(message) (\(code))" }
}
