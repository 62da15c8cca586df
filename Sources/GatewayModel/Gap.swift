import BandProfile

/// Why records are missing for good. The raw value is the ingest API's name.
public enum GapCause: String, Sendable, CaseIterable {
    case overwritten
    case freedElsewhere = "freed_elsewhere"
    case reformatted
    case storageLost = "storage_lost"
    case lostByBand = "lost_by_band"
    case unreadable
}

/// A range of records that nobody can read any more, said honestly. Key: (device, ring, firstSeq).
public struct Gap: Equatable, Sendable {
    public var ring: RingID
    public var firstSeq: UInt32
    /// Nil = the end is not known.
    public var lastSeq: UInt32?
    /// The missing records lie between these two times, as far as the neighbours tell.
    public var after: Timestamp?
    public var before: Timestamp?
    public var cause: GapCause
    /// When the missing records turned up after all; nil = still missing.
    public var healedAt: Timestamp?

    public init(
        ring: RingID, firstSeq: UInt32, lastSeq: UInt32?, after: Timestamp? = nil, before: Timestamp? = nil,
        cause: GapCause, healedAt: Timestamp? = nil
    ) {
        self.ring = ring
        self.firstSeq = firstSeq
        self.lastSeq = lastSeq
        self.after = after
        self.before = before
        self.cause = cause
        self.healedAt = healedAt
    }
}
