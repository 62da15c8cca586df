import CivilTime
import IngestAPI

/// Where a sample counts among the daily trends.
struct TrendPlace: Equatable {
    let type: APISampleType
    let recordedAt: APITime
    let tzOffsetMinutes: Int?
    let person: Int64?

    /// Nil for what trends leave out: a time that can't be trusted, and a heart rate of a band that was not
    /// worn (flag bit 0 clear).
    init?(
        _ type: APISampleType, recordedAt: APITime, tzOffsetMinutes: Int?, person: Int64?, flags: Int,
        uncertain: Bool
    ) {
        guard !uncertain, type != .heartRate || flags & 1 == 1 else { return nil }
        self.type = type
        self.recordedAt = recordedAt
        self.tzOffsetMinutes = tzOffsetMinutes
        self.person = person
    }

    init?(_ sample: APISample, person: Int64?) {
        self.init(
            sample.type, recordedAt: sample.recordedAt, tzOffsetMinutes: sample.tzOffsetMinutes,
            person: person, flags: Int(sample.flags), uncertain: sample.timeUncertain)
    }

    /// By the sample's own offset, else in UTC.
    var day: CivilDate {
        CivilDate(milliseconds: recordedAt.milliseconds, offsetMinutes: tzOffsetMinutes ?? 0)
    }
}
