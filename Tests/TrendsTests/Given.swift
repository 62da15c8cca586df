import CivilTime
import IngestAPI
import Testing
import Trends

/// `2026-10-27T05:31:00Z` in milliseconds since 1970.
func at(_ text: String) -> Int64 {
    guard let time = APITime(text) else {
        Issue.record("\(text) is no time")
        return 0
    }
    return time.milliseconds
}

func date(_ text: String) -> CivilDate {
    guard let date = CivilDate(text) else {
        Issue.record("\(text) is no date")
        return CivilDate(days: 0)
    }
    return date
}

/// A sample at a local time: `2026-10-27T07:00:00+05:30`. The offset of the text is the sample's own.
func sample(_ text: String, _ value: Int) -> TrendSample {
    let sign = text.suffix(6).first == "-" ? -1 : 1
    let digits = text.suffix(5).split(separator: ":").compactMap { Int($0) }
    let offset = text.last == "Z" ? 0 : sign * (digits[0] * 60 + digits[1])
    return TrendSample(recordedAt: at(text), offsetMinutes: offset, value: value)
}

func sample(_ text: String, _ stage: SleepStage) -> TrendSample { sample(text, stage.rawValue) }

/// The same without an offset of its own.
func placeless(_ text: String, _ value: Int) -> TrendSample {
    TrendSample(recordedAt: at(text), offsetMinutes: nil, value: value)
}

/// Every bucket of an answer, from raw samples.
func buckets(
    _ type: APISampleType, _ samples: [TrendSample], gaps: [TrendGap] = [], from: String, to: String,
    by bucket: AggregateBucketSize = .day, zone: ZoneRules? = nil
) -> [AggregateBucket] {
    TrendBuckets.make(
        type: type, days: TrendDays.compute(type: type, samples: samples, gaps: gaps, zone: zone),
        from: date(from), to: date(to), bucket: bucket, zone: zone)
}

/// The one day of an answer.
func day(
    _ type: APISampleType, _ samples: [TrendSample], gaps: [TrendGap] = [], on text: String,
    zone: ZoneRules? = nil
) throws -> AggregateBucket {
    try #require(buckets(type, samples, gaps: gaps, from: text, to: text, zone: zone).first)
}

enum Zone {
    static let kolkata = ZoneRules(name: "Asia/Kolkata", initialOffsetMinutes: 330)
    /// Of 2026.
    static let london = ZoneRules(
        name: "Europe/London", initialOffsetMinutes: 0,
        transitions: [
            .init(at: 1_774_746_000_000, offsetMinutes: 60), .init(at: 1_792_890_000_000, offsetMinutes: 0),
        ])
    /// 2011-12-30 never came.
    static let apia = ZoneRules(
        name: "Pacific/Apia", initialOffsetMinutes: -600,
        transitions: [.init(at: 1_325_239_200_000, offsetMinutes: 840)])
}

extension AggregateBucket {
    /// `awake light deep rem out_of_bed`.
    var stages: String? {
        minutes.map { "\($0.awake) \($0.light) \($0.deep) \($0.rem) \($0.outOfBed)" }
    }
}
