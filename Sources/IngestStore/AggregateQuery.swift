import CivilTime
import IngestAPI

/// What `GET /v1/aggregates` asks for.
public struct AggregateQuery: Equatable, Sendable {
    public var subject: SampleQuery.Subject
    public var type: APISampleType
    public var bucket: AggregateBucketSize
    /// Local dates, both ends included; within `longest(bucket)`.
    public var dates: ClosedRange<CivilDate>
    /// Decides for samples without an offset of their own; nil = UTC does.
    public var zone: ZoneRules?

    public init(
        subject: SampleQuery.Subject, type: APISampleType, bucket: AggregateBucketSize,
        dates: ClosedRange<CivilDate>, zone: ZoneRules? = nil
    ) {
        self.subject = subject
        self.type = type
        self.bucket = bucket
        self.dates = dates
        self.zone = zone
    }

    /// Buckets of its answer at most. A day has more than 24 hours where a zone goes back.
    public var mostBuckets: Int {
        (dates.lowerBound.distance(to: dates.upperBound) + 1) * (bucket == .day ? 1 : 30)
    }

    /// Days that one answer covers at most: a year to compare with the last, or a month of hours.
    public static func longest(_ bucket: AggregateBucketSize) -> Int { bucket == .day ? 400 : 31 }
}
