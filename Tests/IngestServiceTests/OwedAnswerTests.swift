import HTTPServer
import IngestAPI
import Testing

@testable import IngestService
@testable import IngestStore

/// A write that is stored is answered as stored.
@Suite struct OwedAnswerTests {
    private let identity = TokenTable(["gateway-a": Identity(account: "a")])

    private func request(_ method: String, _ path: [String], _ body: some Encodable) throws -> ServerRequest {
        ServerRequest(
            method: method, path: path,
            headers: [
                HTTPField("Authorization", "Bearer gateway-a"), HTTPField("Content-Type", "application/json"),
            ], body: try APIJSON.encode(body))
    }

    /// With a client that takes none of the pages that it asks for, a token that may only read is enough for that.
    @Test func whateverTheAccountHasInHand() async throws {
        let directory = TemporaryDirectory()
        let storage = try await DatabaseStorage(
            TestEngine.make(directory), now: { TestClock().now }, rests: .untilClosed,
            limits: .untilTheTestEnds)
        let service = IngestService(storage: storage, tokens: identity)
        let slow = try await service.longAnswers.page(atMost: 1000, account: "a", rows: { _ in 1000 }) {
            String(repeating: "r", count: 16 << 20)
        }
        let gaps = (1...500).map {
            APIGap(ring: "b5e5d00d", firstSeq: UInt32($0) * 10, lastSeq: nil, cause: .overwritten)
        }
        let zones = (0..<500).map {
            PersonRecord.Zone(zone: "Asia/Kolkata", from: APITime(milliseconds: Int64($0)))
        }
        let report = DeviceReport(batteryPercent: 7)
        let lease = LeaseRequest(gatewayID: "g", ttlSeconds: 60)
        let samples = batch((1...500).map { sample(UInt32($0)) }, device: "d")
        // The same keys with other values, and with none that can be taken: the longest answers that there are.
        let conflicts = batch((1...500).map { sample(UInt32($0), .heartRate, value: 90) }, device: "d")
        let rejected = batch((1...500).map { sample(UInt32($0), bound: -1) }, device: "d")
        let device = ["v1", "devices", "d"]
        let writes = try [
            request("PUT", device + ["gaps"], GapList(gaps: gaps)),
            request("PUT", ["v1", "persons", "p"], PersonRecord(zones: zones)),
            request("PUT", device + ["status"], report), request("PUT", device + ["lease"], lease),
            request("POST", ["v1", "samples:batch"], samples),
            request("POST", ["v1", "samples:batch"], conflicts),
            request("POST", ["v1", "samples:batch"], rejected),
        ]
        for write in writes {
            let answer = await service.handle(write)
            #expect(answer.status == 200, "\(write.path)")
            #expect(answer.isOwed, "\(write.path)")
            // Those of a batch have no room beforehand: what is short always finds some.
            if write.method == "POST" { #expect(answer.body.count < 64 << 10) }
        }
        var page = try request("GET", ["v1", "samples"], [Int]())
        page.query = [HTTPField("device_id", "d")]
        let refused = await service.handle(page)
        #expect(refused.status == 503)
        #expect(!refused.isOwed)
        withExtendedLifetime(slow) {}
        await service.settle()
        await storage.close()
        _ = directory
    }
}
