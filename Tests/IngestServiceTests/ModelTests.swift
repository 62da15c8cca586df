import IngestAPI
import Testing

@testable import IngestService

/// Two gateways sync the same bands: batches overlap, are retried, corrected and contradict each other.
@Suite struct ModelTests {
    @Test(arguments: 1...12) func anyBatchesLeaveTheServerAsTheContractSays(seed: Int) async throws {
        try await TestServer.run { server in
            var random = SeededRandom(seed: UInt64(seed))
            var model = ModelServer()
            let gateways = [server.client("gateway-a"), server.client("gateway-a2")]
            var sent: [SampleBatch] = []
            for _ in 0..<60 {
                let next: SampleBatch
                if let old = sent.randomElement(using: &random), Int.random(in: 0..<4, using: &random) == 0 {
                    next = old
                } else {
                    next = randomBatch(&random)
                }
                sent.append(next)
                let gateway = gateways[Int.random(in: 0...1, using: &random)]
                let answer = try await gateway.store(next)
                #expect(answer == model.store(next), "seed \(seed)")
                #expect(answer.total == next.samples.count, "seed \(seed)")
            }
            for device in ["d1", "d2"] {
                var samples: [StoredSample] = []
                var cursor: String?
                repeat {
                    let limit = Int.random(in: 1...40, using: &random)
                    let more = cursor.map { "&cursor=\($0)" } ?? ""
                    let page: SamplesPage = try await gateways[0].get(
                        "/v1/samples?device_id=\(device)&limit=\(limit)\(more)"
                    ).read()
                    samples += page.samples
                    cursor = page.nextCursor
                } while cursor != nil
                #expect(samples == model.samples(device: device), "seed \(seed)")
                let state: DeviceState = try await gateways[0].get("/v1/devices/\(device)").read()
                #expect(state.counts == model.counts(device: device), "seed \(seed)")
                #expect(state.firstRecordedAt == samples.first?.sample.recordedAt, "seed \(seed)")
                #expect(state.lastRecordedAt == samples.last?.sample.recordedAt, "seed \(seed)")
                for ring in state.rings {
                    #expect(
                        ring.completeThrough == model.completeThrough["\(device) \(ring.ring)"],
                        "seed \(seed)")
                }
                let ranges: RangeList = try await gateways[0].get("/v1/devices/\(device)/ranges?by=day")
                    .read()
                #expect(ranges.ranges.map(\.count).reduce(0, +) == samples.count, "seed \(seed)")
            }
            #expect(try server.count("conflicts") == model.beside.count, "seed \(seed)")
        }
    }

    @Test func concurrentGatewaysStoreEachKeyOnce() async throws {
        try await TestServer.run { server in
            let answers = await (0..<24).asyncMap { number in
                // Each batch is sent by two gateways at once, and overlaps the next by half.
                let start = UInt32(number / 2) * 50
                return try? await server.client(number % 2 == 0 ? "gateway-a" : "gateway-a2")
                    .store(batch((1...100).map { sample(start + $0) }, device: "d"))
            }
            #expect(answers.allSatisfy { $0?.total == 100 })
            #expect(answers.compactMap { $0?.accepted }.reduce(0, +) == 650)
            let state: DeviceState = try await server.client().get("/v1/devices/d").read()
            #expect(state.counts == ["heart_rate": 650])
            #expect(try server.count("samples") == 650)
            #expect(try server.count("conflicts") == 0)
        }
    }

    /// Few keys and few values, so that batches meet.
    private func randomBatch(_ random: inout SeededRandom) -> SampleBatch {
        let samples = (0..<Int.random(in: 0...25, using: &random)).map { _ in
            sample(
                .random(in: 1...30, using: &random),
                [.heartRate, .steps].randomElement(using: &random) ?? .steps,
                value: Int.random(in: 0..<12, using: &random) == 0 ? 71 : 70,
                at: .random(in: 0...40, using: &random) * 7200, version: .random(in: 1...3, using: &random),
                bound: [nil, 0, 50, 900].randomElement(using: &random) ?? nil,
                uncertain: Int.random(in: 0..<5, using: &random) == 0,
                person: [.unchanged, .unchanged, .cleared, .assigned("p"), .assigned("q")]
                    .randomElement(using: &random) ?? .unchanged,
                offset: [nil, 0, 330].randomElement(using: &random) ?? nil,
                flags: Int.random(in: 0..<20, using: &random) == 0 ? 0 : 1,
                provenance: APIProvenance.allCases.randomElement(using: &random) ?? .unknown)
        }
        return batch(
            samples, device: Bool.random(using: &random) ? "d1" : "d2",
            ring: Int.random(in: 0..<4, using: &random) == 0 ? "ffffffff" : "0000000a",
            completeThrough: Bool.random(using: &random) ? .random(in: 0...30, using: &random) : nil)
    }
}

/// A small generator with a seed, so that a failure can be run again.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
