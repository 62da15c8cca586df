import CivilTime
import IngestAPI
import Trends

/// The rules said once more, slowly: everything looks at every minute or every sample, and local time is text.
struct NaiveModel {
    var zone: ZoneRules?

    /// `2026-10-27` and `05` of an instant on a clock.
    static func clock(_ milliseconds: Int64, _ offset: Int) -> (date: String, hour: String) {
        let text = APITime(milliseconds: milliseconds + Int64(offset) * 60_000).description
        return (String(text.prefix(10)), String(text.dropFirst(11).prefix(2)))
    }

    static func hourKey(_ milliseconds: Int64, _ offset: Int) -> String {
        let clock = clock(milliseconds, offset)
        return "\(clock.date) \(clock.hour) \(offset)"
    }

    func zoneOffset(_ milliseconds: Int64) -> Int {
        var offset = zone?.initialOffsetMinutes ?? 0
        for transition in zone?.transitions ?? [] where transition.at <= milliseconds {
            offset = transition.offsetMinutes
        }
        return offset
    }

    func offset(_ sample: TrendSample) -> Int { sample.offsetMinutes ?? zoneOffset(sample.recordedAt) }

    // MARK: values

    func days(_ samples: [TrendSample]) -> [String: [TrendSample]] {
        Dictionary(grouping: samples) { Self.clock($0.recordedAt, offset($0)).date }
    }

    func hours(_ samples: [TrendSample]) -> [String: [TrendSample]] {
        Dictionary(grouping: samples) { Self.hourKey($0.recordedAt, offset($0)) }
    }

    static func mean(_ values: [Int]) -> String? {
        guard !values.isEmpty else { return nil }
        let tenths = Int((Double(values.reduce(0, +) * 10) / Double(values.count)).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// The lowest mean, not rounded.
    static func resting(_ samples: [TrendSample]) -> Double? {
        samples.compactMap { first in
            let window = samples.filter {
                $0.recordedAt >= first.recordedAt && $0.recordedAt < first.recordedAt + 1_800_000
            }
            guard window.count >= 10 else { return nil }
            return Double(window.reduce(0) { $0 + $1.value }) / Double(window.count)
        }.min()
    }

    // MARK: days of the zone, or of the samples

    /// Date -> when it begins, with which offset, and how many minutes it has; hour -> when it begins.
    func zoneDays() -> (days: [String: (start: Int64, offset: Int, minutes: Int)], hours: [String: Int64]) {
        var days: [String: (start: Int64, offset: Int, minutes: Int)] = [:]
        var hours: [String: Int64] = [:]
        for minute in Int64(-4 * 1440)..<Int64((RandomLife.days + 4) * 1440) {
            let at = RandomLife.start + minute * RandomLife.minute
            let offset = zoneOffset(at)
            let date = Self.clock(at, offset).date
            days[date] = days[date].map { ($0.start, $0.offset, $0.minutes + 1) } ?? (at, offset, 1)
            let hour = Self.hourKey(at, offset)
            hours[hour] = min(hours[hour] ?? at, at)
        }
        return (days, hours)
    }
}
