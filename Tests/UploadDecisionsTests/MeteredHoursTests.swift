import CivilTime
import IngestAPI
import Testing
import UploadDecisions

@Suite struct MeteredHoursTests {
    static let evening = MeteredHours([.init(from: 18 * 60, to: 23 * 60)])
    static let night = MeteredHours([.init(from: 22 * 60 + 30, to: 6 * 60)])
    static let both = MeteredHours([.init(from: 18 * 60, to: 23 * 60), .init(from: 23 * 60, to: 60)])
    static let untilMidnight = MeteredHours([.init(from: 1380, to: 1440)])

    /// Hours, minute of the day, and when it is over; nil = it may go.
    static let rows: [(MeteredHours, Int, Int?)] = [
        (evening, 18 * 60 - 1, nil), (evening, 18 * 60, 23 * 60), (evening, 23 * 60 - 1, 23 * 60),
        (evening, 23 * 60, nil), (evening, 0, nil),
        // Over midnight.
        (night, 22 * 60 + 29, nil), (night, 22 * 60 + 30, 6 * 60), (night, 1439, 6 * 60), (night, 0, 6 * 60),
        (night, 5 * 60 + 59, 6 * 60), (night, 6 * 60, nil), (night, 12 * 60, nil),
        // Spans that touch are one wait.
        (both, 18 * 60, 60), (both, 23 * 60, 60), (both, 59, 60), (both, 60, nil),
        (untilMidnight, 1439, 0), (untilMidnight, 0, nil), (MeteredHours(), 720, nil),
    ]

    @Test(arguments: rows.indices) func everyMinuteIsJudged(_ index: Int) {
        let (hours, minute, end) = Self.rows[index]
        #expect(hours.end(after: minute) == end)
        #expect(hours.contains(minute) == (end != nil))
    }

    @Test func hoursThatCoverTheDayAreKnown() {
        #expect(!Self.night.coverTheDay)
        #expect(!MeteredHours().coverTheDay)
        let whole = MeteredHours([.init(from: 0, to: 720), .init(from: 700, to: 1440)])
        #expect(whole.coverTheDay)
        #expect(whole.end(after: 0) == nil, "there is no end to wait for")
    }

    @Test(arguments: [
        ("2026-03-01T17:59:59.999Z", 0, 18 * 60 - 1), ("2026-03-01T18:00:00.000Z", 0, 18 * 60),
        ("2026-03-01T23:30:00.000Z", 60, 30), ("2026-03-01T00:30:00.000Z", -60, 23 * 60 + 30),
        ("2026-03-01T00:00:00.000Z", 840, 14 * 60), ("2026-03-01T00:00:00.000Z", -720, 12 * 60),
        ("1969-12-31T23:59:59.999Z", 0, 1439), ("1969-12-31T23:59:00.000Z", 0, 1439),
        ("1969-12-31T23:58:59.999Z", 0, 1438), ("1970-01-01T00:00:00.000Z", 345, 345),
    ]) func theMinuteIsTheLocalOne(_ time: String, _ offset: Int, _ minute: Int) throws {
        let time = try #require(APITime(time))
        #expect(MeteredHours.minute(of: time, offsetMinutes: offset) == minute)
    }

    /// Berlin: 2026-03-29 has no 02:00-03:00, 2026-10-25 has it twice.
    static let berlin = ZoneRules(
        name: "Europe/Berlin", initialOffsetMinutes: 60,
        transitions: [
            .init(at: 1_774_746_000_000, offsetMinutes: 120), .init(at: 1_792_890_000_000, offsetMinutes: 60),
        ])

    private func minutesHeld(_ hours: MeteredHours, from first: String, hours count: Int) throws -> Int {
        let start = try #require(APITime(first)).milliseconds
        return (0..<count * 60).count { minute in
            let time = start + Int64(minute) * 60_000
            return hours.contains(
                MeteredHours.minute(
                    of: APITime(milliseconds: time), offsetMinutes: Self.berlin.offsetMinutes(at: time)))
        }
    }

    @Test func aClockThatIsPutForwardOrBackIsFollowed() throws {
        let twoToThree = MeteredHours([.init(from: 120, to: 180)])
        let oneToFour = MeteredHours([.init(from: 60, to: 240)])
        #expect(try minutesHeld(twoToThree, from: "2026-03-28T23:00:00Z", hours: 23) == 0)
        #expect(try minutesHeld(oneToFour, from: "2026-03-28T23:00:00Z", hours: 23) == 120)
        #expect(try minutesHeld(twoToThree, from: "2026-10-24T22:00:00Z", hours: 25) == 120)
        #expect(try minutesHeld(oneToFour, from: "2026-10-24T22:00:00Z", hours: 25) == 240)
        #expect(try minutesHeld(oneToFour, from: "2026-06-01T22:00:00Z", hours: 24) == 180)
        // Over midnight and the change.
        let night = MeteredHours([.init(from: 1380, to: 300)])
        #expect(try minutesHeld(night, from: "2026-03-28T11:00:00Z", hours: 24) == 300)
        #expect(try minutesHeld(night, from: "2026-10-24T10:00:00Z", hours: 24) == 420)
    }

    @Test func connectionAndHoursAreDecidedTogether() {
        let metered = NetworkState(isUp: true, isMetered: true)
        let free = NetworkState(isUp: true)
        func decide(_ hours: MeteredHours, _ minute: Int, _ on: OnMetered, _ network: NetworkState)
            -> MeteredWait?
        {
            MeteredWait.decide(hours, minute: minute, on, network)
        }
        #expect(decide(Self.evening, 0, .upload, metered) == nil)
        #expect(decide(Self.evening, 0, .wait, metered) == .connection)
        #expect(decide(Self.evening, 0, .wait, free) == nil)
        #expect(decide(Self.evening, 0, .wait, NetworkState()) == nil, "nobody says what it is")
        #expect(decide(Self.evening, 18 * 60, .upload, free) == .hours(until: 23 * 60))
        #expect(decide(MeteredHours(), 18 * 60, .upload, metered) == nil)
    }
}
