import GatewayModel
import SQLite

/// Opens `gateway.db` for writing: checked, migrated, and as durable as the acks need it.
struct DatabaseOpening {
    let directory: StateDirectory
    /// A registered SQLite VFS; nil = the default one. Tests inject faults through it.
    var vfs: String?
    /// Longest time that checks at the start may take: after a clean stop, after an unclean one, and where damage was met.
    var cleanCheckLimit: Duration = .seconds(5)
    var uncleanCheckLimit: Duration = .seconds(10)
    var suspectCheckLimit: Duration = .seconds(60)
    /// Called by the check in the background while it reads, where a test has it stay.
    var whileChecking: (@Sendable (CheckStop) -> Void)?

    /// The store's database, and what was found on the way to it.
    struct Opened {
        var database: Database
        /// It was not closed cleanly, or not all of it could be looked at in time: the rest is checked while it is in use.
        var wantsCheck: Bool
        /// It was damaged, and this was done about it.
        var salvage: SalvageReport?
    }

    private var path: String { directory.databasePath }

    /// Makes the database when there is none and none was set aside. What can be read of a damaged one goes into a new
    /// one; where that is nothing, it is set aside.
    func openStore(now: Timestamp) throws(StoreError) -> Opened {
        try directory.prepare()
        try directory.swapIn(at: now)
        try directory.requireRegularDatabase()
        if directory.hadDatabase, directory.isDatabaseEmpty { _ = try directory.setDatabaseAside(at: now) }
        if !directory.hasDatabase {
            if let last = directory.awaited {
                // A medium that gave nothing of it then may give it now.
                guard tellsOwners(last) else { throw waiting(last) }
                try directory.putBack(last)
            } else {
                // Older ones that a person gave up don't come back unasked.
                let given = try directory.setAside()
                guard !directory.hadDatabase, given.isEmpty else { throw gone() }
                try directory.createDatabaseFile()
            }
        }
        directory.removeSalvage()
        do {
            return try openChecked()
        } catch {
            guard error.kind == .corrupt else { throw error }
            // Should the salvage be broken off, the next start goes on with it and checks nothing first.
            directory.note(.proven)
            guard let report = try Salvage(directory: directory, vfs: vfs).run(now: now) else {
                // It was never whole, so nothing was acked that is in it: the next try makes it, if the medium lets it.
                guard directory.hadDatabase else { throw error }
                let name = try directory.setDatabaseAside(at: now)
                directory.clearSuspicion()
                var error = error
                error.message += "; nothing can be read of it, and it was set aside as \(name)"
                throw error
            }
            var opened = try openChecked()
            opened.salvage = report
            return opened
        }
    }

    /// What a salvage needs at least can be read of a database that was set aside.
    private func tellsOwners(_ name: String) -> Bool {
        do {
            let database = try Database(path: directory.path + "/" + name, access: .readOnly, vfs: vfs)
            try Migrator(database: database).refuseForeign()
            guard try (1...Schema.version).contains(database.userVersion) else { return false }
            try database.query("SELECT * FROM bands NOT INDEXED") { _ in }
            try database.query("SELECT * FROM rings NOT INDEXED") { _ in }
            return true
        } catch {
            return false
        }
    }

    private func openChecked() throws(StoreError) -> Opened {
        try refuseForeign()
        let database = try storing("open the database", path) {
            let database = try Database(path: path, access: .readWrite, vfs: vfs)
            try Migrator(database: database).refuseForeign()
            try configure(database, synchronous: "FULL", expecting: "2", cacheKilobytes: 256)
            try Migrator(database: database).run()
            return database
        }
        let wantsCheck = try check(database)
        try directory.rememberDatabase(of: try gatewayID(in: database))
        directory.forgetAwaited()
        return Opened(database: database, wantsCheck: wantsCheck)
    }

    /// The connection of the check that goes on while the database is in use.
    func openChecker() throws -> Database {
        try OpenFilesNotice.requireInPlace(path)
        return try openProbed()
    }

    /// As the database says, else as the last one said, else a new one.
    private func gatewayID(in database: Database) throws(StoreError) -> String {
        try storing("name the gateway", path) {
            let meta = MetaTable(database: database)
            if let bits = try meta.read(.gatewayID) { return GatewayID.text(bits) }
            let bits =
                directory.rememberedGateway.flatMap { GatewayID.bits($0) }
                ?? Int64(bitPattern: .random(in: 1 ... .max))
            try meta.write(.gatewayID, bits)
            return GatewayID.text(bits)
        }
    }

    /// The upload's connection, to a database that the store has opened. A confirm that a power cut loses is only
    /// sent again, so it need not wait for the medium: synchronous = NORMAL. See `Outbox.writeDurably` for the rest.
    func openOutbox() throws(StoreError) -> Database {
        try storing("open the database for the upload", path) {
            try OpenFilesNotice.requireInPlace(path)
            try requireDatabase()
            let database = try Database(path: path, access: .readWrite, vfs: vfs)
            try Migrator(database: database).requireCurrent()
            try configure(database, synchronous: "NORMAL", expecting: "1", cacheKilobytes: 256)
            database.disableAutomaticCheckpoints()
            return database
        }
    }

