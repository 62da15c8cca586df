/// A part of a civil day during which the offset stays the same.
public struct CivilStretch: Hashable, Sendable {
    /// Milliseconds since 1970 UTC.
    public var range: Range<Int64>
    public var offsetMinutes: Int

    public init(range: Range<Int64>, offsetMinutes: Int) {
        self.range = range
        self.offsetMinutes = offsetMinutes
    }
}

/// An hour of a civil day as the zone's clocks show it. One that they show twice is two, told apart by the offset.
public struct CivilHour: Hashable, Sendable {
    /// 0 to 23.
    public var hour: Int
    public var offsetMinutes: Int
    /// The first instant that shows this hour with this offset, in milliseconds since 1970 UTC. Not always the full
    /// hour: Lord Howe Island moves its clocks by 30 minutes.
    public var start: Int64

    public init(hour: Int, offsetMinutes: Int, start: Int64) {
        self.hour = hour
        self.offsetMinutes = offsetMinutes
        self.start = start
    }
}

extension ZoneRules {
    /// The instants that fall on a civil date, in order; empty when the zone skipped it.
    public func stretches(of date: CivilDate) -> [CivilStretch] {
        // No offset reaches a day, so what is two days off can't be this date.
        let reach = 2 * millisecondsPerDay
        let earliest = date.midnight(offsetMinutes: 0) - reach
        let latest = date.midnight(offsetMinutes: 0) + reach
        var result: [CivilStretch] = []
        var index = firstTransition(after: earliest)
        var from = earliest
        while from < latest {
            let offset = offset(before: index)
            let to = index < transitions.count ? min(transitions[index].at, latest) : latest
            let midnight = date.midnight(offsetMinutes: offset)
            let start = max(from, midnight)
            let end = min(to, midnight + millisecondsPerDay)
            if start < end { result.append(CivilStretch(range: start..<end, offsetMinutes: offset)) }
            from = to
            index += 1
        }
        return result
    }

    /// The first instant of a date, in milliseconds since 1970 UTC; nil when the zone skipped it.
    public func start(of date: CivilDate) -> Int64? {
        stretches(of: date).first?.range.lowerBound
    }

    /// How long a date is; 0 when the zone skipped it.
    public func minutes(in date: CivilDate) -> Int {
        let milliseconds = stretches(of: date).reduce(0) { $0 + $1.range.upperBound - $1.range.lowerBound }
        return Int(milliseconds / 60_000)
    }

    /// The hours that clocks show on a date, in order of time.
    public func hours(of date: CivilDate) -> [CivilHour] {
        var result: [CivilHour] = []
        for stretch in stretches(of: date) {
            let midnight = date.midnight(offsetMinutes: stretch.offsetMinutes)
            var from = stretch.range.lowerBound
            while from < stretch.range.upperBound {
                let hour = Int((from - midnight) / millisecondsPerHour)
                let known = result.contains { $0.hour == hour && $0.offsetMinutes == stretch.offsetMinutes }
                if !known {
                    result.append(CivilHour(hour: hour, offsetMinutes: stretch.offsetMinutes, start: from))
                }
                from = midnight + Int64(hour + 1) * millisecondsPerHour
            }
        }
        return result
    }
}
