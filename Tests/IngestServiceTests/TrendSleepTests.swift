import CivilTime
import Foundation
import IngestAPI
import Testing
import Trends
import ZoneDatabase

@testable import IngestService
@testable import IngestStore

/// One change at a time in a week of sleep whose days are all stored: what it changes is found, however far away.
///
/// `BANDFERRY_TREND_SEEDS` sets how many weeks there are.
@Suite struct TrendSleepTests {
    private static let seeds: ClosedRange<Int> =
        1...(ProcessInfo.processInfo.environment["BANDFERRY_TREND_SEEDS"].flatMap(Int.init) ?? 24)
    private static let firstDay = CivilDate(year: 2026, month: 3, day: 26)
    private static let days = -2...9

    @Test(arguments: seeds) func aChangeIsFeltAsFarAsSleepsReach(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let directory = TemporaryDirectory()
        let storage = try await DatabaseStorage(
            TestEngine.make(directory), now: WallClock.now, rests: .untilClosed)
        let week = Week(&random)
        try await store((1...week.records).map { week.record($0, &random, moved: false) }, in: storage)
        for round in 1...12 {
            try await storage.settle()
            if Int.random(in: 0..<4, using: &random) == 0 {
                _ = try await storage.putGaps([week.gap(&random)], device: "d", account: "a")
            } else {
                let count = UInt32.random(in: 1...2, using: &random)
                let seq = week.seq(&random)
                try await store(
                    (0..<count).map { week.record(seq + $0, &random, version: round, moved: true) },
                    in: storage)
            }
            // Once from what is stored and from samples, once from what is stored alone.
            for isSettled in [false, true] {
                if isSettled { try await storage.settle() }
                let place: Comment = "seed \(seed), round \(round), settled: \(isSettled)"
                try await check(.device("d"), storage, &random, place)
                try await check(.person("p"), storage, &random, place)
            }
        }
        await storage.close()
    }

    /// The day before is not touched by its own records, and its last stage is shorter all the same.
    @Test func aRecordAfterMidnightEndsTheStageBeforeIt() async throws {
        try await TestServer.run { server in
            let client = server.client()
            func stage(_ seq: UInt32, _ value: Int, _ time: Int64) -> APISample {
                sample(seq, .sleepStage, value: value, at: time, offset: 0)
            }
            func outOfBed() async throws -> [Double?] {
                try await client.aggregates("device_id=d&type=sleep_stage&from=2026-03-01&to=2026-03-01")
                    .buckets
                    .map(\.minutes?.outOfBed.value)
            }
            _ = try await client.store(
                batch([stage(1, 1, march(1, 22)), stage(2, 4, march(1, 23))], device: "d"))
            try await server.settle()
            #expect(try await outOfBed() == [240])
            _ = try await client.store(batch([stage(3, 1, march(2, 0, 30))], device: "d"))
            #expect(try await server.touched() == ["d sleep_stage 2026-03-02"])
            #expect(try await outOfBed() == [90])
            try await server.settle()
            #expect(try await outOfBed() == [90])
        }
    }

    private func store(_ samples: [APISample], in storage: DatabaseStorage) async throws {
        let batch = ReceivedBatch(
            deviceID: "d", ring: "0000000a", syncID: "s", samples: samples.map { .success($0) })
        #expect(try await storage.store(batch, account: "a").total == samples.count)
    }

    private func check(
        _ subject: SampleQuery.Subject, _ storage: DatabaseStorage, _ random: inout SeededRandom,
        _ place: Comment
    ) async throws {
        let zone = [nil, nil, "Pacific/Kiritimati", "Pacific/Pago_Pago"].randomElement(using: &random) ?? nil
        let rules = try zone.map { try #require(ZoneDatabase().rules(named: $0)) }
        let page = try #require(try await storage.samples(SampleQuery(subject: subject), account: "a"))
        let gaps = try #require(try await storage.gaps(device: "d", account: "a"))
        #expect(page.nextCursor == nil)
        let days = TrendDays.compute(
            type: .sleepStage, samples: page.samples.map(\.sample).compactMap(TrendSample.init),
            gaps: gaps.compactMap(TrendGap.init), zone: rules)
        // A day alone leaves the walks more to find than a week.
        for offset in Self.days {
            let day = Self.firstDay.advanced(by: offset)
            let bucket = AggregateBucketSize.allCases.randomElement(using: &random) ?? .day
            let query = AggregateQuery(
                subject: subject, type: .sleepStage, bucket: bucket, dates: day...day, zone: rules)
            let answer = try await storage.aggregates(query, account: "a")
            let expected = TrendBuckets.make(
                type: .sleepStage, days: days, from: day, to: day, bucket: bucket, zone: rules)
            #expect(answer?.buckets == expected, "\(place), \(subject), \(day), \(zone ?? "no zone")")
        }
    }
}

/// How one band sees a week of nights, or one night of a week.
private struct Week {
    private let step: Int
    private let stages: [Int]
    private let offsets: [Int?]
    let records: UInt32

    init(_ random: inout SeededRandom) {
        let lives = [
            [1, 2, 3, 1, 0, 2, 0, 0, 3, 1, 2, 4], [1, 2, 3, 1, 2],
            [1, 2, 1, 0, 0, 3, 2, 1, 3, 2, 1, 2, 2, 1], [0],
            [0, 0, 0, 0, 1], [1, 4, 2], [1, 2, 3, 1, 2, 1, 2, 3, 2, 4],
        ]
        let homes: [[Int?]] = [[0], [120], [60, 60, nil], [-600, -600, 840]]
        step = [37, 61, 110, 200, 260, 280, 294].randomElement(using: &random) ?? 37
        stages = lives.randomElement(using: &random) ?? []
        offsets = homes.randomElement(using: &random) ?? [0]
        records = UInt32(7 * 1440 / step)
    }

    private func time(minutes: Int) -> APITime {
        APITime(
            milliseconds: CivilDate(year: 2026, month: 3, day: 26).midnight(offsetMinutes: 0)
                + Int64(minutes) * 60_000)
    }

    /// Of a record to change; half of them are the first of a day in UTC, or near it.
    func seq(_ random: inout SeededRandom) -> UInt32 {
        guard Bool.random(using: &random) else { return .random(in: 1...records + 3, using: &random) }
        let midnight = Int.random(in: 1...6, using: &random) * 1440
        return UInt32((midnight + step - 1) / step)
    }

    func record(_ seq: UInt32, _ random: inout SeededRandom, version: Int = 1, moved: Bool) -> APISample {
        let shift = moved ? [0, 5, -30, 100, -290, 700].randomElement(using: &random) ?? 0 : 0
        return sample(
            seq, .sleepStage, value: stages[Int(seq) % stages.count],
            at: time(minutes: Int(seq) * step + .random(in: -4...4, using: &random) + shift).milliseconds
                / 1000,
            version: version, uncertain: moved && Int.random(in: 0..<5, using: &random) == 0,
            person: moved && Int.random(in: 0..<4, using: &random) == 0 ? .assigned("q") : .assigned("p"),
            offset: offsets.randomElement(using: &random) ?? nil, bandTime: Int64(seq))
    }

    func gap(_ random: inout SeededRandom) -> APIGap {
        let after = Int.random(in: 0...10_000, using: &random)
        return APIGap(
            ring: "0000000a", firstSeq: .random(in: 1...4, using: &random), lastSeq: nil,
            after: time(minutes: after), before: time(minutes: after + 10), cause: .overwritten)
    }
}
