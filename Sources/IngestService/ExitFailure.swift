import IngestStore

/// Why the program ends without doing as asked: a sentence and a status of sysexits.h.
public struct ExitFailure: Error, Equatable, Sendable {
    public var status: Int32
    public var message: String

    public init(status: Int32, _ message: String) {
        self.status = status
        self.message = message
    }

    public static func usage(_ failure: UsageFailure) -> ExitFailure {
        ExitFailure(status: 64, "\(failure); see bandferry-ingest --help")
    }

    static func store(_ failure: StorageFailure) -> ExitFailure {
        switch failure.kind {
        case .damaged:
            ExitFailure(status: 65, "the store is damaged; restore it from a copy: \(failure.message)")
        case .incompatible:
            ExitFailure(status: 65, failure.message)
        case .unavailable, .overloaded, .full, .defect:
            ExitFailure(status: 74, "the store can't be used: \(failure.message)")
        }
    }
}
