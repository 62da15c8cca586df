import GatewayModel
import SQLite

/// Starts again after the database was lost.
public enum StoreRecovery {
    /// Makes an empty database that remembers the loss: what the bands no longer hold and the server never got is
    /// then named `storage_lost` in the gaps. A database that is still there is set aside first, never deleted.
    /// The caller holds the `StateDirectoryLock`.
    public static func startEmpty(directory: String, now: Timestamp) throws(StoreError) {
        let directory = StateDirectory(path: directory)
        try directory.prepare()
        if directory.hasDatabase { _ = try directory.setDatabaseAside(at: now) }
        // Whatever was set aside is given up, and what is known of its damage is not the new one's.
        directory.forgetAwaited()
        directory.clearSuspicion()
        try directory.createDatabaseFile()
        try storing("start with an empty database", directory.databasePath) {
            let database = try Database(path: directory.databasePath, access: .readWrite)
            try database.setPragma("journal_mode", "WAL")
            try Migrator(database: database).run()
            try MetaTable(database: database).write(.storageLostAt, now.milliseconds)
            try database.checkpoint(.truncate)
        }
    }

    /// Brings what can be read of a damaged database over into a new one: of the one in place, else of the one that was
    /// set aside last. Nil when nothing can be read of it. What the medium does not give counts as damaged.
    /// The caller holds the `StateDirectoryLock`.
    public static func salvage(directory: String, now: Timestamp) throws(StoreError) -> SalvageReport? {
        let directory = StateDirectory(path: directory)
        try directory.prepare()
        try directory.swapIn(at: now)
        let isAside = !directory.hasDatabase
        if isAside {
            guard let aside = try directory.setAside().last else {
                throw StoreError(
                    kind: .missing, operation: "salvage the database", path: directory.databasePath,
                    message: "there is neither a database nor one that was set aside")
            }
            try directory.putBack(aside)
        }
        guard let report = try Salvage(directory: directory, skipsReadErrors: true).run(now: now) else {
            if isAside { _ = try directory.setDatabaseAside(at: now) }
            return nil
        }
        return report
    }
}
