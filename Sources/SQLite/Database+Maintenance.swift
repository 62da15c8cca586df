import CSQLite

extension Database {
    // MARK: Pragmas

    /// Sets a pragma and returns what SQLite then reads back, so that the caller can tell whether it took.
    @discardableResult
    public func setPragma(_ name: String, _ value: String) throws(SQLiteError) -> String {
        try execute("PRAGMA \(name) = \(value)")
        return try pragma(name)
    }

    /// What a pragma reads as; empty when it gives no row.
    public func pragma(_ name: String) throws(SQLiteError) -> String {
        let statement = try Statement("PRAGMA \(name)", on: connection, persistent: false)
        return try statement.step() ? statement.text(0) : ""
    }

    /// The schema's number, which migrations raise.
    public var userVersion: Int {
        get throws(SQLiteError) { Int(try pragma("user_version")) ?? 0 }
    }

    // MARK: Integrity

    /// What a check of the file found.
    public enum CheckResult: Equatable, Sendable {
        case sound
        /// The first findings, in SQLite's words.
        case damaged([String])
        /// Nothing was found until the time was up.
        case timeUp
    }

    /// `PRAGMA quick_check`, or `integrity_check` when `full`, within `limit` and until `stop`; of one table or of all.
    ///
    /// A `table` leaves out what belongs to none, such as the list of free pages.
    public func check(
        full: Bool, table: String? = nil, within limit: Duration, stop: CheckStop? = nil
    ) throws(SQLiteError) -> CheckResult {
        let alarm = CheckAlarm(connection, deadline: .now + limit, stop: stop)
        let context = Unmanaged.passUnretained(alarm).toOpaque()
        // Every 10,000 virtual machine steps: under a millisecond.
        sqlite3_progress_handler(connection.handle, 10_000, { isDue(alarm: $0) }, context)
        defer {
            sqlite3_progress_handler(connection.handle, 0, nil, nil)
            alarm.end()
        }
        // A check that is not over in time must not look like one that found nothing.
        if alarm.isDue { return .timeUp }
        do {
            let sql = "PRAGMA \(full ? "integrity_check" : "quick_check")(\(table ?? "10"))"
            let statement = try Statement(sql, on: connection, persistent: false)
            var findings: [String] = []
            while findings.count < 10, try statement.step() {
                // Of a check that was cut short, pages that it did not come to are findings, too.
                if alarm.isDue { return findings.isEmpty ? .timeUp : .damaged(findings) }
                findings.append(statement.text(0))
            }
            return findings == ["ok"] ? .sound : .damaged(findings)
        } catch {
            switch error.code.primary {
            case .interrupt: return .timeUp
            case .corrupt, .notADatabase: return .damaged([error.message])
            default: throw error
            }
        }
    }

    // MARK: The write-ahead log

    public enum CheckpointMode: Sendable {
        /// As much as possible without waiting for anyone.
        case passive
        /// Waits for readers, then empties the log file.
        case truncate
    }

    /// Moves the log into the database file. False when a reader or writer kept a part of it.
    @discardableResult
    public func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Bool {
        var frames: Int32 = 0
        var moved: Int32 = 0
        let number = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, number, &frames, &moved)
        if code & 0xff == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else { throw connection.error(code, "checkpoint") }
        return frames == moved
    }

    /// Takes checkpoints into the caller's hands: none happens inside a commit any more, and `logFrames` counts.
    public func disableAutomaticCheckpoints() {
        let context = Unmanaged.passUnretained(connection).toOpaque()
        sqlite3_wal_hook(connection.handle, { noteLogFrames($0, $3) }, context)
    }

    /// Frames (pages) in the write-ahead log after this connection's last commit.
    public var logFrames: Int { connection.logFrames }

    // MARK: Copies

    /// Copies the whole database, as it is at one moment, to another file.
    public func backup(to path: String) throws(SQLiteError) {
        let target = try Database(path: path, access: .create)
        guard let backup = sqlite3_backup_init(target.connection.handle, "main", connection.handle, "main")
        else {
            throw target.connection.error(sqlite3_errcode(target.connection.handle), "backup")
        }
        let code = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw target.connection.error(code == SQLITE_DONE ? end : code, "backup")
        }
    }

    /// Writes a compact copy to a file that must not exist yet.
    public func vacuum(into path: String) throws(SQLiteError) {
        try run("VACUUM INTO ?", .text(path))
    }
}

private func isDue(alarm context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<CheckAlarm>.fromOpaque(context).takeUnretainedValue().isDue ? 1 : 0
}

private func noteLogFrames(_ context: UnsafeMutableRawPointer?, _ frames: Int32) -> Int32 {
    guard let context else { return SQLITE_OK }
    Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logFrames = Int(frames)
    return SQLITE_OK
}
