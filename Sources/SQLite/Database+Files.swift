import CSQLite

extension Database {
    /// The file as SQLite opened it, links followed: its log is beside that one. Empty for one in memory.
    public var fileName: String {
        sqlite3_db_filename(connection.handle, "main").map { String(cString: $0) } ?? ""
    }

    /// Its name is no longer that of the file that is open: it was removed, renamed, or another one took its place.
    /// SQLITE_FCNTL_HAS_MOVED; false where the VFS can't tell.
    public var hasMoved: Bool {
        var moved: Int32 = 0
        let code = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return code == SQLITE_OK && moved != 0
    }

    /// When this connection closes, and is the last one, the log is neither moved into the database nor removed.
    public func keepLogAtClose() { _ = bandferry_sqlite_keep_log_at_close(connection.handle) }
}
