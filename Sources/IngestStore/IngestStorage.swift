import IngestAPI

/// Where an ingest server keeps what it is sent. Every write is durable when its call returns.
///
/// All names are scoped to the account. Nil or `.unknownDevice` = the account has no such device.
public protocol IngestStorage: Sendable {
    /// Takes a batch; makes the device and the ring known. `.full`, and nothing is changed, when the ring would be one more
    /// than `IngestAPI.maxRingsPerDevice`.
    func store(_ batch: ReceivedBatch, account: String) async throws(StorageFailure) -> BatchAnswer

    /// `.full` when they and their rings are more than `IngestAPI.maxListEntries`. Each is whole; one that changes meanwhile
    /// is as it was or as it is.
    func devices(account: String) async throws(StorageFailure) -> [DeviceState]
    func device(_ device: String, account: String) async throws(StorageFailure) -> DeviceState?
    /// `.full` when they are more than an answer of `IngestAPI.maxListBytes` has room for. Each sample is counted once; one
    /// that comes or changes meanwhile is counted as it was or as it is.
    func ranges(device: String, account: String) async throws(StorageFailure) -> [DayRange]?

    /// Replaces the gaps with the same ring and first seq, adds the others; makes the device known.
    /// Returns the gaps named, as they are stored now. `.full`, and nothing is changed, when the device would have more
    /// gaps than `IngestAPI.maxGapsPerDevice` or more rings than `maxRingsPerDevice`.
    func putGaps(_ gaps: [APIGap], device: String, account: String) async throws(StorageFailure) -> [APIGap]
    func gaps(device: String, account: String) async throws(StorageFailure) -> [APIGap]?

    /// Makes the device known.
    func putReport(_ report: DeviceReport, device: String, account: String) async throws(StorageFailure)

    /// Makes the device known.
    func requestLease(
        _ request: LeaseRequest, device: String, account: String
    ) async throws(StorageFailure) -> LeaseDecision
    /// Gives a lease back if this gateway holds it; who holds it after that. Nil for an unknown device.
    func releaseLease(
        gateway: String, device: String, account: String
    ) async throws(StorageFailure) -> LeaseAnswer?

    /// All persons of the account, in the order of their ids. `.full` when they, or their devices, are more than
    /// `IngestAPI.maxListEntries`.
    func persons(account: String) async throws(StorageFailure) -> [PersonEntry]
    func person(_ person: String, account: String) async throws(StorageFailure) -> PersonRecord?
    func putPerson(_ record: PersonRecord, person: String, account: String) async throws(StorageFailure)

    /// Nil when the query names a device that is not known.
    func samples(_ query: SampleQuery, account: String) async throws(StorageFailure) -> SamplesPage?

    /// Tells all that was stored before it was asked. Nil when the query names a device that is not known; a
    /// person that is not known has no samples.
    func aggregates(_ query: AggregateQuery, account: String) async throws(StorageFailure) -> AggregateList?

    /// Returns while requests can be stored: something was written, durably, a moment ago.
    func probe() async throws(StorageFailure)

    /// Ends all work and leaves the files tidy. Nothing may be asked of the storage after it.
    func close() async
}

/// Whether a gateway may own a band.
public enum LeaseDecision: Equatable, Sendable {
    case granted(LeaseAnswer)
    /// Another gateway holds it.
    case held(LeaseAnswer)
}

/// Why the storage could not do as asked. Carries no sample and no name of a person.
public struct StorageFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// Full, read-only, locked, or a device error: the same request may succeed later.
        case unavailable
        /// The files are damaged: somebody must restore them.
        case damaged
        /// More requests wait than the storage lets wait.
        case overloaded
        /// The files belong to a newer version, or to another program.
        case incompatible
        /// A device would have more gaps or rings than one may have, or a list more than fits into an answer.
        case full
        /// A defect of this program.
        case defect
    }

    public var kind: Kind
    public var message: String
    /// The engine took back the transaction for another's sake: the same one may be tried again at once.
    var isTransient = false
    /// It is another transaction's lock: once that one has ended, the same may succeed.
    public internal(set) var isContended = false
    /// The connection is gone, not the database: another one may do.
    var isCut = false
    /// It was cut because the database stops or starts: that says nothing of what it was asked.
    var isStop = false
    /// No answer came in time: who waits for the same connection would not fare better.
    public internal(set) var isLate = false

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// `what`: gaps or rings.
    static func full(_ what: String) -> Self {
        Self(.full, "the device has as many \(what) as one may have")
    }

    static let longList = Self(.full, "there is more than fits into an answer")

    public var description: String { "\(kind.rawValue): \(message)" }
}
