import IngestAPI

/// Where the server is looked at for samples of which another gateway may have said something else: first around the times
/// that are known here; for what is not found there, on the days on which the server says it has these seqs.
public struct ComparisonPlan: Equatable, Sendable {
    /// A sample of the ring, and when it was recorded as far as it is known here, ms.
    public struct Moment: Equatable, Sendable {
        public var seq: UInt32
        public var time: Int64
        /// Nil = not known.
        public var bound: Int64?

        public init(seq: UInt32, time: Int64, bound: Int64?) {
            self.seq = seq
            self.time = time
            self.bound = bound
        }
    }

    /// A stretch of time to be read, at most so many pages of it.
    public struct Window: Equatable, Sendable {
        /// Inclusive.
        public var from: APITime
        /// Exclusive.
        public var to: APITime
        public var pages: Int

        /// All of a UTC day since 1970-01-01, however many pages.
        public init(day: Int64) {
            let (start, isTooFar) = day.multipliedReportingOverflow(by: ComparisonPlan.day)
            let begin = isTooFar ? (day < 0 ? .min / 2 : .max / 2) : start
            from = APITime(milliseconds: begin)
            to = APITime(milliseconds: begin + ComparisonPlan.day)
            pages = .max
        }

        init(_ range: Range<Int64>) {
            from = APITime(milliseconds: range.lowerBound)
            to = APITime(milliseconds: range.upperBound)
            pages = 10 + 8 * Int(min(14, (range.upperBound - range.lowerBound) / ComparisonPlan.day))
        }
    }

    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour
    private static let windowLimit = 64

    public let ring: String
    /// Still to be read, in this order.
    public private(set) var windows: [Window] = []
    /// Seqs that no page held yet.
    private var missing: Set<UInt32>
    private var read: [Range<Int64>] = []
    private var isRangeListUsed = false

    /// What beats a sample here has no larger bound than it, unless its version is higher: both bounds around its time
    /// hold it, and an hour more costs little.
    public init(ring: String, _ moments: [Moment]) {
        self.ring = ring
        missing = Set(moments.map(\.seq))
        let reaches = moments.map { moment in
            let reach = 2 * min(moment.bound ?? 0, Self.day) + Self.hour
            return moment.time - reach..<moment.time + reach + 1
        }.sorted { $0.lowerBound < $1.lowerBound }
        var ranges: [Range<Int64>] = []
        for reach in reaches {
            // Times that lie apart by more than a day are read apart.
            if let last = ranges.indices.last, reach.lowerBound - ranges[last].upperBound <= Self.day {
                ranges[last] = ranges[last].lowerBound..<max(ranges[last].upperBound, reach.upperBound)
            } else {
                ranges.append(reach)
            }
        }
        take(ranges)
    }

    /// All that can be read around the known times was read, and something was not there.
    public var wantsRanges: Bool { windows.isEmpty && !missing.isEmpty && !isRangeListUsed }

    /// What the server has on which day; `GET /v1/devices/{device_id}/ranges`.
    public mutating func take(_ list: [DayRange]) {
        isRangeListUsed = true
        let sought = missing.sorted()
        var days: [String: Int64] = [:]
        for range in list where range.ring == ring && range.minSeq <= range.maxSeq {
            guard let first = sought.first(where: { $0 >= range.minSeq }), first <= range.maxSeq,
                let start = APITime(range.day + "T00:00:00Z")
            else { continue }
            days[range.day] = start.milliseconds
        }
        take(
            days.values.sorted().map { $0..<$0 + Self.day }.filter { day in
                !read.contains { $0.lowerBound <= day.lowerBound && $0.upperBound >= day.upperBound }
            })
    }

    /// A page of the first window came. `isLast`: the window has no more.
    public mutating func saw(_ samples: [StoredSample], isLast: Bool) {
        for stored in samples where stored.ring == ring { missing.remove(stored.sample.seq) }
        guard !windows.isEmpty else { return }
        windows[0].pages -= 1
        if isLast || windows[0].pages <= 0 { windows.removeFirst() }
    }

    private mutating func take(_ ranges: [Range<Int64>]) {
        let ranges = ranges.prefix(Self.windowLimit)
        read += ranges
        windows += ranges.map { Window($0) }
    }
}
