import CivilTime

/// A civil day before anything is in it: when it begins, how long it is, which hours it has.
struct DayFrame {
    var date: CivilDate
    /// Milliseconds since 1970 UTC.
    var start: Int64
    var offsetMinutes: Int
    var minutes: Int
    /// The zone, or what the samples say of it.
    private var rules: ZoneRules

    /// A zone decides; nil when it skipped the day and nothing happened on it.
    static func of(_ date: CivilDate, in zone: ZoneRules, day: TrendDay?) -> DayFrame? {
        if let start = zone.start(of: date) { return DayFrame(date, start: start, zone: zone) }
        guard let day, !day.figures.isEmpty || !day.hours.isEmpty else { return nil }
        return DayFrame(
            date, day: day, otherwise: zone.offsetMinutes(at: date.midnight(offsetMinutes: 0)))
    }

    private init(_ date: CivilDate, start: Int64, zone: ZoneRules) {
        self.date = date
        self.start = start
        offsetMinutes = zone.offsetMinutes(at: start)
        minutes = zone.minutes(in: date)
        rules = zone
    }

    /// The day's own samples decide; for a day without any it is the offset `otherwise`.
    init(_ date: CivilDate, day: TrendDay?, otherwise: Int) {
        let first = day?.firstOffsetMinutes ?? otherwise
        let last = day?.lastOffsetMinutes ?? otherwise
        self.date = date
        start = date.midnight(offsetMinutes: first)
        offsetMinutes = first
        minutes = 1440 - (last - first)
        rules = day?.livedRules(otherwise: otherwise) ?? ZoneRules(name: "", initialOffsetMinutes: otherwise)
    }

    /// The hours of the day with what is in them, in order of time.
    ///
    /// Hours with nothing are among them. An hour that was lived elsewhere, with an offset that the zone does not have in
    /// this hour, stands in place of the zone's own hour when there is nothing in that.
    func hours(of day: TrendDay?) -> [(hour: CivilHour, figures: TrendFigures)] {
        var lived: [HourKey: TrendFigures] = [:]
        for hour in day?.hours ?? [] { lived[hour.key] = hour.figures }
        let own = rules.hours(of: date)
        let ownKeys = Set(own.map { HourKey(hour: $0.hour, offsetMinutes: $0.offsetMinutes) })
        let elsewhere = lived.keys.filter { !ownKeys.contains($0) }
        let livedElsewhere = Set(elsewhere.map(\.hour))
        var result: [(hour: CivilHour, figures: TrendFigures)] = []
        for hour in own {
            let figures = lived[HourKey(hour: hour.hour, offsetMinutes: hour.offsetMinutes)]
            if figures == nil, livedElsewhere.contains(hour.hour) { continue }
            result.append((hour, figures ?? TrendFigures()))
        }
        for key in elsewhere {
            let start =
                date.midnight(offsetMinutes: key.offsetMinutes) + Int64(key.hour) * millisecondsPerHour
            let hour = CivilHour(hour: key.hour, offsetMinutes: key.offsetMinutes, start: start)
            result.append((hour, lived[key] ?? TrendFigures()))
        }
        return result.sorted {
            ($0.hour.start, $0.hour.offsetMinutes) < ($1.hour.start, $1.hour.offsetMinutes)
        }
    }
}
