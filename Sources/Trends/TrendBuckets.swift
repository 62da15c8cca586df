import CivilTime
import IngestAPI

/// Civil days to the buckets of an answer.
public enum TrendBuckets {
    /// Every day from `from` to `to`, both inclusive, or every hour of them, in order of time.
    ///
    /// `days` may hold more than is asked for; other days are not looked at. With a `zone`, days that it skipped and
    /// nobody lived are left out. Without one, a day with nothing has the last offset known before it in the answer,
    /// else the first after it, else 0.
    public static func make(
        type: APISampleType, days: [CivilDate: TrendDay], from: CivilDate, to: CivilDate,
        bucket: AggregateBucketSize, zone: ZoneRules? = nil
    ) -> [AggregateBucket] {
        guard from <= to else { return [] }
        var offset = (from...to).lazy.compactMap { days[$0]?.firstOffsetMinutes }.first ?? 0
        var buckets: [AggregateBucket] = []
        for date in from...to {
            let day = days[date]
            let frame =
                if let zone {
                    DayFrame.of(date, in: zone, day: day)
                } else {
                    DayFrame(date, day: day, otherwise: offset)
                }
            offset = day?.lastOffsetMinutes ?? offset
            guard let frame else { continue }
            switch bucket {
            case .day: buckets.append(dayBucket(type, frame, day?.figures ?? TrendFigures()))
            case .hour: buckets += hourBuckets(type, frame, day)
            }
        }
        return buckets
    }

    private static func dayBucket(
        _ type: APISampleType, _ frame: DayFrame, _ figures: TrendFigures
    ) -> AggregateBucket {
        var bucket = AggregateBucket(
            localDate: frame.date, start: APITime(milliseconds: frame.start),
            offsetMinutes: frame.offsetMinutes,
            minutesInDay: frame.minutes, count: figures.count)
        bucket.fill(type, figures)
        return bucket
    }

    private static func hourBuckets(
        _ type: APISampleType, _ frame: DayFrame, _ day: TrendDay?
    ) -> [AggregateBucket] {
        frame.hours(of: day).map { hour, figures in
            var bucket = AggregateBucket(
                localDate: frame.date, localHour: hour.hour, start: APITime(milliseconds: hour.start),
                offsetMinutes: hour.offsetMinutes, minutesInDay: frame.minutes, count: figures.count)
            bucket.fill(type, figures)
            return bucket
        }
    }
}

extension AggregateBucket {
    /// The only place where anything is rounded.
    fileprivate mutating func fill(_ type: APISampleType, _ figures: TrendFigures) {
        switch type {
        case .heartRate, .spo2:
            guard figures.count > 0 else { return }
            min = figures.min
            mean = Tenths(figures.sum, over: Int64(figures.count))
            max = figures.max
            resting = figures.resting.map { Tenths($0.sum, over: Int64($0.count)) }
        case .steps:
            sum = Int(figures.sum)
        case .sleepStage:
            let stages = figures.stages
            func minutes(_ milliseconds: Int64) -> Tenths { Tenths(milliseconds, over: 60_000) }
            self.minutes = SleepMinutes(
                awake: minutes(stages.awake), light: minutes(stages.light), deep: minutes(stages.deep),
                rem: minutes(stages.rem), outOfBed: minutes(stages.outOfBed))
        }
    }
}
