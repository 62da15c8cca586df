import CivilTime
import IngestAPI
import Locking
import SQLite
import Testing

@testable import IngestService
@testable import IngestStore

/// How stored days are brought up to date.
@Suite struct TrendRollTests {
    private static let query = "device_id=d&type=steps&from=2026-03-01&to=2026-03-03"

    private func steps(_ seq: UInt32, _ value: Int, _ day: Int) -> APISample {
        sample(seq, .steps, value: value, at: march(day, 12), offset: 0)
    }

    @Test func anAnswerTellsWhatIsTouchedAndWritesNothing() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([steps(1, 5, 1), steps(2, 6, 3)], device: "d"))
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 6])
            #expect(try server.count("trend_days") == 0)
            try await server.settle()
            #expect(try server.count("trend_days") == 2)
            _ = try await client.store(batch([steps(3, 7, 2), steps(4, 8, 3)], device: "d"))
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 7, 14])
            #expect(try await server.touched().count == 2)
        }
    }

    /// Or else a year of days would cost what its samples cost.
    @Test func whatIsNotTouchedComesFromTheStoredDays() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([steps(1, 5, 1), steps(2, 6, 3)], device: "d"))
            try await server.settle()
            try server.change("DELETE FROM chunks")
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 6])
            #expect(
                try await client.aggregates(Self.query + "&tz=Asia/Tokyo").buckets.map(\.sum) == [5, 0, 6])
        }
    }

    @Test func aDayThatLosesItsLastSampleIsForgotten() async throws {
        try await TestServer.run { server in
            let client = server.client()
            var moved = steps(1, 5, 1)
            _ = try await client.store(batch([moved], device: "d"))
            try await server.settle()
            moved.version = 2
            moved.recordedAt = APITime(milliseconds: march(2) * 1000)
            _ = try await client.store(batch([moved], device: "d"))
            try await server.settle()
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [0, 5, 0])
            #expect(try server.count("trend_days") == 1)
        }
    }

    @Test func aDayThatIsTouchedWhileItIsComputedStaysTouched() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([steps(1, 5, 1), steps(2, 6, 3)], device: "d"))
            let turn = try #require(try await server.turn("d", days: 9))
            _ = try await client.store(batch([steps(3, 7, 3)], device: "d"))
            #expect(try await server.storage.writers.perform(turn.job) == false)
            #expect(try await server.touched() == ["d steps 2026-03-01", "d steps 2026-03-03"])
            #expect(try server.count("trend_days") == 0)
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 13])
            // Once more, after somebody else was done with it: nothing older may come in its place.
            try await server.settle()
            #expect(try await server.storage.writers.perform(turn.job) == false)
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 13])
        }
    }

    @Test func manyDaysAndDevicesTakeTurns() async throws {
        try await TestServer.run { server in
            for device in ["d", "e", "f"] {
                let samples = (0..<70).map { number in
                    sample(
                        UInt32(number + 1), .steps, value: 1, at: march(1) + Int64(number) * 86_400, offset: 0
                    )
                }
                _ = try await server.client().store(batch(samples, device: device))
            }
            let turn = try #require(try await server.turn("e", days: 32))
            #expect(try await server.storage.writers.perform(turn.job))
            #expect(try await server.touched().count == 3 * 70 - 32)
            try await server.storage.settle()
            #expect(try await server.touched().isEmpty)
            #expect(try server.count("trend_days") == 210)
        }
    }

    @Test func aStoredDayThatCannotBeReadIsComputedAgain() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([steps(1, 5, 1), steps(2, 6, 3)], device: "d"))
            try await server.settle()
            try server.change("UPDATE trend_days SET content = \(TestEngine.bytes("63"))")
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 6])
        }
    }

    /// It holds other types and wearers, which are not touched.
    @Test func aStoredDayThatCannotBeReadIsStoredAnewAsAWhole() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let beat = sample(9, value: 60, at: march(1, 12), person: .assigned("p"), offset: 0)
            _ = try await client.store(batch([steps(1, 5, 1), beat], device: "d"))
            try await server.settle()
            try server.change("UPDATE trend_days SET content = \(TestEngine.bytes("63"))")
            _ = try await client.store(batch([steps(2, 6, 1)], device: "d"))
            try await server.settle()
            try server.change("DELETE FROM chunks")
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [11, 0, 0])
            for subject in ["device_id=d", "person=p"] {
                let query = "\(subject)&type=heart_rate&from=2026-03-01&to=2026-03-01"
                #expect(try await client.aggregates(query).buckets.map(\.min) == [60])
            }
        }
    }

    /// A newer version may have written it, and the samples may be gone.
    @Test func aFrozenDayThatCannotBeReadIsLeftAsItIs() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let samples = ["p", "q", "r"].enumerated().map { number, person in
                sample(
                    UInt32(number + 1), .steps, value: 5, at: march(1 + number % 2, 12),
                    person: .assigned(OpaqueID(person)), offset: 0)
            }
            _ = try await client.store(batch(samples, device: "d"))
            try await server.settle()
            let first = CivilDate(year: 2026, month: 3, day: 1)
            try server.change("UPDATE devices SET frozen_through = \(first.days)")
            try server.change("UPDATE trend_days SET content = \(TestEngine.bytes("63"))")
            _ = try await client.store(batch([steps(9, 6, 2)], device: "d"))
            try await server.settle()
            let stored = try await server.storedDays()
            #expect(stored.count == 2 && stored.first == "d 2026-03-01 [99]")
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [0, 11, 0])
        }
    }

    /// A commit of each type would cost more than all the rest.
    @Test func touchedDevicesAndTypesAreStoredTogether() async throws {
        try await TestServer.run { server in
            let devices = (1...20).map { DeviceKey(account: "a", name: "d\($0)") }
            for device in devices {
                let samples = APISampleType.allCases.enumerated().map { number, type in
                    sample(UInt32(number + 1), type, value: 1, at: march(1, 12), offset: 0)
                }
                _ = try await server.client().store(batch(samples, device: device.name))
            }
            #expect(try await server.touched().count == 80)
            let before = await server.storage.writers.commits
            await server.storage.roller.roll(devices)
            #expect(try await server.touched().isEmpty)
            // How many join depends on when they come; at worst each device is alone.
            #expect(await server.storage.writers.commits - before <= 20)
            #expect(try server.count("trend_days") == 20)
        }
    }

    @Test func whereManyDevicesWaitItRestsLess() {
        let pace = TrendPace()
        #expect(pace.rest(waiting: 0, at: .now) == .milliseconds(750))
        #expect(pace.rest(waiting: 500, at: .now) == .milliseconds(500))
        #expect(pace.rest(waiting: 1_000_000, at: .now) == .milliseconds(250))
    }

    @Test func itRestsAsLongAsItWorked() {
        var pace = TrendPace()
        let begin = ContinuousClock.now
        let end = begin + .seconds(30)
        pace.worked(from: begin, to: end)
        #expect(pace.rest(waiting: 1000, at: end) == .seconds(30))
        // Time without work is rest, too.
        #expect(pace.rest(waiting: 1000, at: end + .seconds(10)) == .seconds(20))
        #expect(pace.rest(waiting: 1000, at: end + .seconds(3600)) == .milliseconds(250))
        pace.worked(from: begin, to: begin + .milliseconds(100))
        #expect(pace.rest(waiting: 1000, at: begin + .milliseconds(100)) == .milliseconds(250))
    }

    @Test(.timeLimit(.minutes(5))) func theWorkerTimesItsBursts() async throws {
        let (rests, resting) = AsyncStream.makeStream(of: Duration.self)
        let (gate, goOn) = AsyncStream.makeStream(of: Void.self)
        let begin = ContinuousClock.now
        let looks = Guarded(0)
        var plan = DatabaseStorage.Rests.untilClosed
        // A minute passes whenever somebody looks: while it works at least one does, and none while it rests.
        plan.clock = {
            looks.withLock { $0 += 1 }
            return begin + .seconds(60 * looks.withLock { $0 })
        }
        plan.trends = { duration in
            resting.yield(duration)
            for await _ in gate { return }
        }
        let server = try await TestServer(rests: plan)
        var rest = rests.makeAsyncIterator()
        _ = try await server.client().store(batch([steps(1, 5, 1)], device: "d"))
        #expect(await rest.next() == .milliseconds(750))
        goOn.yield()
        while try await !server.touched().isEmpty { await Task.yield() }
        _ = try await server.client().store(batch([steps(2, 5, 2)], device: "d"))
        // The burst looked at the clock in between: two minutes or more of work, one of them rested.
        let second = try #require(await rest.next())
        #expect(second >= .seconds(60))
        await server.server.stop(within: .seconds(60))
    }

    @Test(.timeLimit(.minutes(5))) func theWorkerWorksAfterACommitAndRestsBefore() async throws {
        let (rests, resting) = AsyncStream.makeStream(of: Void.self)
        let (gate, goOn) = AsyncStream.makeStream(of: Void.self)
        var plan = DatabaseStorage.Rests.untilClosed
        plan.trends = { _ in
            resting.yield()
            for await _ in gate { return }
        }
        let server = try await TestServer(rests: plan)
        var rest = rests.makeAsyncIterator()
        // It rests after each wake and works then: when it rests again, what was touched before is done.
        for day in 1...3 {
            _ = try await server.client().store(batch([steps(UInt32(day), 5, day)], device: "d"))
            await rest.next()
            #expect(try await server.touched().allSatisfy { $0 == "d steps 2026-03-0\(day)" })
            goOn.yield()
        }
        let gap =
            #"{"ring":"0000000a","first_seq":9,"cause":"overwritten","after":"2026-03-02T01:00:00.000Z","#
            + #""before":"2026-03-02T02:00:00.000Z"}"#
        #expect(try await server.client().put("/v1/devices/d/gaps", #"{"gaps":[\#(gap)]}"#).status == 200)
        await rest.next()
        #expect(try await server.touched().allSatisfy { $0 == "d sleep_stage 2026-03-02" })
        goOn.yield()
        _ = try await server.client().store(batch([steps(9, 5, 9)], device: "d"))
        await rest.next()
        #expect(try await server.touched().allSatisfy { $0 == "d steps 2026-03-09" })
        #expect(try server.count("trend_days") >= 3)
        await server.server.stop(within: .seconds(60))
    }

    @Test(.timeLimit(.minutes(5))) func whatIsTouchedWhenTheStorageClosesIsDoneAfterTheNextStart()
        async throws
    {
        let directory = TemporaryDirectory()
        let first = try await TestServer(directory: directory)
        _ = try await first.client().store(batch([steps(1, 5, 1)], device: "d"))
        await first.server.stop(within: .seconds(60))
        let (rounds, continuation) = AsyncStream.makeStream(of: Void.self)
        var plan = DatabaseStorage.Rests.untilClosed
        plan.start = {}
        plan.round = {
            continuation.yield()
            await DatabaseStorage.Rests.untilCancelled()
        }
        let second = try await TestServer(directory: directory, rests: plan)
        var round = rounds.makeAsyncIterator()
        await round.next()
        #expect(try await second.touched().isEmpty)
        #expect(try second.count("trend_days") == 1)
        await second.server.stop(within: .seconds(60))
    }
}

extension TestServer {
    func turn(_ device: String, days: Int) async throws -> TrendTurn? {
        try await storage.states.perform { session throws(StorageFailure) in
            try TrendTurn(DeviceKey(account: "a", name: device), days: days, in: session)
        }
    }
}
