import GatewayModel
import Testing

@testable import CommandLineText

@Suite struct TimeArgumentTests {
    @Test(arguments: [
        "2026-10-27T05:31Z", "2026-10-27T05:31:00Z", "2026-10-27T05:31:00.000Z", "2026-10-27 05:31Z",
        "2026-10-27t05:31z", "2026-10-27T11:01+05:30", "2026-10-26T17:31:00-12:00", "2026-10-27T05:31+00:00",
    ])
    func aMomentIsWrittenInManyWays(_ text: String) throws {
        #expect(try TimeArgument(text) == .at(Timestamp(milliseconds: 1_793_079_060_000)))
    }

    @Test func secondsAndTheirFractionCount() throws {
        #expect(
            try TimeArgument("2026-10-27T05:31:07.25Z") == .at(Timestamp(milliseconds: 1_793_079_067_250)))
    }

    @Test func nowIsWhenTheCommandRuns() throws {
        let now = Timestamp(milliseconds: 5)
        #expect(try TimeArgument("now").timestamp(now: now) == now)
        #expect(try TimeArgument("1970-01-01T00:00Z").timestamp(now: now) == Timestamp(milliseconds: 0))
    }

    @Test(arguments: [
        ("2026-10-27", "has no time of day; write 2026-10-27T00:00Z"),
        ("2026-10-27T05:31", "has no UTC offset; write 2026-10-27T05:31Z"),
        ("2026-10-27 05:31:09", "has no UTC offset"), ("1969-12-31T23:59Z", "is before 1970"),
        ("yesterday", "is no time"), ("", "is no time"), ("2026-13-01T00:00Z", "is no time"),
        ("2026-02-30T00:00Z", "is no time"), ("2026-10-27T24:00Z", "is no time"),
        ("2026-10-27T05:31+25:00", "is no time"), ("2026-10-27T05Z", "is no time"),
        ("2026-10-27T05:31 Z", "is no time"), ("Now", "is no time"), ("1793079060000", "is no time"),
    ])
    func whatIsNoMomentSaysWhatIsMissing(_ text: String, _ reason: String) {
        do throws(TimeArgument.Refusal) {
            let time = try TimeArgument(text)
            Issue.record("understood as \(time)")
        } catch {
            #expect(error.reason.hasPrefix(reason), "\(error.reason)")
        }
    }
}

@Suite struct LocalTimesTests {
    /// As Berlin: one hour ahead of UTC, two until 2026-10-25T01:00Z.
    static let change = Timestamp(milliseconds: 1_792_890_000_000)
    static let berlin = LocalTimes(zone: "Europe/Berlin", now: Timestamp(milliseconds: 1_793_079_060_000)) {
        $0 < change ? 120 : 60
    }

    private func time(_ text: String) throws -> Timestamp {
        try TimeArgument(text).timestamp(now: Self.change)
    }

    @Test(arguments: [
        ("2026-10-27T05:31Z", "27 Oct 06:31 +01:00"), ("2026-01-03T09:05:59Z", "3 Jan 11:05 +02:00"),
        ("2025-12-31T21:59Z", "31 Dec 2025 23:59 +02:00"), ("2025-12-31T22:00Z", "1 Jan 00:00 +02:00"),
    ])
    func aMomentIsSaidAsTheWallClockShowsIt(_ text: String, _ expected: String) throws {
        #expect(Self.berlin.moment(try time(text)) == expected)
    }

    @Test func aSpanNamesTheOffsetOnceUnlessItChanges() throws {
        #expect(
            Self.berlin.span(try time("2026-10-03T12:05Z"), try time("2026-10-09T06:12Z"))
                == "3 Oct 14:05 to 9 Oct 08:12 +02:00")
        #expect(
            Self.berlin.span(try time("2026-10-24T12:05Z"), try time("2026-10-26T06:12Z"))
                == "24 Oct 14:05 +02:00 to 26 Oct 07:12 +01:00")
    }

    @Test(arguments: [
        "2026-10-27T06:31+01:00", "2026-10-25T02:59:59+02:00", "2026-10-25T02:00+01:00",
        "2026-10-03T11:00:00.250+02:00",
    ])
    func aStampIsReadBackAsTheSameMoment(_ text: String) throws {
        let stamp = Self.berlin.stamp(try time(text))
        #expect(stamp == text)
        #expect(try time(stamp) == time(text))
    }

    @Test func utcIsCalledSo() throws {
        let utc = LocalTimes.utc(now: Self.change)
        #expect(utc.moment(try time("2026-10-27T05:31Z")) == "27 Oct 05:31 UTC")
        #expect(utc.stamp(try time("2026-10-27T05:31Z")) == "2026-10-27T05:31Z")
        let behind = LocalTimes(zone: "America/St_Johns", now: Self.change) { _ in -210 }
        #expect(behind.moment(try time("2026-10-27T05:31Z")) == "27 Oct 02:01 -03:30")
    }
}
