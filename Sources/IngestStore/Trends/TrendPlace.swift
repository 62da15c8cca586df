import CivilTime
import IngestAPI

/// Where a sample counts among the daily trends.
struct TrendPlace: Equatable {
    let type: APISampleType
    let recordedAt: APITime
    let tzOffsetMinutes: Int?
    let person: OpaqueID?

    /// Nil for what trends leave out: a time that can't be trusted, and a heart rate of a band that was not
    /// worn (flag bit 0 clear).
    init?(_ sample: APISample) {
        guard !sample.timeUncertain, sample.type != .heartRate || sample.flags & 1 == 1 else { return nil }
        type = sample.type
        recordedAt = sample.recordedAt
        tzOffsetMinutes = sample.tzOffsetMinutes
        if case .assigned(let person) = sample.person { self.person = person } else { person = nil }
    }

    /// By the sample's own offset, else in UTC.
    var day: CivilDate {
        CivilDate(milliseconds: recordedAt.milliseconds, offsetMinutes: tzOffsetMinutes ?? 0)
    }
}
