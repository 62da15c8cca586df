import IngestAPI

extension TrendsText {
    /// As `GET /v1/aggregates` answers; `subject` stands before it, to tell one list from another.
    public static func json(_ list: AggregateList, subject: [(String, JSONText)] = []) -> JSONText {
        .object(
            subject + [
                ("type", .string(list.type.rawValue)), ("bucket", .string(list.bucket.rawValue)),
                ("buckets", .array(list.buckets.map(json))),
            ])
    }

    private static func json(_ bucket: AggregateBucket) -> JSONText {
        let members: [(String, JSONText?)] = [
            ("local_date", .string(bucket.localDate.description)),
            ("local_hour", bucket.localHour.map { .number($0) }),
            ("start", .string(bucket.start.description)), ("offset_min", .number(bucket.offsetMinutes)),
            ("minutes_in_day", .number(bucket.minutesInDay)), ("count", .number(bucket.count)),
            ("min", bucket.min.map { .number($0) }), ("mean", bucket.mean.map { .tenths($0.tenths) }),
            ("max", bucket.max.map { .number($0) }), ("resting", bucket.resting.map { .tenths($0.tenths) }),
            ("sum", bucket.sum.map { .number($0) }), ("minutes", bucket.minutes.map(json)),
        ]
        return .object(members.compactMap { name, value in value.map { (name, $0) } })
    }

    private static func json(_ minutes: SleepMinutes) -> JSONText {
        .object([
            ("awake", .tenths(minutes.awake.tenths)), ("light", .tenths(minutes.light.tenths)),
            ("deep", .tenths(minutes.deep.tenths)), ("rem", .tenths(minutes.rem.tenths)),
            ("out_of_bed", .tenths(minutes.outOfBed.tenths)),
        ])
    }
}
