/// What a token may do.
public enum Role: String, Sendable, CaseIterable {
    /// Writes and reads.
    case gateway
    /// Reads only.
    case read
}

/// Whom a token stands for. All names of devices and persons belong to the account.
public struct Identity: Hashable, Sendable {
    public var account: String
    public var role: Role

    public init(account: String, role: Role = .gateway) {
        self.account = account
        self.role = role
    }
}
