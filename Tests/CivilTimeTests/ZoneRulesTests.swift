import CivilTime
import Testing

@Suite struct ZoneRulesTests {
    private static let hour: Int64 = 3_600_000
    private let date = CivilDate(year: 2026, month: 3, day: 29)

    /// A zone at UTC whose clocks move at `hour` of 2026-03-29 and stay.
    private func zone(_ minutes: Int, atHour hour: Int64) -> ZoneRules {
        ZoneRules(
            name: "Test", initialOffsetMinutes: 0,
            transitions: [
                .init(at: date.midnight(offsetMinutes: 0) + hour * Self.hour, offsetMinutes: minutes)
            ])
    }

    @Test("the offset changes with the transition, not before") func offsets() {
        let rules = ZoneRules(
            name: "Test", initialOffsetMinutes: -30,
            transitions: [
                .init(at: 3000, offsetMinutes: 0), .init(at: 1000, offsetMinutes: 60),
                .init(at: 2000, offsetMinutes: 60),
            ])
        #expect(rules.transitions.map(\.at) == [1000, 3000])
        #expect(
            [Int64.min, 999, 1000, 2000, 2999, 3000, .max].map(rules.offsetMinutes) == [
                -30, -30, 60, 60, 60, 0, 0,
            ])
    }

    @Test("no offset reaches a day") func clamped() {
        let rules = ZoneRules(
            name: "Test", initialOffsetMinutes: 5000, transitions: [.init(at: 0, offsetMinutes: -5000)])
        #expect(rules.initialOffsetMinutes == 1439 && rules.transitions[0].offsetMinutes == -1439)
    }

    @Test("a day without a change has 24 hours from midnight on") func plainDay() {
        let rules = ZoneRules(name: "Asia/Kolkata", initialOffsetMinutes: 330)
        #expect(rules.start(of: date) == date.midnight(offsetMinutes: 330))
        #expect(rules.minutes(in: date) == 1440)
        #expect(rules.hours(of: date).map(\.hour) == Array(0...23))
        #expect(rules.hours(of: date)[5].start == date.midnight(offsetMinutes: 330) + 5 * Self.hour)
    }

    @Test("clocks that go forward skip an hour") func forward() {
        let rules = zone(60, atHour: 1)
        #expect(rules.minutes(in: date) == 1380)
        #expect(rules.hours(of: date).map(\.hour) == [0] + Array(2...23))
        #expect(rules.hours(of: date)[1].start == date.midnight(offsetMinutes: 0) + Self.hour)
    }

    @Test("clocks that go back show an hour twice") func back() {
        let rules = zone(-60, atHour: 2)
        #expect(rules.minutes(in: date) == 1500)
        #expect(rules.hours(of: date).map(\.hour) == [0, 1, 1] + Array(2...23))
        #expect(rules.hours(of: date).map(\.offsetMinutes) == [0, 0] + Array(repeating: -60, count: 23))
    }

    @Test("clocks that move by half an hour show a part of an hour") func halfHour() {
        let rules = zone(-30, atHour: 2)
        #expect(rules.minutes(in: date) == 1470)
        #expect(rules.hours(of: date).prefix(4).map(\.hour) == [0, 1, 1, 2])
        #expect(rules.hours(of: date)[2].start == date.midnight(offsetMinutes: 0) + 2 * Self.hour)
    }

    @Test("a day that begins with the change begins later") func forwardAtMidnight() {
        let rules = zone(60, atHour: 0)
        #expect(rules.start(of: date) == date.midnight(offsetMinutes: 0))
        #expect(rules.minutes(in: date) == 1380)
        #expect(rules.hours(of: date).map(\.hour) == Array(1...23))
    }

    @Test("a zone that moves over the date line skips a day, or lives one twice") func dateLine() {
        let east = ZoneRules(
            name: "Pacific/Apia", initialOffsetMinutes: -600,
            transitions: [.init(at: date.midnight(offsetMinutes: -600), offsetMinutes: 840)])
        #expect(east.start(of: date) == nil && east.minutes(in: date) == 0 && east.hours(of: date).isEmpty)
        #expect(east.minutes(in: date.advanced(by: -1)) == 1440)
        #expect(east.minutes(in: date.advanced(by: 1)) == 1440)
        let west = ZoneRules(
            name: "Test", initialOffsetMinutes: 720,
            transitions: [.init(at: date.advanced(by: 1).midnight(offsetMinutes: 720), offsetMinutes: -720)])
        #expect(west.minutes(in: date) == 2880)
        #expect(west.hours(of: date).count == 48)
    }
}
