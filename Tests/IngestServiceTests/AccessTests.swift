import Foundation
import HTTPClient
import IngestAPI
import Testing

@testable import IngestService

@Suite struct AccessTests {
    @Test(arguments: [
        "/v1/devices", "/v1/devices/d", "/v1/devices/d/gaps", "/v1/samples?device_id=d", "/v1/nothing",
        "/x",
        "/v1/persons/p",
    ])
    func nothingIsToldWithoutAToken(_ path: String) async throws {
        try await TestServer.run { server in
            for token in [nil, "wrong", "gateway-", "gateway-a2x"] {
                let reply = try await server.client(token).get(path)
                #expect(reply.status == 401)
                #expect(reply.code == "authentication_failed")
                #expect(reply.header("www-authenticate") == "Bearer")
            }
        }
    }

    /// A browser asks without one.
    @Test func whereAPageWouldBeAServerWithoutOneSaysSo() async throws {
        try await TestServer.run { server in
            let reply = try await server.client(nil).get("/")
            #expect(reply.status == 404)
            #expect(reply.code == "not_found")
            let body = [UInt8](repeating: 0x20, count: 10)
            #expect(try await server.client(nil).send(.post, "/", body).status == 401)
        }
    }

    @Test(arguments: [
        ("Bearer gateway-a", 200), ("bearer gateway-a", 200), ("Bearer  gateway-a", 200), ("gateway-a", 401),
        ("Basic gateway-a", 401), ("Bearer", 401), ("Bearer gateway-a extra", 401), ("Bearer gateway-A", 401),
    ])
    func theHeaderIsBearerAndAToken(_ value: String, _ status: Int) async throws {
        try await TestServer.run { server in
            let reply = try await server.client(nil).send(
                .get, "/v1/devices", headers: ["Authorization": value])
            #expect(reply.status == status)
        }
    }

    @Test func aLargeBodyWithoutATokenIsRefusedForItsToken() async throws {
        try await TestServer.run { server in
            let reply = try await server.client(nil).send(
                .post, "/v1/samples:batch", [UInt8](repeating: 0x20, count: 900_000))
            #expect(reply.status == 401)
        }
    }

    @Test func aReadTokenReadsAndNeverWrites() async throws {
        try await TestServer.run { server in
            _ = try await server.client().store(batch([sample(1)], device: "d"))
            let reader = server.client("reader-a")
            for path in [
                "/v1/devices", "/v1/devices/d", "/v1/devices/d/ranges?by=day", "/v1/devices/d/gaps",
                "/v1/samples?device_id=d",
            ] {
                #expect(try await reader.get(path).status == 200)
            }
            let writes: [(HTTPRequest.Method, String)] = [
                (.post, "/v1/samples:batch"), (.put, "/v1/devices/d/gaps"), (.put, "/v1/devices/d/status"),
                (.put, "/v1/devices/d/lease"), (.delete, "/v1/devices/d/lease?gateway_id=g"),
                (.put, "/v1/persons/p"),
            ]
            for (method, path) in writes {
                let reply = try await reader.send(method, path, Array("{}".utf8))
                #expect(reply.status == 403)
                #expect(reply.code == "forbidden")
            }
            #expect(try server.count("samples") == 1)
        }
    }

    @Test func accountsNeverSeeOrTouchEachOther() async throws {
        try await TestServer.run { server in
            let (a, b) = (server.client("gateway-a"), server.client("gateway-b"))
            _ = try await a.store(
                batch([sample(1, value: 60, person: .assigned("p"))], device: "d", completeThrough: 9))
            _ = try await a.put("/v1/persons/p", #"{"label":"Ann","zones":[]}"#)
            _ = try await a.put("/v1/devices/d/lease", #"{"gateway_id":"g-a","ttl_s":60}"#)
            _ = try await a.put(
                "/v1/devices/d/gaps", #"{"gaps":[{"ring":"b5e5d00d","first_seq":2,"cause":"unreadable"}]}"#)
            for path in [
                "/v1/devices/d", "/v1/devices/d/ranges?by=day", "/v1/devices/d/gaps",
                "/v1/samples?device_id=d",
            ] {
                let reply = try await b.get(path)
                #expect(reply.status == 404)
                #expect(reply.code == "unknown_device")
            }
            #expect(try await b.send(.delete, "/v1/devices/d/lease?gateway_id=g-a").status == 404)
            #expect(try await b.get("/v1/persons/p").status == 404)
            #expect(try await b.get("/v1/devices").read(DeviceList.self).devices.isEmpty)
            #expect(try await b.get("/v1/samples?person=p").read(SamplesPage.self).samples.isEmpty)
            // The same names and the same key in b: new there, and nothing of a changes.
            #expect(
                try await b.store(batch([sample(1, value: 90, person: .assigned("p"))], device: "d")).accepted
                    == 1)
            #expect(try await b.put("/v1/devices/d/lease", #"{"gateway_id":"g-b","ttl_s":60}"#).status == 200)
            for (client, value) in [(a, 60), (b, 90)] {
                for query in ["device_id=d", "person=p"] {
                    let page: SamplesPage = try await client.get("/v1/samples?\(query)").read()
                    #expect(page.samples.map(\.sample.value) == [value])
                }
            }
            #expect(try await b.get("/v1/devices/d").read(DeviceState.self).rings[0].completeThrough == nil)
            #expect(try await b.get("/v1/devices/d/gaps").read(GapList.self).gaps.isEmpty)
        }
    }

    @Test func twoTokensOfOneAccountShareItsNames() async throws {
        try await TestServer.run { server in
            _ = try await server.client("gateway-a").store(batch([sample(1)]))
            #expect(try await server.client("gateway-a2").store(batch([sample(1)])).duplicates == 1)
        }
    }

    @Test func aTokenThatAsksTooOftenIsToldHowLongToWait() async throws {
        try await TestServer.run(requestsPerMinute: 12) { server in
            let (a, b) = (server.client("gateway-a"), server.client("gateway-b"))
            var last = try await a.get("/v1/devices")
            for _ in 0..<8 where last.status == 200 { last = try await a.get("/v1/devices") }
            #expect(last.status == 429)
            #expect(last.code == "rate_limited")
            #expect((1...5).contains(Int(last.header("retry-after") ?? "") ?? 0))
            #expect(try await b.get("/v1/devices").status == 200)
            // Another token of the same account has a limit of its own.
            #expect(try await server.client("gateway-a2").get("/v1/devices").status == 200)
            #expect(try await a.get("/healthz").status == 200)
        }
    }

    @Test(arguments: [
        ("GET", "/v1/nothing", 404), ("GET", "/v2/devices", 404), ("GET", "/v1", 404), ("GET", "/", 404),
        ("GET", "/v1/devices/d/more", 404), ("GET", "/v1/devices/d/gaps/1", 404),
        ("POST", "/v1/devices", 405), ("GET", "/v1/samples:batch", 405), ("DELETE", "/v1/persons/p", 405),
        ("PUT", "/v1/devices/d", 405), ("POST", "/v1/aggregates", 405), ("DELETE", "/v1/devices/d/gaps", 405),
        ("POST", "/healthz", 405),
    ])
    func whatIsNotThereIs404AndWhatCannotBeDone405(_ method: String, _ path: String, _ status: Int)
        async throws
    {
        try await TestServer.run { server in
            let known = try #require(HTTPRequest.Method(rawValue: method))
            let reply = try await server.client().send(known, path)
            #expect(reply.status == status)
            #expect(reply.code == (status == 404 ? "not_found" : "method_not_allowed"))
            if status == 405 { #expect(reply.header("allow") != nil) }
        }
    }
}
