import IngestAPI

/// Tells samples that have expired at the server from samples that it never got, or lost.
///
/// The server counts every key that it ever took, expired ones included, and its ranges show only what is still there:
/// the difference is what has expired. What is older than everything that it shows has expired when the difference
/// covers it. When it covers only a part of it, nobody can tell which part, and all of it is sent again: what has expired
/// counts as a duplicate then.
public struct ExpiryJudge: Sendable {
    public enum Verdict: Equatable, Sendable {
        case expired
        case missing
        /// Some of it is missing; which, can't be told.
        case unclear
    }

    private var expired: [APISampleType: Int]
    private var older: [APISampleType: Int] = [:]
    /// The first day of which the server shows anything; nil = of none.
    public let firstDay: Int64?
    /// When the first sample was recorded that it shows, ms: a day may have expired in part.
    private var firstTime: Int64?

    /// `counts` must have been read before the ranges: what came in between then makes nothing look expired.
    public init(counts: [String: Int], ranges: [DayRange]) {
        firstDay = ranges.compactMap(\.dayNumber).min()
        firstTime = firstDay.map { $0 * 86_400_000 }
        expired = Dictionary(
            uniqueKeysWithValues: APISampleType.allCases.map { type in
                let shown = ranges.reduce(0) { $0 + ($1.type == type ? $1.count : 0) }
                // Whatever the server says: no number of it may end the gateway.
                let counted = max(0, min(counts[type.rawValue] ?? 0, 1 << 53))
                return (type, max(0, counted - shown))
            })
    }

    /// Nothing has expired: what is not there is missing, and need not be counted.
    public var isNothingExpired: Bool { expired.values.allSatisfy { $0 == 0 } }

    /// The first page of the first day.
    public mutating func saw(_ samples: [StoredSample]) {
        guard let firstDay else { return }
        let times = samples.map(\.sample.recordedAt).filter { $0.dayNumber == firstDay }
        if let first = times.min() { firstTime = first.milliseconds }
    }

    /// Some of this day may be older than all that the server shows.
    public func mayBeOlder(day: Int64) -> Bool { firstDay.map { day <= $0 } ?? true }

    /// All that the server shows is younger.
    public func isOlder(_ time: Int64) -> Bool { firstTime.map { time < $0 } ?? true }

    /// Confirmed here at these times, ms: of every day that may be older, whether it is compared or not.
    public mutating func count(_ type: APISampleType, _ times: [Int64]) {
        older[type, default: 0] += times.count { isOlder($0) }
    }

    public func verdict(_ type: APISampleType) -> Verdict {
        let gone = expired[type] ?? 0
        if gone == 0 { return .missing }
        return older[type, default: 0] <= gone ? .expired : .unclear
    }
}
