import BandProfile

/// One reading of a band's clock against this host's. Offsets are host minus band.
public struct ClockReading: Equatable, Sendable {
    public var clockID: UInt16
    public var bandTimeMilliseconds: Int64
    /// Host wall time at the middle of the read.
    public var hostTime: Timestamp
    /// Host monotonic milliseconds (CLOCK_BOOTTIME) at the middle of the read, with the boot it counts from.
    public var hostMonotonicMilliseconds: Int64
    public var bootID: String
    /// Half of the round trip: the offset is within this of the truth.
    public var boundMilliseconds: Int
    public var bandSecondsSinceBoot: UInt32
    /// What the host's wall clock was worth then.
    public var hostTrust: HostTrust
    /// The host's wall clock was within this of the truth, ms.
    public var hostBoundMilliseconds: Int64
    /// The newest record that the band held when Info was last read, and how long before this reading, ms: records with
    /// a higher seq were measured later than that. Nil = not known.
    public var newestSeq: UInt32?
    public var newestAgeMilliseconds: Int64

    public init(
        clockID: UInt16, bandTimeMilliseconds: Int64, hostTime: Timestamp, hostMonotonicMilliseconds: Int64,
        bootID: String, boundMilliseconds: Int, bandSecondsSinceBoot: UInt32,
        hostTrust: HostTrust = .synchronised, hostBoundMilliseconds: Int64 = 0, newestSeq: UInt32? = nil,
        newestAgeMilliseconds: Int64 = 0
    ) {
        self.clockID = clockID
        self.bandTimeMilliseconds = bandTimeMilliseconds
        self.hostTime = hostTime
        self.hostMonotonicMilliseconds = hostMonotonicMilliseconds
        self.bootID = bootID
        self.boundMilliseconds = boundMilliseconds
        self.bandSecondsSinceBoot = bandSecondsSinceBoot
        self.hostTrust = hostTrust
        self.hostBoundMilliseconds = hostBoundMilliseconds
        self.newestSeq = newestSeq
        self.newestAgeMilliseconds = newestAgeMilliseconds
    }

    /// The reading's moment by the host's clocks.
    public var hostStamp: HostStamp {
        HostStamp(
            bootID: bootID, monotonic: hostMonotonicMilliseconds, wall: hostTime, trust: hostTrust,
            boundMilliseconds: hostBoundMilliseconds)
    }
}

/// A record with the clock that timed it.
public struct TimedRecord: Equatable, Sendable {
    public var record: HistoryRecord
    public var clockID: UInt16

    public init(record: HistoryRecord, clockID: UInt16) {
        self.record = record
        self.clockID = clockID
    }
}

/// Bytes that could not be decoded, kept for good before anything is acked.
public struct RawNotification: Equatable, Sendable {
    /// Why: a framing fault's description or a content fault's name.
    public var reason: String
    /// The first seq that these bytes may stand for.
    public var seq: UInt32
    public var bytes: [UInt8]

    public init(reason: String, seq: UInt32, bytes: [UInt8]) {
        self.reason = reason
        self.seq = seq
        self.bytes = bytes
    }
}

/// A range that an Info read showed to be gone from the band: a gap, unless the server has it from another gateway.
public struct SuspectedGap: Equatable, Hashable, Sendable {
    public var ring: RingID
    public var firstSeq: UInt32
    /// Nil = the end is not known (a reformatted ring).
    public var lastSeq: UInt32?
    /// The cause that the gap will have if the server does not have the records.
    public var cause: GapCause

    public init(ring: RingID, firstSeq: UInt32, lastSeq: UInt32?, cause: GapCause) {
        self.ring = ring
        self.firstSeq = firstSeq
        self.lastSeq = lastSeq
        self.cause = cause
    }
}

/// What one durable transaction of the store takes: a run of records contiguous in seq and all that belongs to it.
///
/// `records` may be empty when only gaps or raw bytes are to be kept. After the commit the ring's resume
/// point is `through + 1`.
public struct Chunk: Equatable, Sendable {
    public var ring: RingID
    /// Contiguous: each seq is one above the one before.
    public var records: [TimedRecord]
    /// Ranges that end just below the first record and are known to be gone, with their cause.
    public var gaps: [Gap]
    /// Ranges known to be gone from the band for which the server has not been asked yet. No ack of their
    /// ring passes them. One may be of an earlier ring (reformatted).
    public var openQuestions: [SuspectedGap]
    public var raw: [RawNotification]
    /// Everything up to here is in this chunk, in an earlier one, in a gap or in an open question.
    public var through: UInt32

    public init(
        ring: RingID, records: [TimedRecord], gaps: [Gap] = [], openQuestions: [SuspectedGap] = [],
        raw: [RawNotification] = [], through: UInt32
    ) {
        self.ring = ring
        self.records = records
        self.gaps = gaps
        self.openQuestions = openQuestions
        self.raw = raw
        self.through = through
    }
}

/// What a commit did; durable when it is returned.
public struct CommitOutcome: Equatable, Sendable {
    /// Every record up to here is durable, confirmed complete by the server, or a written gap. 0 = none.
    public var ackThrough: UInt32
    public var stored: Int
    public var duplicates: Int
    public var conflicts: Int
    public var keptRaw: Int

    public init(ackThrough: UInt32, stored: Int, duplicates: Int, conflicts: Int, keptRaw: Int) {
        self.ackThrough = ackThrough
        self.stored = stored
        self.duplicates = duplicates
        self.conflicts = conflicts
        self.keptRaw = keptRaw
    }
}

/// What the store knows of a band when a session begins.
public struct RingProgress: Equatable, Sendable {
    /// The newest ring known of this band before this one, if its end was never seen; its next seq.
    public struct Predecessor: Equatable, Sendable {
        public var ring: RingID
        public var nextSeq: UInt32
        public init(ring: RingID, nextSeq: UInt32) {
            self.ring = ring
            self.nextSeq = nextSeq
        }
    }

    /// The first seq to ask the band for.
    public var nextSeq: UInt32
    public var ackThrough: UInt32
    /// Known rings of this band, other than the current one, that have no `reformatted` gap yet.
    public var predecessors: [Predecessor]
    /// Ranges gone from the band for which the server has not answered yet.
    public var openQuestions: [ClosedRange<UInt32>]
    /// Failed tries to read from `nextSeq`, which outlive connections and restarts.
    public var attempts: Attempts
    /// Wall and band times of the last record stored of this ring, for the `after` of a gap.
    public var lastRecordedAt: Timestamp?

    public init(
        nextSeq: UInt32, ackThrough: UInt32, predecessors: [Predecessor] = [],
        openQuestions: [ClosedRange<UInt32>] = [], attempts: Attempts = Attempts(),
        lastRecordedAt: Timestamp? = nil
    ) {
        self.nextSeq = nextSeq
        self.ackThrough = ackThrough
        self.predecessors = predecessors
        self.openQuestions = openQuestions
        self.attempts = attempts
        self.lastRecordedAt = lastRecordedAt
    }
}

/// Failed tries at one seq of one ring. Band History Profile 1, duty 7: three tries over at least two connections.
public struct Attempts: Equatable, Sendable {
    public var seq: UInt32
    public var tries: Int
    public var connections: Int
    /// True when a try ended on bytes that could not be decoded, false when records were absent.
    public var sawUnreadable: Bool

    public init(seq: UInt32 = 0, tries: Int = 0, connections: Int = 0, sawUnreadable: Bool = false) {
        self.seq = seq
        self.tries = tries
        self.connections = connections
        self.sawUnreadable = sawUnreadable
    }
}
