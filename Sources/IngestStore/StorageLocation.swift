/// Where a server keeps its data, as a user names it.
public enum StorageLocation: Equatable, Sendable {
    /// `sqlite:PATH`.
    case sqlite(path: String)
    /// `postgresql://…` or `postgres://…`, as libpq takes it.
    case postgresql(uri: String)

    /// Nil for anything else.
    public init?(_ text: String) {
        if text.hasPrefix("sqlite:"), text.utf8.count > "sqlite:".utf8.count {
            self = .sqlite(path: String(text.dropFirst("sqlite:".count)))
        } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            self = .postgresql(uri: text)
        } else {
            return nil
        }
    }

    var engine: any SQLEngine {
        switch self {
        case .sqlite(let path): SQLiteEngine(path: path)
        case .postgresql(let uri): PostgreSQLEngine(uri: uri)
        }
    }
}
