import BandProfile

/// A band that the server knows, as somebody sees it who may take it over.
public struct ServerBand: Equatable, Sendable {
    public var device: DeviceID
    /// Nil = it is not known here, and its device id does not tell it.
    public var address: BluetoothAddress?
    /// As the gateway that reads it last reported.
    public var lastContact: Timestamp?
    /// When its newest sample was recorded.
    public var lastRecordedAt: Timestamp?
    public var samples: Int
    /// How it is treated here; nil = it is not adopted here.
    public var mode: BandMode?
    /// Nil = nobody holds it, or it could not be asked.
    public var lease: BandLease?

    public init(
        device: DeviceID, address: BluetoothAddress? = nil, lastContact: Timestamp? = nil,
        lastRecordedAt: Timestamp? = nil, samples: Int = 0, mode: BandMode? = nil, lease: BandLease? = nil
    ) {
        self.device = device
        self.address = address
        self.lastContact = lastContact
        self.lastRecordedAt = lastRecordedAt
        self.samples = samples
        self.mode = mode
        self.lease = lease
    }
}

/// What a person wants to take over.
public struct ReplaceRequest: Equatable, Sendable {
    /// Device ids or addresses; empty with `isEverything`.
    public var bands: [String]
    /// Every band that the server knows and that is not owned here.
    public var isEverything: Bool
    /// Of the one band that is named, where its device id does not tell it.
    public var address: BluetoothAddress?
    public var isDryRun: Bool
    /// Also while another gateway holds it.
    public var isForced: Bool

    public init(
        bands: [String], isEverything: Bool = false, address: BluetoothAddress? = nil, isDryRun: Bool = false,
        isForced: Bool = false
    ) {
        self.bands = bands
        self.isEverything = isEverything
        self.address = address
        self.isDryRun = isDryRun
        self.isForced = isForced
    }
}

/// What came of taking over one band.
public struct ReplaceReport: Equatable, Sendable {
    public enum Outcome: String, Sendable, CaseIterable {
        case takenOver = "taken_over"
        /// It was owned here before; what the server knows was taken in.
        case refreshed
        /// Only looked.
        case wouldTakeOver = "would_take_over"
        /// `problem` says why.
        case refused
    }

    public struct Ring: Equatable, Sendable {
        public var ring: RingID
        /// The server has all up to here; nil = nobody said so.
        public var completeThrough: UInt32?
        /// Here it is read from this record on.
        public var nextSeq: UInt32

        public init(ring: RingID, completeThrough: UInt32?, nextSeq: UInt32) {
            self.ring = ring
            self.completeThrough = completeThrough
            self.nextSeq = nextSeq
        }
    }

    /// Who wore it last, says the server.
    public struct Wearer: Equatable, Sendable {
        public var person: PersonID
        /// As people here call them.
        public var name: String
        /// The last of their samples.
        public var until: Timestamp

        public init(person: PersonID, name: String, until: Timestamp) {
            self.person = person
            self.name = name
            self.until = until
        }
    }

    public var device: DeviceID
    public var address: BluetoothAddress?
    public var outcome: Outcome
    public var rings: [Ring] = []
    /// Corrections start above it.
    public var maxVersion = 0
    /// Gaps that the server has already.
    public var gaps = 0
    /// Persons that were not known here before.
    public var persons = 0
    public var wearer: Wearer?
    public var lease: BandLease?
    public var problem: Problem?

    public init(device: DeviceID, address: BluetoothAddress?, outcome: Outcome) {
        self.device = device
        self.address = address
        self.outcome = outcome
    }
}
