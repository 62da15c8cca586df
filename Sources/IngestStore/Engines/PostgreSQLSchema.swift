import PostgreSQL

/// The tables, as numbered migrations: append only, never edited once released.
struct PostgreSQLSchema {
    private static var migrations: [String] {
        [
            PackageResources.postgresql_0001_sql, PackageResources.postgresql_0002_sql,
            PackageResources.postgresql_0003_sql,
        ].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Any number that other programs do not use: whoever migrates holds this lock.
    static let lock: Int64 = 0x4246_4947

    let connection: PostgreSQLConnection
    let name: String
    let times: PostgreSQLEngine.Times

    /// Brings a database up to this version; refuses one that is newer, or not ours.
    ///
    /// A store that is as it should be is only looked at. The others are changed by one server at a time, without a limit that
    /// the number of samples could reach; whoever comes meanwhile waits as long. What hangs before that is found in time.
    func bringUpToDate(_ report: (StoragePreparation) -> Void) throws(PostgreSQLError) {
        guard try version() < Self.migrations.count else { return }
        try takeLock(report)
        do throws(PostgreSQLError) {
            try migrate(report)
            try run("COMMIT")
        } catch {
            if !connection.isBroken { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    /// Begins the transaction that has the lock.
    private func takeLock(_ report: (StoragePreparation) -> Void) throws(PostgreSQLError) {
        let end = ContinuousClock.now + times.upgrade
        // No statement is ended for being long, but all are for a program that is gone. At first it waits as for any lock.
        try connection.script("SET statement_timeout = 0; SET client_connection_check_interval = '10s'")
        while true {
            try run("BEGIN")
            do throws(PostgreSQLError) {
                try run(
                    "SELECT 1 FROM (SELECT pg_advisory_xact_lock($1::bigint)) AS locked", [.int(Self.lock)])
                return
            } catch {
                guard error.kind == .server(sqlState: "55P03"), .now < end else { throw error }
            }
            try run("ROLLBACK")
            report(.waiting)
            // The server tells when it waited so long: no word from it after that is one that hangs.
            let wait = times.wait.components
            let milliseconds = wait.seconds * 1000 + wait.attoseconds / 1_000_000_000_000_000
            try connection.script("SET lock_timeout = \(max(1, milliseconds))")
            connection.deadline = times.wait + times.call
        }
    }

    private func migrate(_ report: (StoragePreparation) -> Void) throws(PostgreSQLError) {
        // Another server may have been here meanwhile.
        let version = try version()
        guard version < Self.migrations.count else { return }
        if version > 0 { report(.upgrading(from: version, to: Self.migrations.count)) }
        connection.deadline = times.upgrade
        // Servers of the version before hold their locks for moments, and wait behind whoever waits for one.
        try connection.script(
            """
            SET LOCAL lock_timeout = '30s';
            CREATE TABLE IF NOT EXISTS bandferry_schema (version BIGINT NOT NULL)
            """)
        for (number, migration) in Self.migrations.enumerated().dropFirst(version) {
            try connection.script(migration)
            try run("INSERT INTO bandferry_schema (version) VALUES ($1)", [.int(Int64(number + 1))])
        }
    }

    /// 0 = there are no tables.
    private func version() throws(PostgreSQLError) -> Int {
        guard
            try number("SELECT count(*) FROM pg_class WHERE oid = to_regclass('bandferry_schema')") == 1
        else { return 0 }
        let version = Int(try number("SELECT max(version) FROM bandferry_schema") ?? 0)
        guard version <= Self.migrations.count else {
            throw PostgreSQLError(
                kind: .misuse,
                message:
                    "\(name) has schema \(version) and this program knows up to \(Self.migrations.count); "
                    + "install the newer version again")
        }
        return version
    }

    private func number(_ sql: String) throws(PostgreSQLError) -> Int64? {
        guard case .int(let value)? = try run(sql).first?.rows.first?.first else { return nil }
        return value
    }

    @discardableResult
    private func run(
        _ sql: String, _ values: [PostgreSQLValue] = []
    ) throws(PostgreSQLError) -> [PostgreSQLResult] {
        try connection.run([PostgreSQLCall(sql, values)])
    }
}
