import BandProfile

/// What a comparison of one band with the server found.
public struct ReconcileReport: Equatable, Sendable {
    public var device: DeviceID
    /// UTC days on which either has something.
    public var days: Int
    /// In the order of day, ring and type; at most `differenceLimit` of them.
    public var differences: [DayDifference]
    /// Days with a difference.
    public var differingDays: Int
    /// Confirmed here and not there.
    public var missing: Int
    /// There and not here: another gateway's, or from before this database.
    public var onlyThere: Int
    /// So old that the server has let it go: no difference.
    public var expired: Int
    /// Days since 1970-01-01 of what has expired.
    public var expiredDays: ClosedRange<Int64>?
    /// On these days, here, still to go up.
    public var waiting: Int
    /// On these days, here, and refused or kept back.
    public var kept: Int
    /// What is missing goes up again; false = it was only looked.
    public var isMarked: Bool
    /// Why it ended before its end.
    public var problem: Problem?

    public static let differenceLimit = 500

    public init(device: DeviceID, isMarked: Bool) {
        self.device = device
        self.isMarked = isMarked
        days = 0
        differences = []
        differingDays = 0
        missing = 0
        onlyThere = 0
        expired = 0
        waiting = 0
        kept = 0
    }
}

/// Where a day differs, by ring and type.
public struct DayDifference: Equatable, Sendable {
    /// UTC, since 1970-01-01.
    public var day: Int64
    public var ring: RingID
    public var type: SampleType
    /// Confirmed here.
    public var here: Int
    public var there: Int
    /// Confirmed here, and nowhere there.
    public var missing: Int
    /// The first of them, in rising order; at most `KeptSamples.rangeLimit`.
    public var missingSeqs: [ClosedRange<UInt32>]
    public var onlyThere: Int
    /// There, but on another day: their times were corrected.
    public var elsewhere: Int
    /// Some of `missing` may have expired there, or it could not be read which are missing.
    public var isUnclear: Bool

    public init(
        day: Int64, ring: RingID, type: SampleType, here: Int, there: Int, missing: Int = 0,
        missingSeqs: [ClosedRange<UInt32>] = [], onlyThere: Int = 0, elsewhere: Int = 0,
        isUnclear: Bool = false
    ) {
        self.day = day
        self.ring = ring
        self.type = type
        self.here = here
        self.there = there
        self.missing = missing
        self.missingSeqs = missingSeqs
        self.onlyThere = onlyThere
        self.elsewhere = elsewhere
        self.isUnclear = isUnclear
    }
}

/// How far a comparison is.
public struct ReconcileProgress: Equatable, Sendable {
    public var device: DeviceID
    public var done: Int
    /// Days; 0 = not known yet.
    public var total: Int

    public init(device: DeviceID, done: Int = 0, total: Int = 0) {
        self.device = device
        self.done = done
        self.total = total
    }
}
