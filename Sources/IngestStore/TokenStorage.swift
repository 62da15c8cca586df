import IngestAPI

/// Accounts and their tokens. A token is kept as its SHA-256 digest only.
public protocol TokenStorage: Sendable {
    /// False = the account was there already.
    func createAccount(_ account: String) async throws(StorageFailure) -> Bool
    func accounts() async throws(StorageFailure) -> [String]
    func addToken(_ token: StoredToken) async throws(StorageFailure)
    /// Newest last; revoked ones included.
    func tokens(account: String?) async throws(StorageFailure) -> [StoredToken]
    /// Nil = no such token; a second revocation changes nothing.
    func revokeToken(id: String, at time: APITime) async throws(StorageFailure) -> StoredToken?
    func token(digest: [UInt8]) async throws(StorageFailure) -> StoredToken?
}

/// What is kept of a token.
public struct StoredToken: Equatable, Sendable {
    /// Short, for people: 8 hex digits.
    public var id: String
    public var account: String
    public var role: Role
    public var label: String?
    /// SHA-256, 32 bytes.
    public var digest: [UInt8]
    public var createdAt: APITime
    public var revokedAt: APITime?

    public init(
        id: String, account: String, role: Role, label: String? = nil, digest: [UInt8], createdAt: APITime,
        revokedAt: APITime? = nil
    ) {
        self.id = id
        self.account = account
        self.role = role
        self.label = label
        self.digest = digest
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}
