import Foundation
import IngestAPI
import Testing

@testable import IngestService

@Suite struct SamplesTests {
    private func pages(_ client: TestClient, _ query: String, limit: Int) async throws -> [[StoredSample]] {
        var pages: [[StoredSample]] = []
        var cursor: String?
        repeat {
            let more = cursor.map { "&cursor=\($0)" } ?? ""
            let reply = try await client.get("/v1/samples?\(query)&limit=\(limit)\(more)")
            #expect(reply.status == 200)
            let page: SamplesPage = try reply.read()
            pages.append(page.samples)
            cursor = page.nextCursor
        } while cursor != nil && pages.count < 1000
        return pages
    }

    @Test(arguments: [1, 2, 3, 7, 8, 1000]) func pagesAreOrderedWholeAndWithoutRepeats(limit: Int)
        async throws
    {
        try await TestServer.run { server in
            let client = server.client()
            // Ties in time, across rings and types, so that every part of the order counts.
            _ = try await client.store(
                batch([sample(3, at: 10), sample(1, at: 10), sample(2, at: 5)], device: "d"))
            _ = try await client.store(
                batch(
                    [sample(1, at: 10), sample(1, .steps, at: 10), sample(9, at: 1), sample(4, at: 20)],
                    device: "d", ring: "0000000a"))
            _ = try await client.store(batch([sample(1, at: 10)], device: "other"))
            let pages = try await pages(client, "device_id=d", limit: limit)
            let all = pages.joined().map {
                "\($0.sample.recordedAt.milliseconds / 1000) \($0.ring) \($0.sample.seq) \($0.sample.type)"
            }
            #expect(
                all == [
                    "1 0000000a 9 heartRate", "5 b5e5d00d 2 heartRate", "10 0000000a 1 heartRate",
                    "10 0000000a 1 steps", "10 b5e5d00d 1 heartRate", "10 b5e5d00d 3 heartRate",
                    "20 0000000a 4 heartRate",
                ])
            #expect(pages.dropLast().allSatisfy { $0.count == limit })
            #expect(pages.allSatisfy { $0.allSatisfy { $0.deviceID == "d" } })
        }
    }

    @Test func aPersonsSamplesComeFromEveryBandInOrder() async throws {
        try await TestServer.run { server in
            let client = server.client()
            for device in ["b", "a", "c"] {
                _ = try await client.store(
                    batch(
                        [
                            sample(1, at: 10, person: .assigned("p")),
                            sample(2, at: 5, person: .assigned("q")),
                        ], device: device))
            }
            for limit in [1, 2, 10] {
                let all = try await pages(client, "person=p", limit: limit).joined()
                #expect(all.map(\.deviceID) == ["a", "b", "c"])
                #expect(all.allSatisfy { $0.sample.person == .assigned("p") })
            }
        }
    }

    @Test func fromIsInclusiveAndToExclusive() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch((1...5).map { sample(UInt32($0), at: Int64($0)) }, device: "d"))
            let page: SamplesPage = try await client.get(
                "/v1/samples?device_id=d&from=1970-01-01T00:00:02.000Z&to=1970-01-01T00:00:04Z"
            ).read()
            #expect(page.samples.map(\.sample.seq) == [2, 3])
            // A plus sign in a query stands for itself only when escaped.
            let offset: SamplesPage = try await client.get(
                "/v1/samples?device_id=d&from=1970-01-01T05:30:05%2B05:30"
            ).read()
            #expect(offset.samples.map(\.sample.seq) == [5])
        }
    }

    @Test func aTypeFilters() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1), sample(2, .steps), sample(3, .spo2)], device: "d"))
            let page: SamplesPage = try await client.get("/v1/samples?device_id=d&type=steps").read()
            #expect(page.samples.map(\.sample.seq) == [2])
        }
    }

    @Test func aPageHoldsAThousandAtMost() async throws {
        try await TestServer.run { server in
            let client = server.client()
            for start in [0, 500, 1000] as [UInt32] {
                _ = try await client.store(batch((1...500).map { sample(start + $0) }, device: "d"))
            }
            for query in ["", "&limit=5000", "&limit=1000"] {
                let page: SamplesPage = try await client.get("/v1/samples?device_id=d\(query)").read()
                #expect(page.samples.count == 1000)
                #expect(page.nextCursor != nil)
            }
        }
    }

    @Test(arguments: [
        "", "device_id=d&person=p", "device_id=d&device_id=d", "device_id=d&limit=0", "device_id=d&limit=x",
        "device_id=d&limit=-1", "device_id=d&from=yesterday", "device_id=d&to=", "device_id=d&type=mood",
        "device_id=d&cursor=x", "device_id=d&cursor=1~b5e5d00d~1~steps", "device_id=d&cursor=", "person=",
        "device_id=d&from=%zz", "device_id=d&from=%ff",
    ])
    func aQueryThatCannotBeAnsweredIsMalformed(_ query: String) async throws {
        try await TestServer.run { server in
            _ = try await server.client().store(batch([sample(1)], device: "d"))
            let reply = try await server.client().get("/v1/samples?\(query)")
            #expect(reply.status == 400)
            #expect(reply.code == "malformed")
        }
    }

    @Test func everyFieldComesBack() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let sent = sample(
                7, .spo2, value: 985, at: 77, version: 3, bound: 12, uncertain: true, person: .assigned("p"),
                offset: -210, clock: 65_535, flags: 255, bandTime: .min, provenance: .user)
            _ = try await client.store(batch([sent], device: "d"))
            let reply = try await client.get("/v1/samples?device_id=d")
            #expect(
                try reply.read(SamplesPage.self).samples == [
                    StoredSample(deviceID: "d", ring: "b5e5d00d", sample: sent)
                ])
            #expect(reply.text.contains("\"tz_offset_min\":-210"))
        }
    }
}
