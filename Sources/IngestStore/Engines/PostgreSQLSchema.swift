import PostgreSQL

/// The tables, as numbered migrations: append only, never edited once released.
enum PostgreSQLSchema {
    private static var migrations: [String] {
        [
            PackageResources.postgresql_0001_sql, PackageResources.postgresql_0002_sql,
            PackageResources.postgresql_0003_sql,
        ].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Any number that other programs do not use: whoever migrates holds this lock.
    private static let lock: Int64 = 0x4246_4947

    /// Brings a database up to this version; refuses one that is newer, or not ours.
    static func migrate(_ connection: PostgreSQLConnection, _ name: String) throws(PostgreSQLError) {
        // Several servers may start at once.
        _ = try connection.run([
            PostgreSQLCall("BEGIN"),
            PostgreSQLCall(
                "SELECT 1 FROM (SELECT pg_advisory_xact_lock($1::bigint)) AS locked", [.int(lock)]),
        ])
        do throws(PostgreSQLError) {
            try connection.script(
                "CREATE TABLE IF NOT EXISTS bandferry_schema (version BIGINT NOT NULL)")
            let rows = try connection.run([PostgreSQLCall("SELECT max(version) FROM bandferry_schema")])
            var version = 0
            if case .int(let known)? = rows.first?.rows.first?.first { version = Int(known) }
            guard version <= migrations.count else {
                throw PostgreSQLError(
                    kind: .misuse,
                    message:
                        "\(name) has schema \(version) and this program knows up to \(migrations.count); "
                        + "install the newer version again")
            }
            for (number, migration) in migrations.enumerated().dropFirst(version) {
                try connection.script(migration)
                _ = try connection.run([
                    PostgreSQLCall(
                        "INSERT INTO bandferry_schema (version) VALUES ($1)", [.int(Int64(number + 1))])
                ])
            }
            _ = try connection.run([PostgreSQLCall("COMMIT")])
        } catch {
            if !connection.isBroken { _ = try? connection.run([PostgreSQLCall("ROLLBACK")]) }
            throw error
        }
    }
}
