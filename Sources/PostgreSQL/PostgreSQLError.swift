/// What failed, without any value that was sent or stored.
public struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// Refused, not ready, not let in, or lost. Whether what was asked took effect is not known.
        case connection
        /// No answer within the deadline. Whether what was asked took effect is not known.
        case timeout
        /// The server refused a statement; `sqlState` is its five characters (PostgreSQL 15, appendix A).
        case server(sqlState: String)
        /// The caller's mistake, found before anything was run.
        case misuse
    }

    public var kind: Kind
    /// The primary message alone: DETAIL and CONTEXT can hold values of people.
    public var message: String
    /// Of `.connection`: what the server ended it with, its five characters; nil = nobody knows why it ended.
    public var closedWith: String?

    public init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String {
        switch kind {
        case .connection: "no connection to PostgreSQL: \(message)"
        case .timeout: "PostgreSQL did not answer in time: \(message)"
        case .server(let sqlState): "PostgreSQL refused (\(sqlState)): \(message)"
        case .misuse: "wrong use of PostgreSQL: \(message)"
        }
    }
}
