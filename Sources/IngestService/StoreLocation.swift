/// Where a store is, as the command line names it: `sqlite:PATH`.
public enum StoreLocation: Equatable, Sendable {
    case sqlite(path: String)

    public init(_ text: String) throws(UsageFailure) {
        guard text.hasPrefix("sqlite:"), text.utf8.count > "sqlite:".utf8.count else {
            throw UsageFailure("--store \(text): not sqlite: and a path")
        }
        self = .sqlite(path: String(text.dropFirst("sqlite:".count)))
    }

    /// What it is, for a log: no path and no password.
    public var kind: String {
        switch self {
        case .sqlite: "sqlite"
        }
    }

    /// The caller closes it.
    func open() async throws(StorageFailure) -> any IngestStorage & TokenStorage {
        switch self {
        case .sqlite(let path): try await SQLiteIngestStorage(path: path)
        }
    }
}
