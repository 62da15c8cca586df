import IngestStore

extension OptionReader {
    /// Where the store is. What was written is not repeated: it may hold a password.
    func store() throws(UsageFailure) -> StorageLocation {
        guard let location = StorageLocation(try required("--store")) else {
            throw UsageFailure("--store is neither sqlite:PATH nor postgresql://…")
        }
        return location
    }

    func retention() throws(UsageFailure) -> Retention {
        guard let days = try number("--retention-days", from: 0) else { return .standard }
        guard days == 0 || days >= Retention.fewestDays else {
            throw UsageFailure(
                "--retention-days \(days): not 0, for ever, nor \(Retention.fewestDays) or more")
        }
        return Retention(days: days == 0 ? nil : days)
    }
}

extension StorageLocation {
    /// What it is, for a log: no path and no password.
    public var kind: String {
        switch self {
        case .sqlite: "sqlite"
        case .postgresql: "postgresql"
        }
    }
}
