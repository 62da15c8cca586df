import CivilTime
import IngestAPI
import Testing
import Trends
import ZoneDatabase

/// Days and hours in real zones are what Python finds by looking at every quarter of an hour.
@Suite struct CivilDayTests {
    /// Half hours, three quarters, summer times of 30 minutes and of 2 hours, Ramadan, midnight, the far ends.
    static let zones: [String] = [
        "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca", "Africa/El_Aaiun", "Pacific/Chatham",
        "Antarctica/Troll", "Pacific/Apia", "America/St_Johns", "Asia/Kathmandu", "Africa/Cairo",
        "America/Asuncion", "Asia/Gaza", "Asia/Hebron", "Europe/London", "Europe/Dublin", "America/New_York",
        "Pacific/Kiritimati", "Pacific/Kwajalein", "America/Havana", "Asia/Beirut", "America/Santiago",
        "Pacific/Easter", "America/Nuuk", "America/Scoresbysund", "Atlantic/Azores", "Asia/Jerusalem",
        "Europe/Chisinau", "Australia/Adelaide", "Australia/Eucla", "Pacific/Auckland", "Pacific/Norfolk",
        "Pacific/Marquesas", "America/Sao_Paulo", "Asia/Tehran", "Asia/Kabul", "Asia/Yangon", "Asia/Almaty",
        "America/Vancouver", "America/Miquelon", "Antarctica/Casey", "Pacific/Pago_Pago", "Etc/GMT-14",
        "Etc/GMT+12", "UTC",
    ]

    static let recent: [String] = zones.flatMap { [$0, "2024-01-01", "2027-12-31"] }
    /// Days that were skipped or lived twice, changes just after midnight, and the last days that GLib tells us of.
    static let odd: [String] = [
        "Pacific/Apia", "2011-12-01", "2012-01-31", "Pacific/Kwajalein", "1993-08-01", "1993-09-10",
        "Pacific/Fakaofo", "2011-12-20", "2012-01-10",
        "Europe/London", "1970-01-10", "1972-12-31", "Europe/London", "2036-01-01", "2037-12-31",
        "America/Sao_Paulo", "2017-01-01", "2019-12-31", "Asia/Pyongyang", "2015-01-01", "2018-12-31",
        "America/Caracas", "2007-06-01", "2016-12-31", "Africa/Monrovia", "1972-02-01", "1973-01-01",
    ]

    /// Its clocks changed at one minute past midnight.
    static let afterMidnight: [String] = ["America/St_Johns", "2010-10-20", "2011-11-20"]

    @Test("every day and change of 2024 to 2027, in 44 zones") func recentYears() throws {
        let zones = try compared(Self.recent, step: 15)
        #expect(zones.count == Self.zones.count)
        #expect(zones.allSatisfy { $0.days.count == 1461 })
        #expect(zones.reduce(0) { $0 + $1.changes.count } > 190)
    }

    @Test("skipped days, and other oddities of the past") func oddDays() throws {
        let zones = try compared(Self.odd, step: 15)
        let apia = zones[0].days.map(\.date.description)
        #expect(apia.contains("2011-12-29") && !apia.contains("2011-12-30") && apia.contains("2011-12-31"))
    }

    @Test("a zone whose clocks went back from one minute past midnight") func afterMidnight() throws {
        let zone = try #require(try compared(Self.afterMidnight, step: 1).first)
        #expect(zone.days.map(\.minutes).filter { $0 != 1440 } == [1499, 1441, 1380, 1500])
    }

    private func compared(_ words: [String], step: Int) throws -> [PythonZone] {
        let database = ZoneDatabase()
        let zones = try Python.lines(PythonZone.self, ["days", "\(step)"] + words)
        for zone in zones {
            let rules = try #require(database.rules(named: zone.zone))
            compareDays(zone, rules)
            compareChanges(zone, rules)
            compareHours(zone, rules, step: step)
        }
        return zones
    }

    private func compareDays(_ zone: PythonZone, _ rules: ZoneRules) {
        guard let first = zone.days.first?.date, let last = zone.days.last?.date else {
            Issue.record("\(zone.zone) has no days")
            return
        }
        let buckets = TrendBuckets.make(
            type: .steps, days: [:], from: first, to: last, bucket: .day, zone: rules)
        let ours = buckets.map {
            PythonZone.Day(
                date: $0.localDate, start: $0.start.milliseconds, offset: $0.offsetMinutes,
                minutes: $0.minutesInDay)
        }
        let different = zip(ours, zone.days).first { $0 != $1 }
        #expect(ours == zone.days, "\(zone.zone): first difference \(String(describing: different))")
        let minutes = (first...last).map { rules.minutes(in: $0) }.filter { $0 != 0 }
        #expect(minutes == zone.days.map(\.minutes), "\(zone.zone)")
    }

    private func compareChanges(_ zone: PythonZone, _ rules: ZoneRules) {
        for change in zone.changes {
            #expect(rules.offsetMinutes(at: change.at - 1) == change.before, "\(zone.zone) \(change)")
            #expect(rules.offsetMinutes(at: change.at) == change.after, "\(zone.zone) \(change)")
        }
    }

    /// A record of `step` steps every `step` minutes, without an offset of its own: as many steps in each hour as it
    /// has minutes.
    private func compareHours(_ zone: PythonZone, _ rules: ZoneRules, step: Int) {
        for (date, hours) in zone.hours {
            let days = TrendDays.compute(type: .steps, samples: Walk.around(date, step: step), zone: rules)
            let buckets = TrendBuckets.make(
                type: .steps, days: days, from: date, to: date, bucket: .hour, zone: rules)
            #expect(buckets.map(Walk.hour) == hours, "\(zone.zone) \(date)")
            let empty = TrendBuckets.make(
                type: .steps, days: [:], from: date, to: date, bucket: .hour, zone: rules)
            #expect(empty.map(\.start) == buckets.map(\.start), "\(zone.zone) \(date)")
            let minutes = hours.reduce(0) { $0 + $1.minutes }
            #expect(buckets.allSatisfy { $0.minutesInDay == minutes }, "\(zone.zone) \(date)")
        }
    }
}

/// Somebody who takes a step every minute.
enum Walk {
    /// From the day before to the day after, a record every `step` minutes.
    static func around(_ date: CivilDate, step: Int, in zone: ZoneRules? = nil) -> [TrendSample] {
        let day: Int64 = 86_400_000
        let midnight = date.midnight(offsetMinutes: 0)
        return stride(from: midnight - day, to: midnight + 2 * day, by: step * 60_000).map {
            TrendSample(recordedAt: $0, offsetMinutes: zone?.offsetMinutes(at: $0), value: step)
        }
    }

    static func hour(_ bucket: AggregateBucket) -> PythonZone.Hour {
        PythonZone.Hour(
            hour: bucket.localHour ?? -1, offset: bucket.offsetMinutes, start: bucket.start.milliseconds,
            minutes: bucket.sum ?? -1)
    }
}
