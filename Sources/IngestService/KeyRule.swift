import IngestAPI

/// What becomes of a sample whose key is known. Ingest API 1, "POST /v1/samples:batch", the counts.
enum KeyRule: Equatable {
    /// What the band gave differs: kept beside the first.
    case conflict
    /// Nothing newer.
    case duplicate
    /// The same version with a smaller bound: its derived fields become current; it counts as a duplicate.
    case refined
    /// A higher version: its derived fields become current.
    case corrected

    init(known: StoredRaw, incoming: APISample) {
        if known.differs(from: incoming) {
            self = .conflict
        } else if incoming.version > known.version {
            self = .corrected
        } else if incoming.version == known.version, TimeBound(incoming) < known.bound {
            self = .refined
        } else {
            self = .duplicate
        }
    }
}

/// Of a stored sample, what decides over another with its key, and where it counts so far.
struct StoredRaw: Equatable {
    var value: Int
    var bandTimeMilliseconds: Int64
    var clockID: Int
    var flags: Int
    var version: Int
    var bound: TimeBound
    var person: Int64?
    /// Nil when it counts nowhere.
    var place: TrendPlace?

    func differs(from sample: APISample) -> Bool {
        value != sample.value || bandTimeMilliseconds != sample.bandTimeMilliseconds
            || clockID != Int(sample.clockID) || flags != Int(sample.flags)
    }
}

/// How far from the truth a time may be; a time that can't be trusted is further off than any that can.
struct TimeBound: Comparable {
    private let rank: Int
    private let milliseconds: Int

    init(milliseconds: Int?, uncertain: Bool) {
        rank = uncertain ? 2 : milliseconds == nil ? 1 : 0
        self.milliseconds = uncertain ? 0 : milliseconds ?? 0
    }

    init(_ sample: APISample) {
        self.init(milliseconds: sample.timeBoundMilliseconds, uncertain: sample.timeUncertain)
    }

    static func < (left: Self, right: Self) -> Bool {
        (left.rank, left.milliseconds) < (right.rank, right.milliseconds)
    }
}
