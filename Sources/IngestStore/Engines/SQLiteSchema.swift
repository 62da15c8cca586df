import SQLite

/// The tables, as numbered migrations: append only, never edited once released.
enum SQLiteSchema {
    /// "BFIG", in the file's header: tells our files from anyone else's.
    static let applicationID = 0x4246_4947

    static var version: Int { first + later.count }

    /// The first version with chunks; before it there was a row for each sample.
    private static let first = 3
    private static var later: [[UInt8]] {
        [PackageResources.sqlite_0004_sql, PackageResources.sqlite_0005_sql]
    }

    /// Brings a file up to this version; refuses one that is newer or not ours, and leaves it untouched.
    static func migrate(_ database: Database, report: (StoragePreparation) -> Void) throws {
        try check(database)
        try database.transaction {
            // Read inside the transaction: another process may have migrated since.
            let version = try database.userVersion
            guard version < Self.version else { return }
            if version > 0 { report(.upgrading(from: version, to: Self.version)) }
            if version < first {
                if version > 0 { try RowsToChunks.setAside(database) }
                try database.execute(String(decoding: PackageResources.sqlite_0003_sql, as: UTF8.self))
                if version > 0 { try RowsToChunks.move(database, from: version) }
            }
            for migration in later.dropFirst(max(0, version - first)) {
                try database.execute(String(decoding: migration, as: UTF8.self))
            }
            try database.execute("PRAGMA user_version = \(Self.version)")
            try database.execute("PRAGMA application_id = \(applicationID)")
        }
    }

    /// Throws for a file that this version can't use.
    static func check(_ database: Database) throws {
        let version = try database.userVersion
        let application = try database.pragma("application_id")
        let isOurs = application == String(applicationID)
        let isEmpty = try database.first("SELECT count(*) FROM sqlite_schema") { $0.int(0) } == 0
        guard isOurs || (isEmpty && version == 0) else {
            throw StorageFailure(.incompatible, "\(database.path) is a database of another program")
        }
        guard version <= Self.version else {
            throw StorageFailure(
                .incompatible,
                "\(database.path) has schema \(version) and this program knows up to \(Self.version); "
                    + "install the newer version again")
        }
    }
}
