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
        try directory.createDatabaseFile()
        try storing("start with an empty database", directory.databasePath) {
            let database = try Database(path: directory.databasePath, access: .readWrite)
            try database.setPragma("journal_mode", "WAL")
            try Migrator(database: database).run()
            try MetaTable(database: database).write(.storageLostAt, now.milliseconds)
            try database.checkpoint(.truncate)
        }
    }
}
