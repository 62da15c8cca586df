/// Why the opening of a storage takes its time.
public enum StoragePreparation: Equatable, Sendable {
    /// Its tables are brought from one version to another: with many samples for minutes, or hours.
    case upgrading(from: Int, to: Int)
    /// Another program does that to it; said again once a minute.
    case waiting
}

extension StoragePreparation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .upgrading(let old, let new):
            "the store is brought from schema \(old) to \(new): with many samples this takes long"
        case .waiting: "waiting for another program that brings the store up to date"
        }
    }
}
