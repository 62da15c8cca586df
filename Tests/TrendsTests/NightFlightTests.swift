import CivilTime
import IngestAPI
import Testing
import Trends

/// Somebody sleeps in Bengaluru, flies to London in the morning and goes on living there.
@Suite struct NightFlightTests {
    private let sleep: [TrendSample] = [
        sample("2026-11-04T23:40:00+05:30", .light), sample("2026-11-05T00:30:00+05:30", .deep),
        sample("2026-11-05T02:00:00+05:30", .rem), sample("2026-11-05T03:10:00+05:30", .light),
        sample("2026-11-05T04:00:00+05:30", .outOfBed), sample("2026-11-05T04:20:00+05:30", .outOfBed),
        // The next night, in London.
        sample("2026-11-05T23:00:00Z", .light), sample("2026-11-06T06:00:00Z", .outOfBed),
    ]
    private let steps: [TrendSample] = [
        sample("2026-11-04T22:00:00+05:30", 100), sample("2026-11-05T05:00:00+05:30", 200),
        sample("2026-11-05T13:30:00Z", 300), sample("2026-11-05T20:00:00Z", 400),
    ]

    static let zones: [ZoneRules?] = [nil, Zone.london, Zone.kolkata, .utc]

    @Test("the night is on the Indian day, whatever the zone asked for", arguments: zones)
    func night(zone: ZoneRules?) {
        let days = buckets(.sleepStage, sleep, from: "2026-11-04", to: "2026-11-06", zone: zone)
        #expect(days.map(\.count) == [0, 6, 2])
        #expect(days.map(\.stages) == ["0 0 0 0 0", "0 100 90 70 260", "0 240 0 0 240"])
        let steps = buckets(.steps, steps, from: "2026-11-04", to: "2026-11-06", zone: zone)
        #expect(steps.map(\.sum) == [100, 900, 0])
    }

    @Test("the night's hours are Indian too", arguments: zones)
    func hours(zone: ZoneRules?) {
        let hours = buckets(.sleepStage, sleep, from: "2026-11-04", to: "2026-11-05", by: .hour, zone: zone)
        let asleep = hours.filter {
            $0.minutes.map { $0.light.tenths + $0.deep.tenths + $0.rem.tenths > 0 } ?? false
        }
        #expect(
            asleep.map { "\($0.localDate) \($0.localHour ?? -1) \($0.offsetMinutes)" } == [
                "2026-11-04 23 330", "2026-11-05 0 330", "2026-11-05 1 330", "2026-11-05 2 330",
                "2026-11-05 3 330", "2026-11-05 23 0",
            ])
        #expect(asleep.first?.start.description == "2026-11-04T17:30:00.000Z")
    }

    @Test("the day of the flight is longer by its samples, and plain in either zone") func length() throws {
        #expect(try day(.steps, steps, on: "2026-11-05").minutesInDay == 1770)
        #expect(try day(.steps, steps, on: "2026-11-05", zone: Zone.london).minutesInDay == 1440)
        let indian = try day(.steps, steps, on: "2026-11-05", zone: Zone.kolkata)
        #expect((indian.minutesInDay, indian.start.description) == (1440, "2026-11-04T18:30:00.000Z"))
    }
}
