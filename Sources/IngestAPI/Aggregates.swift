import CivilTime

/// The answer to `GET /v1/aggregates`.
public struct AggregateList: Codable, Equatable, Sendable {
    public var type: APISampleType
    public var bucket: AggregateBucketSize
    /// In order of time; days and hours without a sample are among them.
    public var buckets: [AggregateBucket]

    public init(type: APISampleType, bucket: AggregateBucketSize, buckets: [AggregateBucket]) {
        self.type = type
        self.bucket = bucket
        self.buckets = buckets
    }
}

public enum AggregateBucketSize: String, Codable, CaseIterable, Sendable {
    case day
    case hour
}

/// What the samples of one type come to on a civil day, or in one hour of it.
public struct AggregateBucket: Codable, Equatable, Sendable {
    public var localDate: CivilDate
    /// 0 to 23; nil in a bucket of a day.
    public var localHour: Int?
    /// The first moment of the day or the hour.
    public var start: APITime
    /// The UTC offset in force at `start`.
    public var offsetMinutes: Int
    /// How long the civil day is, also in a bucket of one of its hours.
    public var minutesInDay: Int
    public var count: Int

    /// Heart rate and SpO2, in the type's fixed unit; nil when `count` is 0.
    public var min: Int?
    public var mean: Tenths?
    public var max: Int?
    /// Heart rate: the lowest mean over 30 minutes with at least 10 samples.
    public var resting: Tenths?
    /// Steps.
    public var sum: Int?
    /// Sleep.
    public var minutes: SleepMinutes?
    /// True = samples of the day may have expired: the figures stay as they were. Else absent.
    public var isFrozen: Bool?

    public init(
        localDate: CivilDate, localHour: Int? = nil, start: APITime, offsetMinutes: Int, minutesInDay: Int,
        count: Int, min: Int? = nil, mean: Tenths? = nil, max: Int? = nil, resting: Tenths? = nil,
        sum: Int? = nil, minutes: SleepMinutes? = nil
    ) {
        self.localDate = localDate
        self.localHour = localHour
        self.start = start
        self.offsetMinutes = offsetMinutes
        self.minutesInDay = minutesInDay
        self.count = count
        self.min = min
        self.mean = mean
        self.max = max
        self.resting = resting
        self.sum = sum
        self.minutes = minutes
    }

    enum CodingKeys: String, CodingKey {
        case start, count, min, mean, max, resting, sum, minutes
        case localDate = "local_date"
        case localHour = "local_hour"
        case offsetMinutes = "offset_min"
        case minutesInDay = "minutes_in_day"
        case isFrozen = "frozen"
    }
}

/// Minutes per sleep stage.
public struct SleepMinutes: Codable, Equatable, Sendable {
    public var awake: Tenths
    public var light: Tenths
    public var deep: Tenths
    public var rem: Tenths
    public var outOfBed: Tenths

    public init(awake: Tenths, light: Tenths, deep: Tenths, rem: Tenths, outOfBed: Tenths) {
        self.awake = awake
        self.light = light
        self.deep = deep
        self.rem = rem
        self.outOfBed = outOfBed
    }

    enum CodingKeys: String, CodingKey {
        case awake, light, deep, rem
        case outOfBed = "out_of_bed"
    }
}
