import IngestAPI

/// What becomes of a sample whose key is known. Ingest API 1, "POST /v1/samples:batch", the counts.
public enum KeyRule: Equatable, Sendable {
    /// What the band gave differs: kept beside the first.
    case conflict
    /// Nothing newer.
    case duplicate
    /// The same version with a smaller bound: its derived fields become current; it counts as a duplicate.
    case refined
    /// A higher version: its derived fields become current.
    case corrected

    public init(known: APISample, incoming: APISample) {
        if known.differsInWhatTheBandGave(from: incoming) {
            self = .conflict
        } else if incoming.version > known.version {
            self = .corrected
        } else if incoming.version == known.version, TimeBound(incoming) < TimeBound(known) {
            self = .refined
        } else {
            self = .duplicate
        }
    }
}

extension APISample {
    fileprivate func differsInWhatTheBandGave(from other: APISample) -> Bool {
        value != other.value || bandTimeMilliseconds != other.bandTimeMilliseconds
            || clockID != other.clockID || flags != other.flags
    }

    /// With the derived fields of `newer`. What the band gave and the provenance stay, and so does the person where
    /// `newer` does not say.
    public func derived(from newer: APISample) -> APISample {
        var sample = newer
        sample.provenance = provenance
        if newer.person == .unchanged { sample.person = person }
        return sample
    }
}

/// How far from the truth a time may be; a time that can't be trusted is further off than any that can.
struct TimeBound: Comparable {
    private let rank: Int
    private let milliseconds: Int

    init(_ sample: APISample) {
        rank = sample.timeUncertain ? 2 : sample.timeBoundMilliseconds == nil ? 1 : 0
        milliseconds = sample.timeUncertain ? 0 : sample.timeBoundMilliseconds ?? 0
    }

    static func < (left: Self, right: Self) -> Bool {
        (left.rank, left.milliseconds) < (right.rank, right.milliseconds)
    }
}
