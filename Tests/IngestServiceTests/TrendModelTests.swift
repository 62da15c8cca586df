import CivilTime
import Foundation
import IngestAPI
import Testing
import Trends
import ZoneDatabase

@testable import IngestService
@testable import IngestStore

/// Stored days against the same computation from all samples, which is as simple as can be.
///
/// `BANDFERRY_TREND_SEEDS` sets how many random lives there are.
@Suite struct TrendModelTests {
    private static let zones: [String?] = [
        nil, nil, "Europe/Berlin", "Asia/Kolkata", "Pacific/Apia", "America/St_Johns", "Pacific/Kiritimati",
    ]

    private static let seeds: ClosedRange<Int> =
        1...(ProcessInfo.processInfo.environment["BANDFERRY_TREND_SEEDS"].flatMap(Int.init) ?? 12)

    @Test(arguments: seeds) func answersAreThoseOfAllSamples(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let world = TrendWorld(&random)
        let directory = TemporaryDirectory()
        var server = try await TestServer(directory: directory)
        var sent: [(String, SampleBatch)] = []
        for step in 1...48 {
            let token = Int.random(in: 0..<4, using: &random) == 0 ? "gateway-b" : "gateway-a"
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                if let (token, old) = sent.randomElement(using: &random) {
                    _ = try await server.client(token).store(old)
                }
            case 1, 2:
                let device = TrendWorld.devices.randomElement(using: &random) ?? ""
                let gaps = GapList(gaps: [world.gap(&random)])
                let body = String(decoding: try APIJSON.encode(gaps), as: UTF8.self)
                #expect(try await server.client(token).put("/v1/devices/\(device)/gaps", body).status == 200)
            case 3:
                // Whatever is touched stays so over a restart.
                await server.server.stop(within: .seconds(60))
                server = try await TestServer(directory: directory)
            case 4, 5:
                try await server.storage.settle()
            default:
                let next = world.batch(&random)
                sent.append((token, next))
                #expect(try await server.client(token).store(next).total == next.samples.count)
            }
            if step % 3 == 0 {
                for _ in 0..<8 { try await check(server, &random, "seed \(seed), step \(step)") }
            }
        }
        try await checkStoredDays(server, "seed \(seed)")
        for _ in 0..<12 { try await check(server, &random, "seed \(seed), at the end") }
        await server.server.stop(within: .seconds(60))
    }

    /// One random query.
    private func check(_ server: TestServer, _ random: inout SeededRandom, _ place: String) async throws {
        let client = server.client(Bool.random(using: &random) ? "reader-a" : "gateway-b")
        let types = APISampleType.allCases + [.sleepStage, .sleepStage]
        let type = types.randomElement(using: &random) ?? .steps
        let bucket = Bool.random(using: &random) ? AggregateBucketSize.day : .hour
        let from = TrendWorld.firstDay.advanced(by: .random(in: -2...8, using: &random))
        let to = from.advanced(by: [0, 0, 1, 3, 9].randomElement(using: &random) ?? 0)
        let zone = Self.zones.randomElement(using: &random) ?? nil
        let isPerson = Bool.random(using: &random)
        let subject =
            isPerson
            ? "person=\(TrendWorld.persons.randomElement(using: &random) ?? "")"
            : "device_id=\(TrendWorld.devices.randomElement(using: &random) ?? "")"
        let query =
            "\(subject)&type=\(type.rawValue)&bucket=\(bucket.rawValue)&from=\(from)&to=\(to)"
            + (zone.map { "&tz=\($0)" } ?? "")
        let reply = try await client.get("/v1/aggregates?\(query)")
        guard reply.status == 200 else {
            #expect(reply.code == "unknown_device" && !isPerson, "\(place): \(query)")
            return
        }
        let rules = try zone.map { try #require(ZoneDatabase().rules(named: $0)) }
        let days = try await days(client, "\(subject)&type=\(type.rawValue)", type, rules)
        let expected = TrendBuckets.make(
            type: type,
            days: days.compactMapValues(isPerson ? TrendDay.merged : { $0.values.first }),
            from: from, to: to, bucket: bucket, zone: rules)
        #expect(try reply.read(AggregateList.self).buckets == expected, "\(place): \(query)")
    }

    /// By date and device, from every sample of the subject.
    private func days(
        _ client: TestClient, _ query: String, _ type: APISampleType, _ zone: ZoneRules?
    ) async throws -> [CivilDate: [String: TrendDay]] {
        var days: [CivilDate: [String: TrendDay]] = [:]
        let samples = try await client.samples(query)
        for (device, samples) in Dictionary(grouping: samples, by: \.deviceID) {
            let gaps: GapList = try await client.get("/v1/devices/\(device)/gaps").read()
            let found = TrendDays.compute(
                type: type, samples: samples.map(\.sample).compactMap(TrendSample.init),
                gaps: gaps.gaps.compactMap(TrendGap.init), zone: zone)
            for (date, day) in found { days[date, default: [:]][device] = day }
        }
        return days
    }

    /// Those that came about bit by bit are those that come about at once.
    private func checkStoredDays(_ server: TestServer, _ place: Comment) async throws {
        try await server.settle()
        let before = try await server.storedDays()
        var touched = TouchedDays()
        for type in APISampleType.allCases {
            for day in TrendWorld.firstDay.advanced(by: -30)...TrendWorld.firstDay.advanced(by: 40) {
                touched.insert(type, day)
            }
        }
        try server.change("DELETE FROM trend_days")
        try server.change("UPDATE devices SET touched = '\(touched.text)'")
        try await server.settle()
        #expect(try await server.storedDays() == before, place)
        #expect(!before.isEmpty, place)
    }
}
