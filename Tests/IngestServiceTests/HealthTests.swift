import Foundation
import IngestAPI
import Testing

@testable import IngestService

@Suite struct HealthTests {
    @Test func aHealthyServerSaysSoToAnyone() async throws {
        try await TestServer.run { server in
            let reply = try await server.client(nil).get("/healthz")
            #expect(reply.status == 200)
            #expect(reply.text == "ok")
            // It wrote, durably, to know.
            #expect(try server.count("probe") == 1)
        }
    }

    @Test func metricsAreOpenMetrics() async throws {
        try await TestServer.run { server in
            _ = try await server.client().store(
                batch([sample(1, value: 61), sample(1, value: 62)], device: "secret_band"))
            let reply = try await server.client(nil).get("/metrics")
            #expect(reply.status == 200)
            #expect(
                reply.header("content-type") == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(reply.text.hasSuffix("\n# EOF\n"))
            #expect(reply.text.contains("\nbandferry_ingest_samples_total{outcome=\"accepted\"} 1\n"))
            #expect(reply.text.contains("\nbandferry_ingest_samples_total{outcome=\"conflict\"} 1\n"))
            #expect(reply.text.contains("\nbandferry_ingest_storage_up 1\n"))
            #expect(!reply.text.contains("secret_band"))
            for line in reply.text.split(separator: "\n") where !line.hasPrefix("#") {
                let parts = line.split(separator: " ")
                #expect(parts.count == 2)
                #expect(Double(parts[1]) != nil)
            }
        }
    }

    @Test(.enabled(if: !TestEngine.isPostgreSQL)) func aStoreThatVanishesFailsRequestsAndHealsWhenItIsBack()
        async throws
    {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1)]))
            let files = ["", "-wal", "-shm"].map { server.storePath + $0 }
            for file in files { try FileManager.default.moveItem(atPath: file, toPath: file + ".away") }
            for _ in 0..<2 {
                let reply = try await client.post(batch([sample(2)]))
                #expect(reply.status == 503)
                #expect(reply.code == "server_error")
                #expect(reply.header("retry-after") != nil)
                #expect(!reply.text.contains(server.directory.path))
            }
            #expect(try await client.get("/healthz").status == 503)
            #expect(try await client.get("/v1/devices").status == 503)
            // Nothing was made in its place.
            #expect(!FileManager.default.fileExists(atPath: server.storePath))
            for file in files { try FileManager.default.moveItem(atPath: file + ".away", toPath: file) }
            #expect(try await client.store(batch([sample(2)])).accepted == 1)
            #expect(try await client.store(batch([sample(1)])).duplicates == 1)
            #expect(try await client.get("/healthz").status == 200)
            #expect(server.events.all.count == 2)
            #expect(server.events.all.last == .storageHealed)
        }
    }

    @Test(.enabled(if: !TestEngine.isPostgreSQL)) func aDamagedStoreFailsRequestsAndHealsWhenItIsRestored()
        async throws
    {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1)]))
            let files = ["", "-wal", "-shm"].map { server.storePath + $0 }
            for file in files { try FileManager.default.moveItem(atPath: file, toPath: file + ".away") }
            try Data(repeating: 0x2a, count: 8192).write(to: URL(fileURLWithPath: server.storePath))
            for _ in 0..<2 {
                #expect(try await client.post(batch([sample(2)])).status == 503)
                #expect(try await client.get("/v1/devices/band_F0F1F2F3F4F5").status == 503)
                #expect(try await client.get("/healthz").status == 503)
            }
            // What was found is left as it is, for somebody to look at.
            #expect(
                FileManager.default.contents(atPath: server.storePath) == Data(repeating: 0x2a, count: 8192))
            try FileManager.default.removeItem(atPath: server.storePath)
            for file in files { try FileManager.default.moveItem(atPath: file + ".away", toPath: file) }
            #expect(try await client.store(batch([sample(1)])).duplicates == 1)
            #expect(try await client.get("/healthz").status == 200)
        }
    }

    @Test func aRequestInHandIsFinishedWhenTheServerStops() async throws {
        let server = try await TestServer()
        let client = server.client()
        async let replies = (0..<20).asyncMap { seq in
            try? await client.post(batch([sample(UInt32(seq + 1))])).status
        }
        let statuses = await replies
        await server.server.stop(within: .seconds(60))
        #expect(statuses.allSatisfy { $0 == 200 })
        // The log is folded into the file, for a plain copy.
        #expect(!FileManager.default.fileExists(atPath: server.storePath + "-wal"))
        #expect(try server.count("samples") == 20)
        await #expect(throws: (any Error).self) { try await client.get("/healthz") }
    }
}

extension Sequence where Element: Sendable {
    /// All results at once, in order.
    func asyncMap<Value: Sendable>(_ body: @escaping @Sendable (Element) async -> Value) async -> [Value] {
        await withTaskGroup(of: (Int, Value).self) { group in
            for (index, element) in enumerated() { group.addTask { (index, await body(element)) } }
            var results: [(Int, Value)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
