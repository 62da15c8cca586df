import IngestAPI
import SQLite

extension SQLiteIngestStorage: TokenStorage {
    public func createAccount(_ account: String) async throws(StorageFailure) -> Bool {
        try await writer.perform { try TokenRows(database: $0).createAccount(account) }
    }

    public func accounts() async throws(StorageFailure) -> [String] {
        try await writer.perform { try TokenRows(database: $0).accounts() }
    }

    public func addToken(_ token: StoredToken) async throws(StorageFailure) {
        try await writer.perform { try TokenRows(database: $0).add(token) }
    }

    public func tokens(account: String?) async throws(StorageFailure) -> [StoredToken] {
        try await writer.perform { try TokenRows(database: $0).all(account: account) }
    }

    public func revokeToken(id: String, at time: APITime) async throws(StorageFailure) -> StoredToken? {
        try await writer.perform { try TokenRows(database: $0).revoke(id: id, at: time) }
    }

    public func token(digest: [UInt8]) async throws(StorageFailure) -> StoredToken? {
        try await writer.perform { try TokenRows(database: $0).token(digest: digest) }
    }
}

/// Reads and writes the tokens.
private struct TokenRows {
    let database: Database

    private static let columns = "t.id, a.name, t.role, t.label, t.digest, t.created_ms, t.revoked_ms"
    private static let source = "tokens t JOIN accounts a ON a.id = t.account_id"

    /// Makes the table when it is not there.
    init(database: Database) throws {
        self.database = database
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS tokens (
                number INTEGER PRIMARY KEY,         -- in the order of creation
                id TEXT NOT NULL UNIQUE,            -- short, for people
                account_id INTEGER NOT NULL REFERENCES accounts,
                role TEXT NOT NULL,
                label TEXT,
                digest BLOB NOT NULL UNIQUE,        -- SHA-256 of the token, which is kept nowhere
                created_ms INTEGER NOT NULL,
                revoked_ms INTEGER
            ) STRICT
            """)
    }

    func createAccount(_ account: String) throws -> Bool {
        try database.run("INSERT INTO accounts (name) VALUES (?) ON CONFLICT DO NOTHING", .text(account))
        return database.changes == 1
    }

    func accounts() throws -> [String] {
        try database.all("SELECT name FROM accounts ORDER BY name") { $0.text(0) }
    }

    func add(_ token: StoredToken) throws {
        let account = try Names(database: database).makeAccount(token.account)
        try database.run(
            """
            INSERT INTO tokens (id, account_id, role, label, digest, created_ms, revoked_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, .text(token.id), .integer(account), .text(token.role.rawValue),
            token.label.map { .text($0) } ?? .null, .blob(token.digest),
            .integer(token.createdAt.milliseconds),
            token.revokedAt.map { .integer($0.milliseconds) } ?? .null)
    }

    func all(account: String?) throws -> [StoredToken] {
        try database.all(
            """
            SELECT \(Self.columns) FROM \(Self.source) WHERE ?1 IS NULL OR a.name = ?1 ORDER BY t.number
            """, account.map { .text($0) } ?? .null, row: Self.token)
    }

    func revoke(id: String, at time: APITime) throws -> StoredToken? {
        try database.run(
            "UPDATE tokens SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL",
            .integer(time.milliseconds),
            .text(id))
        return try database.first(
            "SELECT \(Self.columns) FROM \(Self.source) WHERE t.id = ?", .text(id), row: Self.token)
    }

    func token(digest: [UInt8]) throws -> StoredToken? {
        try database.first(
            "SELECT \(Self.columns) FROM \(Self.source) WHERE t.digest = ?", .blob(digest), row: Self.token)
    }

    private static func token(_ row: Statement) throws -> StoredToken {
        guard let role = Role(rawValue: row.text(2)) else {
            throw StorageFailure(.incompatible, "a token has a role that this version does not know")
        }
        return StoredToken(
            id: row.text(0), account: row.text(1), role: role, label: row.optionalText(3),
            digest: row.blob(4), createdAt: APITime(milliseconds: row.int64(5)),
            revokedAt: row.optionalInt64(6).map(APITime.init(milliseconds:)))
    }
}
