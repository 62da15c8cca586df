import IngestAPI
import Testing

@testable import IngestService
@testable import IngestStore

/// Which days count as touched after a write.
@Suite struct TrendMarkTests {
    @Test func aBatchTouchesEachDayOfEachTypeOnce() async throws {
        try await TestServer.run { server in
            let samples = [
                sample(1, at: march(1, 1)), sample(2, at: march(1, 2), person: .assigned("p")),
                // 19:00 UTC is past midnight at +05:30.
                sample(3, at: march(1, 19), person: .assigned("p")), sample(4, at: march(1, 19), offset: nil),
                sample(5, .steps, at: march(3), offset: -60),
            ]
            _ = try await server.client().store(batch(samples, device: "d"))
            #expect(
                try await server.touched() == [
                    "d heart_rate 2026-03-01", "d heart_rate 2026-03-02", "d steps 2026-03-02",
                ])
        }
    }

    @Test func whatTrendsLeaveOutTouchesNothing() async throws {
        try await TestServer.run { server in
            _ = try await server.client().store(
                batch([sample(1, flags: 2), sample(2, .steps, uncertain: true)], device: "d"))
            #expect(try await server.touched().isEmpty)
            _ = try await server.client().store(
                batch([sample(3, .spo2, at: march(1), flags: 0)], device: "d"))
            #expect(try await server.touched() == ["d spo2 2026-03-01"])
        }
    }

    @Test func whatChangesNothingTouchesNothing() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let first = sample(1, at: march(1), person: .assigned("p"))
            _ = try await client.store(batch([first], device: "d"))
            try await server.settle()
            var (newer, conflicting) = (first, first)
            newer.version = 2
            newer.timeBoundMilliseconds = 3
            newer.person = .unchanged
            conflicting.value += 1
            conflicting.recordedAt = APITime(milliseconds: march(5) * 1000)
            conflicting.version = 9
            let answer = try await client.store(batch([first, newer, conflicting], device: "d"))
            #expect(answer.duplicates == 1 && answer.corrected == 1 && answer.conflicts.count == 1)
            #expect(try await server.touched().isEmpty)
        }
    }

    @Test func aCorrectionTouchesTheDayThatItLeavesAndTheOneThatItFinds() async throws {
        try await TestServer.run { server in
            let client = server.client()
            var moved = sample(1, at: march(1, 12), person: .assigned("p"), bandTime: 7)
            _ = try await client.store(batch([moved], device: "d"))
            try await server.settle()
            moved.recordedAt = APITime(milliseconds: march(9, 12) * 1000)
            moved.version = 2
            moved.person = .unchanged
            #expect(try await client.store(batch([moved], device: "d")).corrected == 1)
            #expect(
                try await server.touched() == [
                    "d heart_rate 2026-03-01", "d heart_rate 2026-03-09",
                ])
            try await server.settle()
            moved.person = .assigned("q")
            moved.version = 3
            #expect(try await client.store(batch([moved], device: "d")).corrected == 1)
            #expect(
                try await server.touched() == [
                    "d heart_rate 2026-03-09"
                ])
            try await server.settle()
            moved.person = .cleared
            moved.version = 4
            moved.tzOffsetMinutes = 840
            #expect(try await client.store(batch([moved], device: "d")).corrected == 1)
            #expect(
                try await server.touched() == [
                    "d heart_rate 2026-03-09", "d heart_rate 2026-03-10",
                ])
        }
    }

    @Test func aTimeThatCanBeTrustedNowTouchesItsDay() async throws {
        try await TestServer.run { server in
            let client = server.client()
            var refined = sample(1, at: march(1, 12), uncertain: true, bandTime: 7)
            _ = try await client.store(batch([refined], device: "d"))
            refined.timeUncertain = false
            #expect(try await client.store(batch([refined], device: "d")).duplicates == 1)
            #expect(try await server.touched() == ["d heart_rate 2026-03-01"])
            try await server.settle()
            refined.timeUncertain = true
            refined.version = 2
            #expect(try await client.store(batch([refined], device: "d")).corrected == 1)
            #expect(try await server.touched() == ["d heart_rate 2026-03-01"])
        }
    }

    @Test func aGapTouchesTheSleepOfEveryoneOnTheDeviceWhereItBegins() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(
                batch([sample(1, at: march(1), person: .assigned("p"))], device: "d"))
            _ = try await client.store(
                batch([sample(1, at: march(1), person: .assigned("q"))], device: "other"))
            try await server.settle()
            func put(_ fields: String) async throws -> [String] {
                try await server.settle()
                let gap = #"{"ring":"b5e5d00d","first_seq":9,"last_seq":12,"cause":"overwritten",\#(fields)}"#
                #expect(try await client.put("/v1/devices/d/gaps", #"{"gaps":[\#(gap)]}"#).status == 200)
                return try await server.touched()
            }
            func sleep(_ dates: String...) -> [String] {
                dates.map { "d sleep_stage 2026-03-\($0)" }
            }
            let times = { (after: String) in
                #""after":"2026-03-\#(after)T01:00:00.000Z","before":"2026-03-09T01:00:00.000Z""#
            }
            #expect(try await put(#""after":"2026-03-02T01:00:00.000Z""#) == [])
            #expect(try await put(times("02")) == sleep("02"))
            #expect(try await put(times("02")) == [])
            #expect(try await put(times("04")) == sleep("02", "04"))
            #expect(try await put(times("04") + #","healed_at":"2026-03-20T00:00:00.000Z""#) == sleep("04"))
            // Healed once, healed for good.
            #expect(try await put(times("05")) == [])
        }
    }
}
