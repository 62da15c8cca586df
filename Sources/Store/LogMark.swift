import SQLite

/// Tells a log that was lost from one that somebody moved into the database file.
///
/// When all of it was moved there, the database says that a log begins behind it, and right after, in that log, that it is in
/// use. So the file alone says `begins` as long as there is a log beside it, and a file that says so without one has lost
/// it. A log that was moved by another program, and a copy by `.backup`, say `inUse`: neither lacks anything.
struct LogMark {
    /// Values of `MetaTable.Key.open`, besides 0 for a database that was closed. Programs of before wrote `inUse` alone.
    static let inUse: Int64 = 1
    static let begins: Int64 = 2

    let database: Database

    private var meta: MetaTable { MetaTable(database: database) }

    /// Moves the log into the file. When this throws, `putInUse` is to be called with the next commit.
    func moveLog(_ mode: Database.CheckpointMode) throws(SQLiteError) {
        // While a reader keeps a part of it, what the file says of it may be old: it then says `inUse`.
        guard try database.checkpoint(mode) else { return }
        // SQLite removes the log when the last connection closes: not while the file says that there is one.
        database.keepLogAtClose(true)
        try meta.write(.open, Self.begins)
        try database.checkpoint(.passive)
        try putInUse()
        database.keepLogAtClose(false)
    }

    func putInUse() throws(SQLiteError) { try meta.write(.open, Self.inUse) }
}
