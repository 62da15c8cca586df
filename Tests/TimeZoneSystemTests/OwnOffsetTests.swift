import CivilTime
import IngestAPI
import Testing
import Trends
import ZoneDatabase

/// Samples that know their own offset say the same without a zone as others do with it.
@Suite struct OwnOffsetTests {
    static let zones: [String] = [
        "Europe/London", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "Antarctica/Troll",
        "America/St_Johns",
    ]

    @Test("days and hours of a change of the clocks follow from the samples' offsets", arguments: zones)
    func change(zone: String) throws {
        let rules = try #require(ZoneDatabase().rules(named: zone))
        let python = try #require(
            try Python.lines(PythonZone.self, ["days", "15", zone, "2026-01-01", "2026-12-31"]).first)
        #expect(python.hours.count == 6)
        for (date, hours) in python.hours {
            let samples = Walk.around(date, step: 15, in: rules)
            let days = TrendDays.compute(type: .steps, samples: samples)
            let buckets = TrendBuckets.make(type: .steps, days: days, from: date, to: date, bucket: .hour)
            #expect(buckets.map(Walk.hour) == hours, "\(date)")
            let day = try #require(
                TrendBuckets.make(type: .steps, days: days, from: date, to: date, bucket: .day).first)
            #expect(day.minutesInDay == rules.minutes(in: date), "\(date)")
            #expect(day.start.milliseconds == rules.start(of: date), "\(date)")
        }
    }
}
