import CivilTime
import IngestAPI
import Testing

@testable import IngestService
@testable import IngestStore

/// What is kept of samples that expire.
@Suite struct RetentionTests {
    private static let retention = Retention(days: 90)
    private static let day: Int64 = 86_400

    /// Seconds since 1970 of the test's clock at its start.
    private static func start(_ server: TestServer) -> Int64 { server.clock.now.milliseconds / 1000 }

    private func steps(_ seq: UInt32, _ value: Int, at time: Int64) -> APISample {
        sample(seq, .steps, value: value, at: time, offset: 0)
    }

    @Test func anExpiredSampleIsKnownAndItsDayStaysAsItWas() async throws {
        try await TestServer.run { server in
            let (client, now) = (server.client(), Self.start(server))
            let date = CivilDate(milliseconds: now * 1000, offsetMinutes: 0)
            let query = "device_id=d&type=steps&from=\(date)&to=\(date.advanced(by: 1))"
            let samples = [steps(1, 5, at: now), steps(2, 6, at: now + 60), steps(3, 7, at: now + Self.day)]
            _ = try await client.store(batch(samples, device: "d", completeThrough: 3))
            let before = try await client.get("/v1/devices/d").read(DeviceState.self)
            server.clock.advance(seconds: 94 * Self.day)
            try await server.storage.tidy(Self.retention)
            #expect(try server.count("samples") == 3)

            server.clock.advance(seconds: 2 * Self.day)
            try await server.storage.tidy(Self.retention)
            #expect(try server.count("samples") == 0)
            #expect(try await client.samples("device_id=d").isEmpty)
            #expect(try await client.get("/v1/devices/d/ranges?by=day").read(RangeList.self).ranges.isEmpty)
            // What a gateway asks for is as it was.
            let after = try await client.get("/v1/devices/d").read(DeviceState.self)
            #expect(after.rings == before.rings && after.counts == before.counts)
            #expect(after.firstRecordedAt == before.firstRecordedAt)
            #expect(after.lastRecordedAt == before.lastRecordedAt)
            // And so is the day.
            let buckets = try await client.aggregates(query).buckets
            #expect(buckets.map(\.sum) == [11, 7])
            #expect(buckets.map(\.isFrozen) == [true, true])

            var corrected = samples[0]
            corrected.version = 5
            let again = try await client.store(batch([corrected] + samples, device: "d"))
            #expect(again.duplicates == 4 && again.accepted == 0)
            #expect(again.ackSeq == ["steps": 3])
            // One that is new is taken, and changes no day whose other samples are gone.
            let late = try await client.store(batch([steps(4, 100, at: now + 120)], device: "d"))
            #expect(late.accepted == 1)
            #expect(try await client.samples("device_id=d").count == 1)
            #expect(try await client.aggregates(query).buckets.map(\.sum) == [11, 7])
            #expect(try await client.aggregates(query + "&tz=Asia/Tokyo").buckets.map(\.sum) == [11, 7])
            // The latest of all is corrected: what has expired is later than what is left.
            for (version, time) in [(1, now + 10 * Self.day), (2, now + 200)] {
                var moved = steps(5, 1, at: time)
                moved.version = version
                _ = try await client.store(batch([moved], device: "d"))
            }
            let last = try await client.get("/v1/devices/d").read(DeviceState.self).lastRecordedAt
            #expect(last == before.lastRecordedAt)
        }
    }

    @Test func nothingGoesThatCameAShortTimeAgo() async throws {
        try await TestServer.run { server in
            let now = Self.start(server)
            // A band whose clock was wrong, and one that was in a drawer.
            _ = try await server.client().store(
                batch(
                    [sample(1, at: 0, uncertain: true), steps(2, 5, at: now - 400 * Self.day)], device: "d"))
            server.clock.advance(seconds: 90 * Self.day)
            try await server.storage.tidy(Self.retention)
            #expect(try server.count("samples") == 2)
            server.clock.advance(seconds: 6 * Self.day)
            try await server.storage.tidy(Self.retention)
            #expect(try server.count("samples") == 0)
        }
    }

