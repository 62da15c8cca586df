import SQLite

/// Single numbers that belong to the database as a whole.
struct MetaTable {
    enum Key: String {
        /// Not 0 while a daemon has the database open: found at the next open, it tells of an unclean stop. See LogMark.
        case open
        /// When the last health check wrote, ms.
        case health
        /// When an earlier database was given up (`recover --start-empty`), ms; absent = never.
        case storageLostAt = "storage_lost_at"
        /// How long samples have been held back for the host's clock, ms.
        case holdUsed = "hold_used"
        /// This gateway's name at the server: 64 random bits. See GatewayID.
        case gatewayID = "gateway_id"
        /// When a person paused the upload, ms; absent = it goes on.
        case uploadPausedAt = "upload_paused_at"
        /// Until when, ms; absent = until a person resumes it.
        case uploadPausedUntil = "upload_paused_until"
        /// When the server last confirmed samples, ms.
        case lastUpload = "last_upload"
        /// Confirmed samples recorded before this were let go, ms; absent = none.
        case prunedBefore = "pruned_before"
    }

    let database: Database

    func read(_ key: Key) throws(SQLiteError) -> Int64? {
        let statement = try database.statement("SELECT value FROM meta WHERE key = ?")
        defer { statement.reset() }
        try statement.bind(1, key.rawValue)
        return try statement.step() ? statement.int64(0) : nil
    }

    func write(_ key: Key, _ value: Int64) throws(SQLiteError) {
        try database.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            .text(key.rawValue), .integer(value))
    }

    /// Nil = absent.
    func write(_ key: Key, _ value: Int64?) throws(SQLiteError) {
        if let value { return try write(key, value) }
        try database.run("DELETE FROM meta WHERE key = ?", .text(key.rawValue))
    }
}
