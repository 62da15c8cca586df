import SQLite

/// Brings a database to this program's schema, and keeps away from any other.
struct Migrator {
    let database: Database

    /// `last`: the schema to stop at.
    func run(upTo last: Int = Schema.version) throws {
        try refuseForeign()
        var version = try database.userVersion
        while version < last {
            try database.transaction {
                try database.execute(Schema.migrations[version])
                try database.execute("PRAGMA application_id = \(Schema.applicationID)")
                try database.execute("PRAGMA user_version = \(version + 1)")
            }
            version += 1
        }
    }

    /// Throws for a newer schema and for a database that is not ours. Alters nothing.
    func refuseForeign() throws {
        let version = try database.userVersion
        let application = Int(try database.pragma("application_id")) ?? 0
        let tables = try database.first("SELECT count(*) FROM sqlite_schema") { $0.int(0) } ?? 0
        guard application == Schema.applicationID || (application == 0 && version == 0 && tables == 0) else {
            throw StoreError(
                kind: .directory, operation: "look at the database", path: database.path,
                message: "this is not a database of a gateway",
                remedy: "Move it away or choose another directory.")
        }
        guard version <= Schema.version else {
            throw StoreError(
                kind: .newerSchema, operation: "look at the database", path: database.path,
                message: "its schema is number \(version), this program knows up to \(Schema.version)")
        }
    }

    /// For connections that may not migrate.
    func requireCurrent() throws {
        try refuseForeign()
        let version = try database.userVersion
        guard version == Schema.version else {
            throw StoreError(
                kind: .missing, operation: "look at the database", path: database.path,
                message:
                    "its schema is number \(version), not \(Schema.version): the daemon has not opened it yet",
                remedy: "Start the daemon once.")
        }
    }
}