    @Test func whatIsCorrectedWhileItExpiresStays() async throws {
        try await TestServer.run { server in
            let (client, now) = (server.client(), Self.start(server))
            // A day that is frozen already, so that a correction touches nothing.
            _ = try await client.store(batch([steps(1, 5, at: now)], device: "d"))
            server.clock.advance(seconds: 96 * Self.day)
            try await server.storage.tidy(Self.retention)
            #expect(try server.count("samples") == 0)
            _ = try await client.store(batch([steps(9, 5, at: now)], device: "d"))
            server.clock.advance(seconds: 96 * Self.day)
            let clock = server.clock.now
            let turn = try await server.storage.states.perform { session throws(StorageFailure) in
                try ExpiryTurn(
                    DeviceKey(account: "a", name: "d"), Self.retention, now: clock, in: session)
            }
            let job = try #require(turn).job
            var corrected = steps(9, 5, at: now)
            corrected.version = 2
            corrected.person = .assigned("p")
            #expect(try await client.store(batch([corrected], device: "d")).corrected == 1)
            #expect(try await server.storage.writers.perform(job) == false)
            #expect(try await client.samples("device_id=d").map(\.sample) == [corrected])
        }
    }

    @Test func withoutAnEndNothingGoes() async throws {
        try await TestServer.run { server in
            _ = try await server.client().store(batch([sample(1)], device: "d"))
            server.clock.advance(seconds: 3650 * Self.day)
            try await server.storage.tidy(Retention(days: nil))
            #expect(try server.count("samples") == 1)
        }
    }

    /// Random lives of a band, with a server that lets samples go beside one that keeps all: both count the same.
    @Test(arguments: 1...6) func nothingIsTwiceAndNoDayChanges(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let forgetting = try await TestServer()
        let keeping = try await TestServer()
        var next: UInt32 = 1
        var sent: [SampleBatch] = []
        for _ in 0..<40 {
            let now = Self.start(forgetting)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                try await forgetting.storage.tidy(Self.retention)
            case 1, 2:
                let seconds = Int64.random(in: 1...40, using: &random) * Self.day
                forgetting.clock.advance(seconds: seconds)
                keeping.clock.advance(seconds: seconds)
            case 3:
                guard let old = sent.randomElement(using: &random) else { continue }
                let answers = (
                    try await forgetting.client().store(old), try await keeping.client().store(old)
                )
                #expect(answers.0.accepted == 0 && answers.1.accepted == 0, "seed \(seed)")
                #expect(answers.0.ackSeq == answers.1.ackSeq, "seed \(seed)")
            default:
                let count = UInt32.random(in: 1...300, using: &random)
                let samples = (0..<count).filter { _ in Int.random(in: 0..<9, using: &random) > 0 }.map {
                    steps(next + $0, Int.random(in: 0...99, using: &random), at: now - Int64(count - $0) * 60)
                }
                next += count
                let new = batch(samples, device: "d")
                sent.append(new)
                for server in [forgetting, keeping] {
                    #expect(try await server.client().store(new).accepted == samples.count, "seed \(seed)")
                }
            }
            let state = try? await keeping.client().get("/v1/devices/d").read(DeviceState.self)
            let other = try? await forgetting.client().get("/v1/devices/d").read(DeviceState.self)
            #expect(state?.counts == other?.counts, "seed \(seed)")
            let end = CivilDate(milliseconds: now * 1000, offsetMinutes: 0)
            let query = "device_id=d&type=steps&from=\(end.advanced(by: -399))&to=\(end)"
            guard state != nil else { continue }
            #expect(
                try await keeping.client().aggregates(query).buckets.map(\.sum)
                    == forgetting.client().aggregates(query).buckets.map(\.sum), "seed \(seed)")
        }
        for server in [forgetting, keeping] { await server.server.stop(within: .seconds(60)) }
    }
}
