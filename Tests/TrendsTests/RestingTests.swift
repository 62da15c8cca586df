import CivilTime
import IngestAPI
import Testing
import Trends

@Suite struct RestingTests {
    /// One a minute from 07:00 UTC on.
    private func samples(_ values: [Int], from start: String = "2026-10-27T07:00:00Z") -> [TrendSample] {
        values.enumerated().map {
            TrendSample(
                recordedAt: at(start) + Int64($0.offset) * 60_000, offsetMinutes: 0, value: $0.element)
        }
    }

    private func resting(_ samples: [TrendSample]) throws -> String? {
        try day(.heartRate, samples, on: "2026-10-27").resting?.description
    }

    @Test("ten samples are enough, nine are not") func fewest() throws {
        #expect(try resting(samples(Array(repeating: 60, count: 9))) == nil)
        #expect(try resting(samples(Array(repeating: 60, count: 10))) == "60")
    }

    @Test("the lowest 30 minutes, not the lowest samples") func lowest() throws {
        let values =
            Array(repeating: 70, count: 60) + Array(repeating: 50, count: 31)
            + Array(repeating: 70, count: 60)
        #expect(try resting(samples(values)) == "50")
        let short =
            Array(repeating: 70, count: 60) + Array(repeating: 50, count: 15)
            + Array(repeating: 70, count: 60)
        #expect(try resting(samples(short)) == "60")
    }

    @Test("a window ends before 30 minutes are full") func length() throws {
        let ten = samples(Array(repeating: 60, count: 9)) + [sample("2026-10-27T07:29:59.999Z", 50)]
        #expect(try resting(ten) == "59")
        let nine = samples(Array(repeating: 60, count: 9)) + [sample("2026-10-27T07:30:00Z", 50)]
        #expect(try resting(nine) == nil)
    }

    @Test("a window takes every sample of the instant at which it begins") func instant() throws {
        let values = [sample("2026-10-27T07:00:00Z", 100)] + samples(Array(repeating: 50, count: 10))
        #expect(try resting(values) == "54.5")
    }

    @Test("a window takes samples of its own day only, and of its own hour") func bucket() throws {
        let late = samples(Array(repeating: 60, count: 8), from: "2026-10-27T23:52:00Z")
        let early = samples(Array(repeating: 40, count: 8), from: "2026-10-28T00:00:00Z")
        #expect(try resting(late + early) == nil)
        let across = samples(Array(repeating: 60, count: 16), from: "2026-10-27T07:52:00Z")
        #expect(try resting(across) == "60")
        let hours = buckets(.heartRate, across, from: "2026-10-27", to: "2026-10-27", by: .hour)
        #expect(hours.allSatisfy { $0.resting == nil })
        let inside = buckets(
            .heartRate, samples(Array(repeating: 61, count: 10)), from: "2026-10-27", to: "2026-10-27",
            by: .hour)
        #expect(inside.compactMap(\.resting) == [Tenths(tenths: 610)])
    }
}
