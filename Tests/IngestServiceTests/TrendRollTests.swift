import IngestAPI
import SQLite
import Testing

@testable import IngestService

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
            #expect(try server.touched().count == 2)
        }
    }

    /// Or else a year of days would cost what its samples cost.
    @Test func whatIsNotTouchedComesFromTheStoredDays() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([steps(1, 5, 1), steps(2, 6, 3)], device: "d"))
            try await server.settle()
            try await server.storage.writer.perform { try $0.run("UPDATE samples SET value = 100") }
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
            let turn = try await server.storage.writer.perform { try TrendTurn(device: 1, marks: 9, in: $0) }
            _ = try await client.store(batch([steps(3, 7, 3)], device: "d"))
            try await server.storage.writer.perform { try turn.store(in: $0) }
            #expect(try server.touched() == ["d * steps 2026-03-03"])
            #expect(try server.count("trend_days") == 1)
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 13])
            // Once more, after somebody else was done with it: nothing older may come in its place.
            try await server.settle()
            try await server.storage.writer.perform { try turn.store(in: $0) }
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
            let turn = try await server.storage.writer.perform { try TrendTurn(device: 2, marks: 32, in: $0) }
            try await server.storage.writer.perform { try turn.store(in: $0) }
            #expect(try server.touched().count == 3 * 70 - 32)
            while await server.storage.roller.burst() {}
            #expect(try server.touched().isEmpty)
            #expect(try server.count("trend_days") == 210)
        }
    }

    @Test func aStoredDayThatCannotBeReadIsComputedAgain() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([steps(1, 5, 1), steps(2, 6, 3)], device: "d"))
            try await server.settle()
            try await server.storage.writer.perform {
                try $0.run("UPDATE trend_days SET content = ?", .text("99 0 1"))
            }
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 6])
        }
    }

    @Test func nothingIsStoredWhileRoomIsInDoubt() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([steps(1, 5, 1)], device: "d"))
            await #expect(throws: StorageFailure.self) {
                try await server.storage.writer.perform { _ in throw StorageFailure(.unavailable, "full") }
            }
            #expect(await server.storage.roller.burst() == false)
            #expect(try server.count("trend_days") == 0)
            #expect(try await client.aggregates(Self.query).buckets.map(\.sum) == [5, 0, 0])
            #expect(try await client.get("/healthz").status == 200)
            try await server.settle()
        }
    }

    @Test(.timeLimit(.minutes(1))) func theWorkerWorksAfterACommitAndRestsBefore() async throws {
        let (rests, resting) = AsyncStream.makeStream(of: Void.self)
        let (gate, goOn) = AsyncStream.makeStream(of: Void.self)
        let server = try await TestServer(rest: {
            resting.yield()
            for await _ in gate { return }
        })
        var rest = rests.makeAsyncIterator()
        // Where time is short, one burst may not be enough.
        func workAndRest() async throws {
            repeat {
                goOn.yield()
                await rest.next()
            } while try !server.touched().isEmpty
        }
        // At the start, for what was left from before.
        await rest.next()
        _ = try await server.client().store(batch([steps(1, 5, 1)], device: "d"))
        #expect(try server.touched().count == 1)
        // The commit woke it: it rests again, after it has worked.
        try await workAndRest()
        let gap =
            #"{"ring":"0000000a","first_seq":9,"cause":"overwritten","after":"2026-03-02T01:00:00.000Z","#
            + #""before":"2026-03-02T02:00:00.000Z"}"#
        #expect(try await server.client().put("/v1/devices/d/gaps", #"{"gaps":[\#(gap)]}"#).status == 200)
        #expect(try server.touched() == ["d * sleep_stage 2026-03-02"])
        // The gap woke it too.
        try await workAndRest()
        await server.server.stop(within: .seconds(1))
    }

    @Test(.timeLimit(.minutes(1))) func whatIsTouchedWhenTheStorageClosesIsDoneAfterTheNextStart()
        async throws
    {
        let directory = TemporaryDirectory()
        let first = try await TestServer(directory: directory)
        _ = try await first.client().store(batch([steps(1, 5, 1)], device: "d"))
        await first.server.stop(within: .seconds(1))
        #expect(try first.touched().count == 1)
        let (rests, continuation) = AsyncStream.makeStream(of: Void.self)
        let second = try await TestServer(directory: directory, rest: { continuation.yield() })
        var rest = rests.makeAsyncIterator()
        await rest.next()
        // It rests again when it has worked and something new is there.
        _ = try await second.client().store(batch([steps(2, 6, 9)], device: "d"))
        await rest.next()
        #expect(try second.count("trend_days") >= 1)
        #expect(try await second.client().aggregates(Self.query).buckets.map(\.sum) == [5, 0, 0])
        await second.server.stop(within: .seconds(1))
    }
}
