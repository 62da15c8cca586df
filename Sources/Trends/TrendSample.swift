import IngestAPI

/// What a trend needs of a sample that counts. Its type and its subject (a band, or a person on a band) are the caller's.
public struct TrendSample: Hashable, Sendable {
    /// Milliseconds since 1970 UTC, within the years that the API can write.
    public let recordedAt: Int64
    /// The wearer's own UTC offset; nil = not known, the zone that was asked for decides.
    public let offsetMinutes: Int?
    /// In the type's fixed unit.
    public let value: Int

    public init(recordedAt: Int64, offsetMinutes: Int?, value: Int) {
        self.recordedAt = APITime(milliseconds: recordedAt).milliseconds
        self.offsetMinutes = offsetMinutes
        self.value = value
    }

    /// Nil for a sample that trends leave out: its time can't be trusted, or a heart rate that was not measured on a
    /// wrist (flag bit 0 clear).
    public init?(
        type: APISampleType, recordedAt: Int64, offsetMinutes: Int?, value: Int, flags: UInt8,
        timeUncertain: Bool
    ) {
        guard !timeUncertain, type.validValues.contains(value) else { return nil }
        if type == .heartRate, flags & 1 == 0 { return nil }
        self.init(recordedAt: recordedAt, offsetMinutes: offsetMinutes, value: value)
    }

    public init?(_ sample: APISample) {
        self.init(
            type: sample.type, recordedAt: sample.recordedAt.milliseconds,
            offsetMinutes: sample.tzOffsetMinutes,
            value: sample.value, flags: sample.flags, timeUncertain: sample.timeUncertain)
    }
}

/// Where records of a band are missing for good; it ends the sleep stage before it.
public struct TrendGap: Hashable, Sendable {
    /// The time of the last record before it, milliseconds since 1970 UTC.
    public var after: Int64
    public var before: Int64

    public init(after: Int64, before: Int64) {
        self.after = after
        self.before = before
    }

    /// Nil for a gap that has healed, and for one whose times are not known.
    public init?(_ gap: APIGap) {
        guard gap.healedAt == nil, let after = gap.after, let before = gap.before else { return nil }
        self.init(after: after.milliseconds, before: before.milliseconds)
    }
}
