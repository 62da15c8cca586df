import Compression
import Foundation
import IngestAPI
import Testing

@testable import IngestService

@Suite struct DeviceTests {
    /// "é" as one scalar and as two: equal as Swift compares strings, two ids to a database and to a gateway.
    @Test func idsThatReadTheSameAreTwo() async throws {
        try await TestServer.run { server in
            let (client, one, two) = (server.client(), "\u{e9}", "e\u{301}")
            let samples = [one, two, one].enumerated().map { number, person in
                sample(
                    UInt32(number + 1), .steps, value: number + 1, at: march(1),
                    person: .assigned(OpaqueID(person)), offset: 0)
            }
            _ = try await client.store(batch(samples, device: "d"))
            for settled in [false, true] {
                if settled { try await server.settle() }
                for (query, sum) in [("%C3%A9", 4), ("e%CC%81", 2)] {
                    let person = "person=\(query)"
                    #expect(try await client.samples(person).map(\.sample.value).reduce(0, +) == sum)
                    let trend = try await client.aggregates(
                        "\(person)&type=steps&from=2026-03-01&to=2026-03-01")
                    #expect(trend.buckets.map(\.sum) == [sum])
                }
            }
            let listed = try await client.get("/v1/persons").read(PersonList.self).persons
            #expect(listed.map { Array($0.person.utf8) } == [Array(two.utf8), Array(one.utf8)])
            #expect(listed.map(\.devices) == [["d"], ["d"]])
            // A correction from one to the other is one.
            var corrected = samples[0]
            corrected.version = 2
            corrected.person = .assigned(OpaqueID(two))
            #expect(try await client.store(batch([corrected], device: "d")).corrected == 1)
            #expect(try await client.samples("person=e%CC%81").count == 2)
        }
    }

    /// Devices are listed with them, so they are known without a look at the samples.
    @Test func theFirstAndTheLastTimeFollowCorrections() async throws {
        try await TestServer.run { server in
            let client = server.client()
            func times() async throws -> [Int64?] {
                let state: DeviceState = try await client.get("/v1/devices/d").read()
                return [state.firstRecordedAt, state.lastRecordedAt].map {
                    $0.map { $0.milliseconds / 1000 - march(1) }
                }
            }
            func store(_ seq: UInt32, _ time: Int64, version: Int) async throws -> [Int64?] {
                let new = sample(seq, .steps, at: march(1) + time, version: version)
                _ = try await client.store(batch([new], device: "d"))
                return try await times()
            }
            #expect(try await store(1, 500, version: 1) == [500, 500])
            #expect(try await store(2, 400, version: 1) == [400, 500])
            #expect(try await store(3, 600, version: 1) == [400, 600])
            // Nothing that counts: a version that is known.
            #expect(try await store(3, 900, version: 1) == [400, 600])
            #expect(try await store(2, 700, version: 2) == [500, 700])
            #expect(try await store(2, 100, version: 3) == [100, 600])
            #expect(try await store(3, 550, version: 2) == [100, 550])
            try server.change("DELETE FROM chunks")
            #expect(try await times() == [100, 550])
        }
    }

    @Test func aLeaseIsOfOneGateway() async throws {
        try await TestServer.run { server in
            let (client, path) = (server.client(), "/v1/devices/d/lease")
            func ask(_ gateway: String) async throws -> Int {
                try await client.put(path, "{\"gateway_id\":\"\(gateway)\",\"ttl_s\":60}").status
            }
            #expect(try await ask("\u{e9}") == 200)
            #expect(try await ask("e\u{301}") == 409)
            _ = try await client.send(.delete, path + "?gateway_id=e%CC%81")
            #expect(try await ask("e\u{301}") == 409)
            #expect(try await ask("\u{e9}") == 200)
        }
    }

