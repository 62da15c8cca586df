import CivilTime
import IngestAPI

/// One civil day of one type of one subject (a band, a person on a band, or a person): what a store keeps of it, and
/// what buckets are made of.
///
/// It is recomputed from samples, never added to. Nothing in it depends on the zone asked for, except through samples
/// that do not know their own offset.
public struct TrendDay: Hashable, Sendable {
    public var type: APISampleType
    public var date: CivilDate
    /// Of sleep: the sleeps that end on this day, wherever their hours are.
    public var figures: TrendFigures
    /// Samples of this day without an offset of their own: with them, another zone may give another day.
    public var withoutOffset: Int
    /// In order of (hour, offset); only hours in which there is something.
    public var hours: [TrendHour]

    public init(
        type: APISampleType, date: CivilDate, figures: TrendFigures = TrendFigures(), withoutOffset: Int = 0,
        hours: [TrendHour] = []
    ) {
        self.type = type
        self.date = date
        self.figures = figures
        self.withoutOffset = withoutOffset
        self.hours = hours
    }
}

/// One hour of a civil day. An hour that is lived twice, with two offsets, is two.
public struct TrendHour: Hashable, Sendable {
    /// 0 to 23.
    public var hour: Int
    public var offsetMinutes: Int
    /// The first and the last thing in it: a sample, or a stage of sleep that goes on into this hour. Milliseconds
    /// since 1970 UTC.
    public var first: Int64
    public var last: Int64
    public var figures: TrendFigures

    public init(hour: Int, offsetMinutes: Int, first: Int64, last: Int64, figures: TrendFigures) {
        self.hour = hour
        self.offsetMinutes = offsetMinutes
        self.first = first
        self.last = last
        self.figures = figures
    }
}

extension TrendHour {
    var key: HourKey { HourKey(hour: hour, offsetMinutes: offsetMinutes) }
}

/// What tells the hours of a day apart.
struct HourKey: Hashable, Comparable {
    var hour: Int
    var offsetMinutes: Int

    static func < (left: Self, right: Self) -> Bool {
        (left.hour, left.offsetMinutes) < (right.hour, right.offsetMinutes)
    }
}
