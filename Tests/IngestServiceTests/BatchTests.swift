import Compression
import Foundation
import IngestAPI
import Testing

@testable import IngestService

private let path = "/v1/samples:batch"

@Suite struct BatchTests {
    @Test(arguments: [true, false]) func newSamplesAreAccepted(gzip: Bool) async throws {
        try await TestServer.run { server in
            let reply = try await server.client().post(
                batch([sample(5), sample(6, .steps), sample(7)], syncID: "s-1"), gzip: gzip)
            #expect(reply.status == 200)
            #expect(reply.header("content-type") == "application/json")
            let answer: BatchAnswer = try reply.read()
            #expect(
                answer == BatchAnswer(syncID: "s-1", accepted: 3, ackSeq: ["heart_rate": 7, "steps": 6]))
        }
    }

    @Test func theAnswerHasExactlyTheFieldsOfTheContract() async throws {
        try await TestServer.run { server in
            let reply = try await server.client().post(batch([sample(5)], syncID: "s-1"))
            #expect(
                reply.text == #"{"accepted":1,"ack_seq":{"heart_rate":5},"conflicts":[],"corrected":0,"#
                    + #""duplicates":0,"rejected":[],"sync_id":"s-1"}"#)
        }
    }

    @Test func aRetryIsAllDuplicatesAndASuccess() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let sent = batch((1...500).map { sample($0) })
            let first = try await client.store(sent)
            #expect(first.accepted == 500)
            let second = try await client.store(sent)
            #expect(second == BatchAnswer(syncID: sent.syncID, duplicates: 500, ackSeq: ["heart_rate": 500]))
            let state: DeviceState = try await client.get("/v1/devices/band_F0F1F2F3F4F5").read()
            #expect(state.counts == ["heart_rate": 500])
        }
    }

    @Test func theSameSeqOfAnotherTypeRingOrDeviceIsAnotherKey() async throws {
        try await TestServer.run { server in
            let client = server.client()
            for sent in [
                batch([sample(1)]), batch([sample(1, .steps)]), batch([sample(1)], ring: "00000001"),
                batch([sample(1)], device: "other"),
            ] {
                let answer = try await client.store(sent)
                #expect(answer.accepted == 1)
            }
        }
    }

    @Test func aHigherVersionCorrectsAndALowerOneDoesNot() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1, at: 1000, version: 2)]))
            let corrected = try await client.store(batch([sample(1, at: 2000, version: 3, offset: nil)]))
            #expect(corrected.corrected == 1)
            let stale = try await client.store(batch([sample(1, at: 3000, version: 1)]))
            #expect(stale.duplicates == 1)
            let current = try await onlySample(client)
            #expect(current.recordedAt.milliseconds == 2_000_000)
            #expect(current.version == 3)
            #expect(current.tzOffsetMinutes == nil)
        }
    }

    @Test func atEqualVersionsTheSmallerBoundIsCurrentThenTheFirst() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let steps: [(APISample, recordedAt: Int64)] = [
                (sample(1, at: 10, uncertain: true), 10),
                (sample(1, at: 20), 20),
                (sample(1, at: 30, bound: 900), 30),
                (sample(1, at: 40, bound: 900), 30),
                (sample(1, at: 50, bound: 800), 50),
                (sample(1, at: 60), 50),
                (sample(1, at: 70, bound: 1, uncertain: true), 50),
                (sample(1, at: 80, bound: 0), 80),
            ]
            for (index, step) in steps.enumerated() {
                let answer = try await client.store(batch([step.0]))
                #expect(answer.corrected == 0, "step \(index)")
                #expect(answer.duplicates == (index == 0 ? 0 : 1), "step \(index)")
                #expect(
                    try await onlySample(client).recordedAt.milliseconds == step.recordedAt * 1000,
                    "step \(index)")
            }
        }
    }

    @Test(arguments: [
        sample(1, value: 71), sample(1, bandTime: 1), sample(1, clock: 4), sample(1, flags: 0),
        sample(1, value: 71, version: 9),
    ])
    func aDifferentRawFieldIsAConflictWhateverItsVersion(_ other: APISample) async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1)]))
            for _ in 0..<2 {
                let answer = try await client.store(batch([sample(2), other], syncID: "s"))
                #expect(answer.conflicts == [BatchAnswer.Conflict(index: 1, type: "heart_rate", seq: 1)])
                #expect(answer.total == 2)
            }
            let page: SamplesPage = try await client.get("/v1/samples?device_id=band_F0F1F2F3F4F5").read()
            #expect(page.samples.map(\.sample.value) == [70, 70])
            #expect(page.samples.map(\.sample.version) == [1, 1])
            // Kept beside the first, once.
            #expect(try server.count("conflicts") == 1)
        }
    }

    @Test func aKeyRepeatedInABatchIsTakenInOrder() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let answer = try await client.store(
                batch([
                    sample(1), sample(1), sample(1, at: 5, version: 2), sample(1, value: 99),
                    sample(1, version: 1),
                ]))
            #expect(
                (answer.accepted, answer.duplicates, answer.corrected, answer.conflicts.map(\.index)) == (
                    1, 2, 1, [3]
                ))
            #expect(try await onlySample(client).recordedAt.milliseconds == 5000)
        }
    }

    @Test func personIsUnchangedClearedOrAssigned() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let steps: [(PersonField, version: Int, after: PersonField)] = [
                (.assigned("ann"), 1, .assigned("ann")),
                (.unchanged, 2, .assigned("ann")),
                (.assigned("bob"), 3, .assigned("bob")),
                (.assigned("old"), 2, .assigned("bob")),
                (.cleared, 4, .cleared),
                (.unchanged, 5, .cleared),
            ]
            for step in steps {
                _ = try await client.store(batch([sample(1, version: step.version, person: step.0)]))
                #expect(try await onlySample(client).person == step.after)
            }
        }
    }

    @Test func provenanceIsNeverRewritten() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1, provenance: .user)]))
            _ = try await client.store(batch([sample(1, version: 2, provenance: .device)]))
            #expect(try await onlySample(client).provenance == .user)
        }
    }

    @Test func aBadSampleIsRejectedAndTheRestIsTaken() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let good = String(decoding: try APIJSON.encode(sample(8)), as: UTF8.self)
            let bad = [
                good.replacing("heart_rate", with: "mood"),
                good.replacing("\"value\":70", with: "\"value\":700"),
                good.replacing("2026-", with: "20Z6-"),
                good.replacing("\"flags\":1", with: "\"flags\":\"x\""), "7",
            ]
            let body = """
                {"device_id":"d","ring":"0000000a","sync_id":"s","sample_count":6,
                 "samples":[\(bad.joined(separator: ",")),\(good)]}
                """
            let reply = try await client.send(.post, path, Array(body.utf8))
            #expect(reply.status == 200)
            let answer: BatchAnswer = try reply.read()
            #expect(answer.accepted == 1)
            #expect(answer.total == 6)
            #expect(answer.rejected.map(\.index) == [0, 1, 2, 3, 4])
            #expect(
                answer.rejected.map(\.code)
                    == ["unknown_type", "value_out_of_range", "bad_time", "bad_field", "bad_field"])
            #expect(answer.ackSeq == ["heart_rate": 8])
        }
    }

    @Test func completeThroughOnlyRises() async throws {
        try await TestServer.run { server in
            let client = server.client()
            for (claim, stored) in [(nil, nil), (10, 10), (7, 10), (nil, 10), (12, 12)]
                as [(UInt32?, UInt32?)]
            {
                _ = try await client.store(batch([sample(1)], completeThrough: claim))
                let state: DeviceState = try await client.get("/v1/devices/band_F0F1F2F3F4F5").read()
                #expect(state.rings[0].completeThrough == stored)
            }
            // A batch without samples may carry a claim.
            #expect(try await client.store(batch([], completeThrough: 20)).total == 0)
            let state: DeviceState = try await client.get("/v1/devices/band_F0F1F2F3F4F5").read()
            #expect(state.rings[0].completeThrough == 20)
        }
    }

    @Test func aClaimNeverCoversARejectedSample() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let samples = try [sample(1), sample(2), sample(3)].map {
                String(decoding: try APIJSON.encode($0), as: UTF8.self)
            }
            let bad = samples[1].replacing("\"value\":70", with: "\"value\":999")
            let body = """
                {"device_id":"d","ring":"0000000a","sync_id":"s","sample_count":3,"complete_through":3,
                 "samples":[\(samples[0]),\(bad),\(samples[2])]}
                """
            _ = try await client.send(.post, path, Array(body.utf8))
            let state: DeviceState = try await client.get("/v1/devices/d").read()
            #expect(state.rings[0].completeThrough == 1)
            #expect(state.rings[0].ackSeq == ["heart_rate": 3])
        }
    }

    @Test func aBodyThatCannotBeReadHasItsStatus() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let json = try APIJSON.encode(batch([sample(1)]))
            let packed = try Gzip.compress(json)
            let zip = ["Content-Encoding": "gzip"]
            let miscounted = String(decoding: json, as: UTF8.self).replacing(
                "\"sample_count\":1", with: "\"sample_count\":2")
            let cases: [([UInt8], [String: String], Int, String)] = [
                (Array(miscounted.utf8), [:], 400, "malformed"),
                ([], [:], 400, "malformed"),
                (Array("[[[".utf8), [:], 400, "malformed"),
                ([UInt8](repeating: 0x5b, count: 1 << 20), [:], 400, "malformed"),
                (packed, [:], 400, "malformed"),
                (json, zip, 400, "malformed"),
                (Array(packed.dropLast(5)), zip, 400, "malformed"),
                (packed + [0], zip, 400, "malformed"),
                (packed, ["Content-Encoding": "br"], 415, "unsupported_encoding"),
                (packed, ["Content-Encoding": "gzip, gzip"], 415, "unsupported_encoding"),
                (json + [UInt8](repeating: 0x20, count: 1 << 20), [:], 413, "batch_too_large"),
                (
                    try Gzip.compress(json + [UInt8](repeating: 0x20, count: 1 << 20)), zip, 413,
                    "batch_too_large"
                ),
                (try Gzip.compress([UInt8](repeating: 0, count: 50 << 20)), zip, 413, "batch_too_large"),
                ([UInt8](repeating: 0x20, count: 3 << 20), [:], 413, "batch_too_large"),
                (try APIJSON.encode(batch((1...501).map { sample($0) })), [:], 413, "batch_too_large"),
            ]
            for (index, item) in cases.enumerated() {
                let reply = try await client.send(.post, path, item.0, headers: item.1)
                #expect(reply.status == item.2, "case \(index)")
                #expect(reply.code == item.3, "case \(index)")
            }
            for encoding in ["identity", "", "GZIP", "x-gzip"] {
                let isPacked = encoding.lowercased().contains("gzip")
                let reply = try await client.send(
                    .post, path, isPacked ? packed : json, headers: ["Content-Encoding": encoding])
                #expect(reply.status == 200, "encoding \(encoding)")
            }
            #expect(try server.count("samples") == 1)
        }
    }

    @Test func aReusedSyncIDWithOtherContentIsJudgedByItsKeys() async throws {
        try await TestServer.run { server in
            let client = server.client()
            #expect(try await client.store(batch([sample(1)], syncID: "same")).accepted == 1)
            let answer = try await client.store(batch([sample(1), sample(2)], syncID: "same"))
            #expect((answer.accepted, answer.duplicates) == (1, 1))
        }
    }

    @Test func whatIsAnsweredIsInTheFile() async throws {
        try await TestServer.run { server in
            let client = server.client()
            for seq in 1...20 as ClosedRange<UInt32> {
                _ = try await client.store(batch([sample(seq)]))
                // Through a connection of its own: committed, not only seen by the writer.
                #expect(try server.count("samples") == Int(seq))
            }
        }
    }
}

private func onlySample(_ client: TestClient) async throws -> APISample {
    let page: SamplesPage = try await client.get("/v1/samples?device_id=band_F0F1F2F3F4F5").read()
    #expect(page.samples.count == 1)
    return page.samples[0].sample
}