    @Test func aDeviceShowsItsRingsCountsTimesAndVersions() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(
                batch(
                    [sample(1, at: 100), sample(2, .steps, at: 50, version: 4)], device: "d",
                    completeThrough: 2))
            server.clock.advance(seconds: 60)
            _ = try await client.store(
                batch([sample(1, at: 900), sample(1, at: 900)], device: "d", ring: "0000000a"))
            let state: DeviceState = try await client.get("/v1/devices/d").read()
            let start = server.clock.now.milliseconds
            #expect(
                state
                    == DeviceState(
                        deviceID: "d",
                        rings: [
                            RingState(
                                ring: "b5e5d00d", completeThrough: 2, ackSeq: ["heart_rate": 1, "steps": 2],
                                firstSeen: APITime(milliseconds: start - 60_000)),
                            RingState(
                                ring: "0000000a", completeThrough: nil, ackSeq: ["heart_rate": 1],
                                firstSeen: APITime(milliseconds: start)),
                        ], maxVersion: 4, firstRecordedAt: APITime(milliseconds: 50_000),
                        lastRecordedAt: APITime(milliseconds: 900_000),
                        counts: ["heart_rate": 2, "steps": 1],
                        status: nil))
            let list: DeviceList = try await client.get("/v1/devices").read()
            #expect(list.devices == [state])
        }
    }

    @Test func correctionsMoveTheTimesAndRaiseTheVersion() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1, at: 100)], device: "d"))
            _ = try await client.store(batch([sample(1, at: 200, version: 7)], device: "d"))
            let state: DeviceState = try await client.get("/v1/devices/d").read()
            #expect(state.maxVersion == 7)
            #expect(state.firstRecordedAt == APITime(milliseconds: 200_000))
            #expect(state.counts == ["heart_rate": 1])
        }
    }

    @Test func anUnknownDeviceIs404() async throws {
        try await TestServer.run { server in
            for path in [
                "/v1/devices/d", "/v1/devices/d/ranges?by=day", "/v1/devices/d/gaps",
                "/v1/samples?device_id=d",
                "/v1/devices/a%20b", "/v1/devices/a%2Fb",
            ] {
                let reply = try await server.client().get(path)
                #expect(reply.status == 404)
                #expect(reply.code == "unknown_device")
            }
        }
    }

    @Test func rangesCountEachRingTypeAndDay() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let day: Int64 = 86_400
            _ = try await client.store(
                batch([
                    sample(1, at: -1), sample(2, at: 0), sample(3, at: day - 1), sample(4, at: day),
                    sample(5, .steps, at: day),
                ]))
            let list: RangeList = try await client.get("/v1/devices/band_F0F1F2F3F4F5/ranges?by=day").read()
            func range(_ type: APISampleType, _ day: String, _ count: Int, _ low: UInt32, _ high: UInt32)
                -> DayRange
            {
                DayRange(ring: "b5e5d00d", type: type, day: day, count: count, minSeq: low, maxSeq: high)
            }
            #expect(
                list.ranges == [
                    range(.heartRate, "1969-12-31", 1, 1, 1), range(.heartRate, "1970-01-01", 2, 2, 3),
                    range(.heartRate, "1970-01-02", 1, 4, 4), range(.steps, "1970-01-02", 1, 5, 5),
                ])
            #expect(try await client.get("/v1/devices/band_F0F1F2F3F4F5/ranges?by=hour").status == 400)
        }
    }

    /// As many as all days of five years: more than a gateway ever sends, and soon stored.
    @Test func gapsOfOneRequestAreBounded() async throws {
        try await TestServer.run { server in
            let client = server.client()
            func put(_ count: Int) async throws -> Reply {
                let gaps = (0..<count).map { number in
                    let after = APITime(milliseconds: Int64(number) * 2 * 86_400_000)
                    return APIGap(
                        ring: "b5e5d00d", firstSeq: UInt32(number * 2 + 1), lastSeq: nil, after: after,
                        before: APITime(milliseconds: after.milliseconds + 1000), cause: .overwritten)
                }
                return try await client.send(
                    .put, "/v1/devices/d/gaps", Gzip.compress(APIJSON.encode(GapList(gaps: gaps))),
                    headers: ["Content-Encoding": "gzip"])
            }
            let refused = try await put(2001)
            #expect(refused.status == 413)
            #expect(refused.code == "batch_too_large")
            #expect(try await client.get("/v1/devices/d").status == 404)
            let taken = try await put(2000)
            #expect(taken.status == 200)
            #expect(try taken.read(GapList.self).gaps.count == 2000)
            #expect(try await server.touched().count == 2000)
        }
    }

    /// One that would be too many is refused, and what is there can still be changed.
    @Test func gapsOfADeviceAreBounded() async throws {
        try await TestServer.run { server in
            let client = server.client()
            func gaps(_ seqs: some Sequence<Int>, _ cause: APIGapCause = .overwritten) -> [APIGap] {
                seqs.map { APIGap(ring: "b5e5d00d", firstSeq: UInt32($0), lastSeq: nil, cause: cause) }
            }
            func put(_ gaps: [APIGap]) async throws -> Reply {
                try await client.send(.put, "/v1/devices/d/gaps", APIJSON.encode(GapList(gaps: gaps)))
            }
            let full = IngestAPI.maxGapsPerDevice
            for first in stride(from: 1, to: full, by: 2000) {
                _ = try await server.storage.putGaps(
                    gaps(first..<min(first + 2000, full)), device: "d", account: "a")
            }
            #expect(try await put(gaps([full, full + 1])).code == "batch_too_large")
            #expect(try await put(gaps([full])).status == 200)
            #expect(try await put(gaps([1, full + 1])).status == 413)
            #expect(try await put(gaps([1, 2], .unreadable)).status == 200)
            let read = try await client.get("/v1/devices/d/gaps")
            #expect(try read.read(GapList.self).gaps.count == full)
            // As much as a gateway reads.
            #expect(read.body.count < 4 << 20)
            #expect(
                try await client.send(.put, "/v1/devices/e/gaps", APIJSON.encode(GapList(gaps: gaps([1]))))
                    .status == 200)
            #expect(server.events.all.isEmpty)
        }
    }

    /// A batch is told to come later, not that it is too large: a gateway would set its samples aside.
    @Test func ringsOfADeviceAreBounded() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let full = IngestAPI.maxRingsPerDevice
            func ring(_ number: Int) -> String { String(format: "%08x", number) }
            func put(_ rings: [Int]) async throws -> Int {
                let gaps = rings.map {
                    APIGap(ring: ring($0), firstSeq: 1, lastSeq: 2, cause: .reformatted)
                }
                return try await client.send(
                    .put, "/v1/devices/d/gaps", APIJSON.encode(GapList(gaps: gaps))
                ).status
            }
            for first in stride(from: 1, to: full, by: 2000) {
                #expect(try await put(Array(first..<min(first + 2000, full))) == 200)
            }
            #expect(try await put([full, full + 1]) == 413)
            #expect(try await client.post(batch([sample(1)], device: "d", ring: ring(full))).status == 200)
            let later = try await client.post(batch([sample(1)], device: "d", ring: ring(full + 1)))
            #expect(later.status == 503)
            #expect(later.code == "server_error")
            #expect(later.header("Retry-After") == nil)
            #expect(try await put([full + 1]) == 413)
            #expect(try await put([1, full]) == 200)
            #expect(try await client.post(batch([sample(2)], device: "d", ring: ring(1))).status == 200)
            let state = try await client.get("/v1/devices/d")
            #expect(try state.read(DeviceState.self).rings.count == full)
            // As much as a gateway reads.
            #expect(state.body.count < 1 << 20)
            #expect(
                try await client.get("/v1/devices").read(DeviceList.self).devices.map(\.rings.count) == [full]
            )
            // The storage works.
            #expect(server.events.all.isEmpty)
        }
    }

    @Test func gapsAreIdempotentByRingAndFirstSeq() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let path = "/v1/devices/d/gaps"
            let gap = APIGap(
                ring: "b5e5d00d", firstSeq: 10, lastSeq: nil, after: APITime(milliseconds: 1), before: nil,
                cause: .reformatted)
            let other = APIGap(ring: "0000000a", firstSeq: 10, lastSeq: 12, cause: .overwritten)
            func put(_ gaps: [APIGap]) async throws -> Reply {
                try await client.send(.put, path, APIJSON.encode(GapList(gaps: gaps)))
            }
            func stored() async throws -> [APIGap] { try await client.get(path).read(GapList.self).gaps }
            for _ in 0..<2 {
                let reply = try await put([gap, other])
                #expect(reply.status == 200)
                #expect(try reply.read(GapList.self).gaps == [gap, other])
                #expect(try await stored() == [other, gap])
            }
            var longer = gap
            longer.lastSeq = 20
            longer.cause = .unreadable
            longer.healedAt = APITime(milliseconds: 5)
            _ = try await put([longer])
            #expect(try await stored() == [other, longer])
            // A gateway that does not know yet can't make a healed gap a wound again.
            var late = longer
            late.healedAt = nil
            _ = try await put([late])
            #expect(try await stored() == [other, longer])
        }
    }

    @Test(arguments: [
        "", "{}", #"{"gaps":{}}"#, #"{"gaps":[{"ring":"b5e5d00d","first_seq":1}]}"#,
        #"{"gaps":[{"ring":"b5e5d00d","first_seq":1,"cause":"bad luck"}]}"#,
        #"{"gaps":[{"ring":"x","first_seq":1,"cause":"unreadable"}]}"#,
        #"{"gaps":[{"ring":"b5e5d00d","first_seq":0,"cause":"unreadable"}]}"#,
        #"{"gaps":[{"ring":"b5e5d00d","first_seq":3,"last_seq":2,"cause":"unreadable"}]}"#,
        #"{"gaps":[{"ring":"b5e5d00d","first_seq":3,"after":"today","cause":"unreadable"}]}"#,
    ])
    func aGapThatIsNotOneIsMalformedAndNothingIsKept(_ body: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.client().put("/v1/devices/d/gaps", body)
            #expect(reply.status == 400)
            #expect(reply.code == "malformed")
            #expect(try server.count("devices") == 0)
        }
    }

    @Test func aStatusIsShownWithItsDevice() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let report = DeviceReport(
                lastContact: APITime(milliseconds: 5), batteryPercent: 80, firmware: "1.2 \"x\"",
                newestSeq: 9,
                newestRecordedAt: nil, unsent: 3)
            let reply = try await client.send(.put, "/v1/devices/d/status", APIJSON.encode(report))
            #expect(reply.status == 200)
            #expect(try await client.get("/v1/devices/d").read(DeviceState.self).status == report)
            #expect(try await client.put("/v1/devices/d/status", "{}").status == 200)
            #expect(try await client.get("/v1/devices/d").read(DeviceState.self).status == DeviceReport())
            for bad in [#"{"battery_percent":101}"#, #"{"unsent":-1}"#, #"{"last_contact":"x"}"#, "[]"] {
                #expect(try await client.put("/v1/devices/d/status", bad).status == 400)
            }
        }
    }

    @Test func oneGatewayHoldsTheLeaseUntilItEnds() async throws {
        try await TestServer.run { server in
            let client = server.client()
            let path = "/v1/devices/d/lease"
            func ask(_ gateway: String, _ seconds: Int = 60) async throws -> Reply {
                try await client.put(path, #"{"gateway_id":"\#(gateway)","ttl_s":\#(seconds)}"#)
            }
            let start = server.clock.now.milliseconds
            let first: LeaseAnswer = try await ask("g1").read()
            #expect(first == LeaseAnswer(holder: "g1", expiresAt: APITime(milliseconds: start + 60_000)))
            let refused = try await ask("g2")
            #expect(refused.status == 409)
            #expect(refused.code == "lease_held")
            #expect(try refused.read(LeaseAnswer.self) == first)
            server.clock.advance(seconds: 59)
            // The holder extends it.
            #expect(
                try await ask("g1").read(LeaseAnswer.self).expiresAt == APITime(milliseconds: start + 119_000)
            )
            server.clock.advance(seconds: 59)
            #expect(try await ask("g2").status == 409)
            server.clock.advance(seconds: 1)
            #expect(try await ask("g2").status == 200)
            // Only the holder gives it back; doing so twice is fine.
            #expect(
                try await client.send(.delete, path + "?gateway_id=g1").read(LeaseAnswer.self).holder == "g2")
            for _ in 0..<2 {
                let reply = try await client.send(.delete, path + "?gateway_id=g2")
                #expect(reply.status == 200)
                #expect(try reply.read(LeaseAnswer.self) == LeaseAnswer(holder: nil, expiresAt: nil))
            }
            #expect(try await ask("g3").status == 200)
            for bad in [#"{"gateway_id":"g","ttl_s":0}"#, #"{"gateway_id":"","ttl_s":5}"#, #"{"ttl_s":5}"#] {
                #expect(try await client.put(path, bad).status == 400)
            }
            #expect(try await client.send(.delete, path).status == 400)
            #expect(try await client.send(.delete, "/v1/devices/none/lease?gateway_id=g").status == 404)
        }
    }

    @Test func personsAreKeptAsPut() async throws {
        try await TestServer.run { server in
            let client = server.client()
            #expect(try await client.get("/v1/persons/p%201").status == 404)
            let record = PersonRecord(
                label: "bed 4", zones: [.init(zone: "Asia/Kolkata", from: APITime(milliseconds: 0))])
            #expect(try await client.send(.put, "/v1/persons/p%201", APIJSON.encode(record)).status == 200)
            #expect(try await client.get("/v1/persons/p%201").read(PersonRecord.self) == record)
            #expect(try await client.put("/v1/persons/p%201", #"{"zones":[]}"#).status == 200)
            #expect(
                try await client.get("/v1/persons/p%201").read(PersonRecord.self) == PersonRecord(zones: []))
            for bad in [
                #"{"zones":[{"zone":"a b","from":"2026-01-01T00:00:00Z"}]}"#, #"{"zones":[{"zone":"UTC"}]}"#,
            ] {
                #expect(try await client.put("/v1/persons/q", bad).status == 400)
            }
            // Named by a sample only: nothing was put.
            _ = try await client.store(batch([sample(1, person: .assigned("r"))]))
            #expect(try await client.get("/v1/persons/r").status == 404)
        }
    }

    @Test func personsAreListedWithTheirBands() async throws {
        try await TestServer.run { server in
            let client = server.client()
            func list(_ token: String = "reader-a") async throws -> [PersonEntry] {
                try await server.client(token).get("/v1/persons").read(PersonList.self).persons
            }
            #expect(try await list().isEmpty)
            let zone = PersonRecord.Zone(zone: "Asia/Kolkata", from: APITime(milliseconds: 0))
            _ = try await client.send(
                .put, "/v1/persons/q", APIJSON.encode(PersonRecord(label: "bed 4", zones: [zone])))
            _ = try await client.put("/v1/persons/none", #"{"zones":[]}"#)
            _ = try await client.store(batch([sample(1, person: .assigned("q"))], device: "e"))
            _ = try await client.store(
                batch([sample(1, person: .assigned("q")), sample(2, person: .assigned("b"))], device: "d"))
            // What a band once had of somebody stays known, also when its samples became another's.
            _ = try await client.store(batch([sample(2, version: 2, person: .assigned("q"))], device: "d"))
            _ = try await server.client("gateway-b").put("/v1/persons/other", #"{"zones":[]}"#)
            #expect(
                try await list() == [
                    PersonEntry(person: "b", devices: ["d"]), PersonEntry(person: "none"),
                    PersonEntry(person: "q", label: "bed 4", zones: [zone], devices: ["d", "e"]),
                ])
            #expect(try await list("gateway-b") == [PersonEntry(person: "other")])
            let text = try await client.get("/v1/persons").text
            #expect(text.contains(#""label":null"#))
            #expect(try await client.put("/v1/persons", "{}").status == 405)
            #expect(try await client.get("/v1/persons/").status == 400)
        }
    }
}
