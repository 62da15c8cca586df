/// A parameter or a cell of a row.
///
/// A parameter `int` goes to BIGINT, INTEGER, SMALLINT, OID or BOOLEAN, `text` to the text types, `bytes` to BYTEA, and
/// `null` to any. Results come in the same way; BOOLEAN reads as 0 or 1. Every other type is cast in the SQL.
public enum PostgreSQLValue: Hashable, Sendable {
    case null
    case int(Int64)
    case text(String)
    case bytes([UInt8])
}

/// One statement with its parameters.
///
/// `sql` is constant text with `$1`, `$2`...: it is prepared once for each connection and found again by its text.
public struct PostgreSQLCall: Sendable {
    public var sql: String
    public var parameters: [PostgreSQLValue]

    public init(_ sql: String, _ parameters: [PostgreSQLValue] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}

/// What a call came to: its rows, and how many rows it read, wrote or removed as the server counts them.
public struct PostgreSQLResult: Sendable {
    public var rows: [[PostgreSQLValue]]
    public var affected: Int

    public init(rows: [[PostgreSQLValue]] = [], affected: Int = 0) {
        self.rows = rows
        self.affected = affected
    }
}
