import CSQLite

/// Owns the `sqlite3` handle. Statements hold it too, so it closes after the last of them.
final class Connection {
    let handle: OpaquePointer
    let path: String
    /// Frames in the write-ahead log after the last commit of this connection; see `Database.logFrames`.
    var logFrames = 0

    init(path: String, target: String, flags: Int32, vfs: String?) throws(SQLiteError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(target, &opened, flags, vfs)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            let extended = opened.map { sqlite3_extended_errcode($0) } ?? code
            // A handle is returned with most errors too, and must be closed.
            sqlite3_close_v2(opened)
            throw SQLiteError(
                code: ResultCode(rawValue: extended), operation: "open", path: path, message: message)
        }
        handle = opened
        self.path = path
        sqlite3_extended_result_codes(opened, 1)
    }

    deinit { sqlite3_close_v2(handle) }

    func error(_ code: Int32, _ operation: String) -> SQLiteError {
        // The handle remembers the extended code and the text of the call that failed last.
        let extended = sqlite3_extended_errcode(handle)
        let same = extended & 0xff == code & 0xff
        return SQLiteError(
            code: ResultCode(rawValue: same ? extended : code), operation: operation, path: path,
            message: String(cString: same ? sqlite3_errmsg(handle) : sqlite3_errstr(code)))
    }
}
