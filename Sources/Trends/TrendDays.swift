import CivilTime
import IngestAPI

/// Raw samples to civil days.
public enum TrendDays {
    /// The days of one type of one subject on one band.
    ///
    /// `samples` are in order of (`recorded_at`, ring, seq); those that trends leave out are not among them. `gaps` are
    /// the band's, in any order; only sleep looks at them. `zone` decides for samples without an offset of their own; without
    /// a zone they count as UTC. A day of sleep is whole only if its sleeps are: see `SleepLookback`.
    public static func compute(
        type: APISampleType, samples: [TrendSample], gaps: [TrendGap] = [], zone: ZoneRules? = nil
    ) -> [CivilDate: TrendDay] {
        [:]
    }
}

extension TrendDay {
    /// One person's day from that of each band that the person wore, by device id. Nil when there is none.
    ///
    /// The days are of the same type and date.
    public static func merged(_ days: [String: TrendDay]) -> TrendDay? {
        nil
    }
}

/// Civil days to the buckets of an answer.
public enum TrendBuckets {
    /// Every day from `from` to `to`, both inclusive, or every hour of them, in order of time.
    ///
    /// `days` may hold more than is asked for; other days are not looked at. With a `zone`, days that it skipped and
    /// nobody lived are left out.
    public static func make(
        type: APISampleType, days: [CivilDate: TrendDay], from: CivilDate, to: CivilDate,
        bucket: AggregateBucketSize, zone: ZoneRules? = nil
    ) -> [AggregateBucket] {
        []
    }
}
