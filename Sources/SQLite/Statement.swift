import CSQLite

/// A prepared statement. Belongs to its connection's thread; finalized when the last reference goes.
///
/// Parameters count from 1 and columns from 0, as in SQLite. Bindings survive `reset()`, so a loop binds again
/// only what changes.
public final class Statement {
    private let handle: OpaquePointer
    /// Keeps the connection open for as long as the statement lives.
    private let connection: Connection

    init(_ sql: String, on connection: Connection, persistent: Bool) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let flags: UInt32 = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, flags, &prepared, nil)
        guard code == SQLITE_OK else { throw connection.error(code, "prepare \"\(sql)\"") }
        guard let prepared else {
            throw SQLiteError(
                code: .misuse, operation: "prepare", path: connection.path, message: "no statement in the SQL"
            )
        }
        handle = prepared
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    public var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    /// True between the first row and the `reset()` that ends the run.
    public var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// Of each parameter from 1 on; nil for one without a name.
    public var parameterNames: [String?] {
        let count = sqlite3_bind_parameter_count(handle)
        guard count > 0 else { return [] }
        return (1...count).map { sqlite3_bind_parameter_name(handle, $0).map { String(cString: $0) } }
    }

    // MARK: Binding

    @inline(__always)
    public func bind(_ parameter: Int32, _ value: Int64) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, parameter, value))
    }

    @inline(__always)
    public func bind(_ parameter: Int32, _ value: some BinaryInteger) throws(SQLiteError) {
        try bind(parameter, Int64(value))
    }

    public func bind(_ parameter: Int32, _ value: Double) throws(SQLiteError) {
        try check(sqlite3_bind_double(handle, parameter, value))
    }

    public func bind(_ parameter: Int32, _ value: String) throws(SQLiteError) {
        var value = value
        try check(
            value.withUTF8 { text in
                // The default destructor would let SQLite keep the pointer: it must copy.
                let bytes = UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
                return bytes.map {
                    sqlite3_bind_text(handle, parameter, $0, Int32(text.count), Self.transient)
                }
                    ?? sqlite3_bind_text(handle, parameter, "", 0, Self.transient)
            })
    }

    public func bind(_ parameter: Int32, _ value: [UInt8]) throws(SQLiteError) {
        try check(
            value.withUnsafeBytes { bytes in
                bytes.baseAddress.map {
                    sqlite3_bind_blob64(handle, parameter, $0, UInt64(bytes.count), Self.transient)
                }
                    ?? sqlite3_bind_zeroblob(handle, parameter, 0)
            })
    }

    /// NULL for nil.
    @inline(__always)
    public func bind(_ parameter: Int32, optional value: Int64?) throws(SQLiteError) {
        if let value { try bind(parameter, value) } else { try bindNull(parameter) }
    }

    @inline(__always)
    public func bindNull(_ parameter: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, parameter))
    }

    public func bind(_ parameter: Int32, _ value: SQLiteValue) throws(SQLiteError) {
        switch value {
        case .null: try bindNull(parameter)
        case .integer(let value): try bind(parameter, value)
        case .real(let value): try bind(parameter, value)
        case .text(let value): try bind(parameter, value)
        case .blob(let value): try bind(parameter, value)
        }
    }

    /// Binds every parameter, the first value to parameter 1.
    public func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
        guard Int32(values.count) == sqlite3_bind_parameter_count(handle) else {
            throw SQLiteError(
                code: .range, operation: "bind \"\(sql)\"", path: connection.path,
                message: "\(values.count) values for \(sqlite3_bind_parameter_count(handle)) parameters")
        }
        for (index, value) in values.enumerated() { try bind(Int32(index + 1), value) }
    }

    // MARK: Running

    /// True when a row is ready, false at the end. After an error or the end the statement is reset.
    @inline(__always)
    public func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else { throw failed(code) }
        sqlite3_reset(handle)
        return false
    }

    /// Runs to the end, whatever rows there are. The hot path of an insert: step and reset.
    @inline(__always)
    public func run() throws(SQLiteError) {
        var code = sqlite3_step(handle)
        while code == SQLITE_ROW { code = sqlite3_step(handle) }
        guard code == SQLITE_DONE else { throw failed(code) }
        sqlite3_reset(handle)
    }

    public func run(_ values: [SQLiteValue]) throws(SQLiteError) {
        try bind(values)
        try run()
    }

    /// Makes the statement ready to run again. Its bindings stay.
    public func reset() { sqlite3_reset(handle) }

    public func clearBindings() { sqlite3_clear_bindings(handle) }

    // MARK: Columns of the current row

    public var columnCount: Int { Int(sqlite3_column_count(handle)) }

    public func columnName(_ column: Int32) -> String {
        sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
    }

    @inline(__always)
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    @inline(__always)
    public func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    @inline(__always)
    public func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    /// Nil for NULL.
    public func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    /// Nil for NULL.
    public func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }

    public func bool(_ column: Int32) -> Bool { int64(column) != 0 }

    public func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// Empty for NULL.
    public func text(_ column: Int32) -> String { optionalText(column) ?? "" }

    /// Nil for NULL. Invalid UTF-8 is repaired, never trapped on.
    public func optionalText(_ column: Int32) -> String? {
        guard !isNull(column), let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Empty for NULL.
    public func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    public func value(_ column: Int32) -> SQLiteValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(int64(column))
        case SQLITE_FLOAT: .real(double(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    // MARK: Helpers

    /// SQLITE_TRANSIENT, which Swift does not import: SQLite copies what is bound before the call returns.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    @inline(__always)
    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw connection.error(code, "bind \"\(sql)\"") }
    }

    private func failed(_ code: Int32) -> SQLiteError {
        let error = connection.error(code, "step \"\(sql)\"")
        sqlite3_reset(handle)
        return error
    }
}
