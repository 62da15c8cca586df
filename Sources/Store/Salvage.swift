import GatewayModel
import SQLite

/// Makes a new database of what can be read of a damaged one, which is kept.
///
/// Rows go into a file of another name. Only when that is complete and durable does it take the damaged one's place, so
/// that a power cut at any moment leaves one or the other. The caller holds the state directory's lock.
struct Salvage {
    let directory: StateDirectory
    var vfs: String?
    /// What the medium does not give counts as damaged. Off at the start of the daemon, because a medium may recover.
    var skipsReadErrors = false

    /// Beside the copy, for the file system's own bookkeeping.
    private static let spaceBeside: Int64 = 16 << 20
    /// Not for damage, and not to be taken over: see `bands` and `rings` below.
    private static let others: Set<String> = ["samples", "bands", "rings"]

    /// Nil when nothing can be read that tells whose samples these are: the database is left as it is.
    func run(now: Timestamp) throws(StoreError) -> SalvageReport? {
        let path = directory.databasePath
        let report = try storing("salvage the database", path) { () -> SalvageReport? in
            guard try mergeLog() else { return nil }
            try requireSpace()
            try directory.createSalvage()
            var isComplete = false
            defer { if !isComplete { directory.removeSalvage() } }
            let report = try copy(now: now)
            isComplete = report != nil
            return report
        }
        guard var report else { return nil }
        report.keptAs = try directory.finishSalvage(at: now)
        return report
    }

    // MARK: Steps

    /// Moves the log into the damaged file, as any next opener would: what was committed last is in it. False when
    /// SQLite can't tell what this file is.
    private func mergeLog() throws -> Bool {
        do throws(SQLiteError) {
            let database = try Database(path: directory.databasePath, access: .readWrite, vfs: vfs)
            try Self.readInSpite(database)
            database.disableAutomaticCheckpoints()
            // A file in which page 1 is damaged fails here.
            _ = try database.userVersion
            guard try database.checkpoint(.truncate) else {
                throw SQLiteError(
                    code: .busy, operation: "checkpoint", path: database.path,
                    message: "somebody reads the damaged database")
            }
            return true
        } catch {
            switch error.code.primary {
            case .corrupt, .notADatabase: return false
            default: throw error
            }
        }
    }

    private func requireSpace() throws {
        let needed = directory.databaseSize + Self.spaceBeside
        guard let free = directory.freeSpace, free < needed else { return }
        throw StoreError(
            kind: .full, operation: "salvage the database", path: directory.path,
            message: "a copy of what can be read needs \(needed) bytes, and \(free) are free",
            remedy: "Free space on this file system; the salvage goes on by itself.")
    }

    private func copy(now: Timestamp) throws -> SalvageReport? {
        let source = try Database(path: directory.databasePath, access: .readOnly, vfs: vfs)
        try Self.readInSpite(source)
        guard let version = try readable({ try source.userVersion }), (1...Schema.version).contains(version),
            try readable({ Int(try source.pragma("application_id")) }) == Schema.applicationID
        else { return nil }
        let target = try Database(path: directory.salvagePath, access: .readWrite, vfs: vfs)
        // Nothing is built on a copy that was broken off, so it needs no journal.
        try target.setPragma("journal_mode", "OFF")
        try target.execute("PRAGMA foreign_keys = OFF; PRAGMA cache_size = -4096")
        try Migrator(database: target).run(upTo: version)
        guard let report = try fill(target, from: source) else { return nil }
        try Migrator(database: target).run()
        var mended = report
        try target.transaction {
            try SalvageMender(database: target, damaged: Set(report.damagedTables)).run(&mended, now: now)
            try MetaTable(database: target).write(.open, 0)
        }
        guard try target.setPragma("journal_mode", "WAL") == "wal" else {
            throw StoreError(
                kind: .other, operation: "salvage the database", path: target.path,
                message: "the copy can't be set to WAL mode")
        }
        try target.checkpoint(.truncate)
        return mended
    }

    private func fill(_ target: Database, from source: Database) throws -> SalvageReport? {
        var report = SalvageReport()
        let tables = SalvageTable(source: source, target: target, skipsReadErrors: skipsReadErrors)
        let owners = SalvageOwners(source: source, target: target, tables: tables)
        report.damagedTables = try owners.copy()
        let rings = Set(try target.all("SELECT id FROM rings") { $0.int64(0) })
        // Nobody would know whose samples these are.
        guard !rings.isEmpty || report.damagedTables.isEmpty else { return nil }
        let file = try PageFile(path: directory.databasePath, skipsReadErrors: skipsReadErrors)
        let samples = try SalvageSamples(source: source, target: target, file: file, rings: rings).copy()
        report.orphans = samples.orphans
        if samples.isDamaged { report.damagedTables.append("samples") }
        let names = try target.all(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ) { $0.text(0) }
        for name in names where !Self.others.contains(name) {
            if try tables.copy(name, accepts: { SalvageRules.accepts($0, rings: rings) }) {
                report.damagedTables.append(name)
            }
        }
        return report
    }

    // MARK: Helpers

    /// Also what SQLite refuses as a whole, such as a file that is shorter than its header says.
    private static func readInSpite(_ database: Database) throws(SQLiteError) {
        try database.execute("PRAGMA writable_schema = ON")
    }

    private func readable<Value>(_ body: () throws -> Value?) throws -> Value? {
        do { return try body() } catch let error as SQLiteError {
            guard error.code.primary == .corrupt || error.code.primary == .notADatabase else { throw error }
            return nil
        }
    }
}

/// What a row of a damaged table must be to be believed.
enum SalvageRules {
    static func accepts(_ row: SalvageTable.Row, rings: Set<Int64>) -> Bool {
        if row.names.contains("ring"), let ring = row.integer("ring"), !rings.contains(ring) { return false }
        if row.names.contains("first_seq") {
            let seqs = 0...Int64(UInt32.max)
            guard let first = row.integer("first_seq"), seqs.contains(first) else { return false }
            // The end of a gap may be unknown.
            let last = row.integer("last_seq") ?? Int64(UInt32.max)
            guard seqs.contains(last), first <= last else { return false }
        }
        if let cause = row.text("cause"), GapCause(rawValue: cause) == nil { return false }
        return true
    }
}