    /// A connection that never writes; works with the daemon running or stopped.
    func openReader() throws(StoreError) -> Database {
        try storing("open the database to read", path) {
            try requireDatabase()
            let database = try openReadOnly()
            try Migrator(database: database).requireCurrent()
            return database
        }
    }

    // MARK: Steps

    /// A newer or a foreign file is recognised through a connection that cannot alter it.
    private func refuseForeign() throws(StoreError) {
        // The making of a database was cut off: only a connection that writes can roll that back, and it looks too.
        if directory.hasJournal { return }
        try storing("look at the database", path) {
            let database = try Database(path: path, access: .readOnly, vfs: vfs)
            try Migrator(database: database).refuseForeign()
        }
    }

    func configure(
        _ database: Database, synchronous: String, expecting: String, cacheKilobytes: Int
    ) throws {
        let mode = try database.setPragma("journal_mode", "WAL")
        guard mode == "wal" else { throw refused("journal_mode reads back as \(mode), not wal") }
        let level = try database.setPragma("synchronous", synchronous)
        // An ack frees the band's only copy: nothing less than what was asked for will do.
        guard level == expecting else {
            throw refused("synchronous reads back as \(level), not \(expecting) (\(synchronous))")
        }
        try database.execute("PRAGMA cache_size = -\(cacheKilobytes); PRAGMA foreign_keys = ON")
        // After a long history the log shrinks again to 8 MiB.
        try database.execute("PRAGMA journal_size_limit = 8388608")
    }

    /// Throws for damage. True when more of it is to be looked at than there was time for.
    private func check(_ database: Database) throws(StoreError) -> Bool {
        try storing("check the database", path) {
            let meta = MetaTable(database: database)
            let unclean = try meta.read(.open) == 1
            let suspicion = directory.suspicion
            let result =
                switch suspicion {
                case .proven: throw damaged("damage was found in it, or was met more than once")
                case .raised: try database.check(full: true, within: suspectCheckLimit)
                case .checked, nil:
                    try database.check(full: false, within: unclean ? uncleanCheckLimit : cleanCheckLimit)
                }
            switch result {
            case .sound: break
            case .timeUp:
                // Damage was met, and what is damaged can't be told in time: all that can be read is copied.
                if suspicion == .raised {
                    throw damaged("damage was met, and a check of all of it takes too long")
                }
            case .damaged(let findings):
                guard !Self.isUnread(findings) else {
                    throw StoreError(
                        kind: .io, operation: "check the database", path: path,
                        message: findings.first ?? "the check failed")
                }
                throw damaged(findings.first ?? "the check failed")
            }
            // Kept until the database was closed cleanly: if damage is met once more, no check is believed.
            if suspicion == .raised { directory.note(.checked) }
            try meta.write(.open, 1)
            // A log that a failed sync may have broken on the medium, unseen as long as the kernel has it in memory,
            // is not built on. See `Engine.transaction`.
            try database.checkpoint(.truncate)
            return unclean || result == .timeUp
        }
    }

    private func damaged(_ message: String) -> StoreError {
        StoreError(kind: .corrupt, operation: "check the database", path: path, message: message)
    }

    /// A page that could not be read is told among the findings, but it is the medium that failed.
    static func isUnread(_ findings: [String]) -> Bool {
        findings.contains { $0.contains("get page") || $0.contains("get the page") }
    }

    private func requireDatabase() throws(StoreError) {
        try directory.requireRegularDatabase()
        if directory.hasDatabase { return }
        if let aside = directory.awaited { throw waiting(aside) }
        if directory.hadDatabase { throw gone() }
        throw StoreError(
            kind: .missing, operation: "open the database", path: path, message: "there is no database here")
    }

    /// A reader of a WAL database needs its `-shm`, which it makes when the directory lets it. Where it can't and
    /// no log is left to read, the file is complete by itself and nobody writes to it.
    private func openReadOnly() throws -> Database {
        do {
            return try openProbed()
        } catch {
            guard error.code.primary == .cantOpen || error.code.primary == .readOnly else { throw error }
            guard !directory.hasLog, !directory.hasJournal else {
                throw StoreError(
                    kind: .readOnly, operation: "open the database to read", path: path,
                    message: "its log can't be read without write access to the directory",
                    remedy: "Run this as the daemon's user or as root, or start the daemon.")
            }
            return try Database(path: path, access: .immutable, vfs: vfs)
        }
    }

    private func openProbed() throws(SQLiteError) -> Database {
        let database = try Database(path: path, access: .readOnly, vfs: vfs)
        _ = try database.userVersion
        return database
    }

    private func waiting(_ name: String) -> StoreError {
        StoreError(
            kind: .corrupt, operation: "open the database", path: path,
            message: "the last one was damaged and set aside as \(name)")
    }

    private func gone() -> StoreError {
        StoreError(
            kind: .corrupt, operation: "open the database", path: path,
            message: "it is gone, and what was acked may have been in it")
    }

    private func refused(_ message: String) -> StoreError {
        StoreError(
            kind: .other, operation: "open the database", path: path, message: message,
            remedy: "Put the state directory on a local file system that supports SQLite's WAL mode.")
    }
}
