import CivilTime
import IngestAPI

extension TrendDay {
    /// Hours in order of what happened first in them.
    private var hoursByTime: [TrendHour] {
        hours.sorted { ($0.first, $0.last, $0.hour) < ($1.first, $1.last, $1.hour) }
    }

    /// The offset of the day's first sample; nil when nothing happened on it.
    var firstOffsetMinutes: Int? { hoursByTime.first?.offsetMinutes }

    /// The offset of the day's last sample.
    var lastOffsetMinutes: Int? {
        hours.max { ($0.last, $0.first, $0.hour) < ($1.last, $1.first, $1.hour) }?.offsetMinutes
    }

    /// How this day went by the wearer's own offsets, as if the places together were one zone. Good for this day only.
    ///
    /// A change of the offset is taken to be at the beginning of the first hour that is lived with the new one, where
    /// nothing speaks against it, and at the old offset's midnight at the latest.
    func livedRules(otherwise offsetMinutes: Int) -> ZoneRules {
        let hours = hoursByTime
        var transitions: [ZoneRules.Transition] = []
        for (hour, next) in zip(hours, hours.dropFirst()) where hour.offsetMinutes != next.offsetMinutes {
            let fullHour =
                date.midnight(offsetMinutes: next.offsetMinutes) + Int64(next.hour) * millisecondsPerHour
            let change = fullHour > hour.last ? fullHour : next.first
            let midnight = date.midnight(offsetMinutes: hour.offsetMinutes) + millisecondsPerDay
            transitions.append(
                ZoneRules.Transition(at: min(change, midnight), offsetMinutes: next.offsetMinutes))
        }
        return ZoneRules(
            name: "", initialOffsetMinutes: hours.first?.offsetMinutes ?? offsetMinutes,
            transitions: transitions)
    }
}
