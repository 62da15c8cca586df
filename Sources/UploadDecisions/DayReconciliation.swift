import IngestAPI

/// One UTC day of one band: what is confirmed here beside what the server says that it has. Counts and bounds first; only
/// where they differ are samples looked at one by one.
public struct DayReconciliation: Sendable {
    /// What the server counts by itself.
    public struct Part: Hashable, Sendable, Comparable {
        public var ring: String
        public var type: APISampleType

        public init(ring: String, type: APISampleType) {
            self.ring = ring
            self.type = type
        }

        public static func < (left: Part, right: Part) -> Bool {
            (left.ring, left.type.rawValue) < (right.ring, right.type.rawValue)
        }
    }

    /// Confirmed here, in rising order of seq; `times` are those of `seqs`, ms.
    public struct Here: Equatable, Sendable {
        public var seqs: [UInt32]
        public var times: [Int64]

        public init(seqs: [UInt32] = [], times: [Int64] = []) {
            self.seqs = seqs
            self.times = times
        }
    }

    /// Since 1970-01-01.
    public let day: Int64
    private let here: [Part: Here]
    private let there: [Part: DayRange]
    private var seen: [Part: Set<UInt32>] = [:]
    /// Parts of which nothing at all is here, whenever it was recorded: what the server has of them need not be read.
    public private(set) var foreign: Set<Part> = []
    /// The server's samples could not be read: which ones it lacks can't be told.
    public private(set) var isUnreadable = false

    public init(day: Int64, here: [Part: Here], there: [DayRange]) {
        self.day = day
        self.here = here.filter { !$0.value.seqs.isEmpty }
        self.there = Dictionary(
            there.map { (Part(ring: $0.ring, type: $0.type), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// In a fixed order.
    public var differing: [Part] {
        Set(here.keys).union(there.keys).filter { part in
            guard let here = here[part], let there = there[part] else { return true }
            return here.seqs.count != there.count || here.seqs.first != there.minSeq
                || here.seqs.last != there.maxSeq
        }.sorted()
    }

    public func countHere(_ part: Part) -> Int { here[part]?.seqs.count ?? 0 }
    public func countThere(_ part: Part) -> Int { there[part]?.count ?? 0 }

    /// The server has something where the two differ: only its samples tell what.
    public var wantsSamples: Bool { differing.contains { countThere($0) > 0 && !foreign.contains($0) } }

    /// Parts of which nothing is here on this day, with the seqs that the server has.
    public var onlyThere: [(part: Part, seqs: ClosedRange<UInt32>)] {
        differing.compactMap { part in
            guard here[part] == nil, let range = there[part], range.minSeq <= range.maxSeq else { return nil }
            return (part, range.minSeq...range.maxSeq)
        }
    }

    public mutating func isForeign(_ part: Part) { foreign.insert(part) }

    // MARK: samples

    /// Samples of this day, as the server has them.
    public mutating func saw(_ samples: [StoredSample]) {
        for stored in samples where stored.sample.recordedAt.dayNumber == day {
            seen[Part(ring: stored.ring, type: stored.sample.type), default: []].insert(stored.sample.seq)
        }
    }

    public mutating func couldNotRead() { isUnreadable = true }

    /// Confirmed here, and not there on this day.
    public func absent(_ part: Part) -> Here {
        guard let here = here[part] else { return Here() }
        if isUnreadable { return countThere(part) < here.seqs.count ? here : Here() }
        let seen = seen[part] ?? []
        let kept = here.seqs.indices.filter { !seen.contains(here.seqs[$0]) }
        return Here(seqs: kept.map { here.seqs[$0] }, times: kept.map { here.times[$0] })
    }

    /// There on this day, and not confirmed here on it.
    public func strangers(_ part: Part) -> [UInt32] {
        let known = Set(here[part]?.seqs ?? [])
        return (seen[part] ?? []).subtracting(known).sorted()
    }
}

extension Array where Element == DayRange {
    /// Days other than this one on which the server says that it may have one of these: a sample whose time was corrected
    /// is on another day than here. At most `limit`.
    public func otherDays(
        holding seqs: [UInt32], of part: DayReconciliation.Part, not day: Int64, limit: Int = 8
    ) -> [Int64] {
        var days: [Int64] = []
        for range in self where range.ring == part.ring && range.type == part.type {
            guard let number = range.dayNumber, number != day, range.minSeq <= range.maxSeq else { continue }
            let first = seqs.partitioning { $0 >= range.minSeq }
            if first < seqs.count, seqs[first] <= range.maxSeq { days.append(number) }
        }
        // The nearest are the likeliest.
        return Array<Int64>(days.sorted { abs($0 - day) < abs($1 - day) }.prefix(limit))
    }
}

extension DayRange {
    /// Since 1970-01-01; nil for a day that is none.
    public var dayNumber: Int64? { APITime(day + "T00:00:00Z")?.dayNumber }
}

extension Array {
    /// The first index at which a condition holds that holds for all that follows, too.
    fileprivate func partitioning(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
