import IngestAPI
import Testing

@testable import IngestService

@Suite struct AggregatesTests {
    private static let good = "device_id=d&type=steps&from=2026-03-01&to=2026-03-02"

    @Test func aDayOfEachTypeIsAsTheContractSays() async throws {
        try await TestServer.run { server in
            let client = server.client()
            var samples = (0..<40).map {
                sample(UInt32($0 + 1), value: 60 + Int($0), at: march(2, 1, Int($0)))
            }
            samples.append(sample(100, value: 200, at: march(2, 3), flags: 0))
            samples.append(sample(101, value: 201, at: march(2, 3), uncertain: true))
            samples.append(sample(102, .steps, value: 11, at: march(2, 1)))
            samples.append(sample(103, .steps, value: 31, at: march(2, 20)))
            samples.append(sample(104, .spo2, value: 970, at: march(2, 1)))
            samples.append(sample(105, .sleepStage, value: 1, at: march(2, 1), flags: 0))
            samples.append(sample(106, .sleepStage, value: 4, at: march(2, 1, 30)))
            _ = try await client.store(batch(samples, device: "d"))
            let query = "device_id=d&from=2026-03-02&to=2026-03-02"

            let rate = try await client.get("/v1/aggregates?\(query)&type=heart_rate&bucket=day")
            #expect(
                rate.text == """
                    {"bucket":"day","buckets":[{"count":40,"local_date":"2026-03-02","max":99,"mean":79.5,"min":60,\
                    "minutes_in_day":1440,"offset_min":330,"resting":74.5,"start":"2026-03-01T18:30:00.000Z"}],\
                    "type":"heart_rate"}
                    """)
            // 20:00 UTC is on the next day of the wearer.
            let steps = try await client.aggregates("\(query)&type=steps")
            #expect(steps.buckets.map(\.sum) == [11])
            let spo2 = try await client.aggregates("\(query)&type=spo2")
            #expect(spo2.buckets.map(\.max) == [970])
            let sleep = try await client.aggregates("\(query)&type=sleep_stage")
            #expect(sleep.buckets.map(\.minutes?.light.value) == [30])
            #expect(sleep.buckets.map(\.count) == [2])
            let hours = try await client.aggregates("\(query)&type=steps&bucket=hour")
            #expect(hours.buckets.count == 24)
            #expect(hours.buckets.first { $0.localHour == 6 }?.sum == 11)
        }
    }

    @Test func aZoneDecidesForSamplesWithoutAnOffset() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(
                batch([sample(1, .steps, value: 5, at: march(2, 20), offset: nil)], device: "d"))
            let query = "device_id=d&type=steps&from=2026-03-02&to=2026-03-03"
            for _ in 0..<2 {
                #expect(try await client.aggregates(query).buckets.map(\.count) == [1, 0])
                let there = try await client.aggregates("\(query)&tz=Asia/Kolkata")
                #expect(there.buckets.map(\.count) == [0, 1])
                #expect(there.buckets.map(\.offsetMinutes) == [330, 330])
                // Once from samples, once from what is stored.
                try await server.settle()
            }
        }
    }

    @Test func accountsAreApartAndAReaderMayAsk() async throws {
        try await TestServer.run { server in
            for (token, steps) in [("gateway-a", 3), ("gateway-b", 7)] {
                _ = try await server.client(token).store(
                    batch(
                        [sample(1, .steps, value: steps, at: march(1, 3), person: .assigned("p"))],
                        device: "d"))
            }
            for settled in [false, true] {
                if settled { try await server.settle() }
                for subject in ["device_id=d", "person=p"] {
                    let query = "\(subject)&type=steps&from=2026-03-01&to=2026-03-01"
                    for (token, steps) in [("gateway-a", 3), ("reader-a", 3), ("gateway-b", 7)] {
                        #expect(
                            try await server.client(token).aggregates(query).buckets.map(\.sum) == [steps])
                    }
                }
            }
            _ = try await server.client("gateway-b").store(batch([sample(1, at: march(1))], device: "other"))
            let reply = try await server.client("reader-a").get(
                "/v1/aggregates?device_id=other&type=steps&from=2026-03-01&to=2026-03-01")
            #expect(reply.status == 404)
            #expect(reply.code == "unknown_device")
            let nobody = try await server.client(nil).get("/v1/aggregates?\(Self.good)")
            #expect(nobody.code == "authentication_failed")
        }
    }

    @Test func whoHasNothingHasEmptyDays() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(
                batch([sample(1, at: march(1), person: .assigned("known"))], device: "d"))
            for subject in ["person=stranger", "person=known", "device_id=d"] {
                let list = try await client.aggregates("\(subject)&type=steps&from=2026-03-01&to=2026-03-03")
                #expect(list.buckets.map(\.count) == [0, 0, 0])
                #expect(
                    list.buckets.map(\.localDate.description) == ["2026-03-01", "2026-03-02", "2026-03-03"])
            }
        }
    }

    @Test func stepsOfAPersonComeFromTheBandWithMoreInTheHour() async throws {
        try await TestServer.run { server in
            let client = server.client()
            for (device, steps) in [("b1", [10, 3]), ("b2", [4, 8])] {
                let samples = steps.enumerated().map {
                    sample(
                        UInt32($0.offset + 1), .steps, value: $0.element, at: march(1, $0.offset),
                        person: .assigned("p"))
                }
                _ = try await client.store(batch(samples, device: device))
            }
            let query = "person=p&type=steps&from=2026-03-01&to=2026-03-01"
            for _ in 0..<2 {
                #expect(try await client.aggregates(query).buckets.map(\.sum) == [18])
                try await server.settle()
            }
        }
    }

    /// Queries, and what the message must name.
    static let malformed: [(String, String)] = [
        ("", "device_id"), ("device_id=d&person=p&type=steps&from=2026-03-01&to=2026-03-02", "device_id"),
        ("person=&type=steps&from=2026-03-01&to=2026-03-02", "person"),
        ("device_id=d&from=2026-03-01&to=2026-03-02", "type"),
        ("device_id=d&type=mood&from=2026-03-01&to=2026-03-02", "type"),
        ("device_id=d&type=steps&to=2026-03-02", "from"),
        ("device_id=d&type=steps&from=2026-03-01", "to"),
        ("device_id=d&type=steps&from=2026-02-29&to=2026-03-02", "from"),
        ("device_id=d&type=steps&from=2026-03-01&to=2026-03-02T00:00:00Z", "to"),
        ("device_id=d&type=steps&from=2026-03-02&to=2026-03-01", "from"),
        (good + "&from=2026-03-01", "from"), (good + "&bucket=week", "bucket"), (good + "&bucket=", "bucket"),
        (good + "&tz=Atlantis/Centre", "tz"), (good + "&tz=", "tz"), (good + "&tz=..%2Fetc%2Fpasswd", "tz"),
        (good + "&tz=EST5EDT4,M3.2.0,M11.1.0", "tz"), (good + "&tz=%2B05:30", "tz"),
        ("device_id=d&type=steps&from=2025-01-01&to=2026-02-05", "400 days"),
        ("device_id=d&type=steps&from=2026-03-01&to=2026-04-01&bucket=hour", "31 days"),
    ]

    @Test func aQueryThatCannotBeAnsweredIsMalformed() async throws {
        try await TestServer.run { server in
            _ = try await server.client().store(batch([sample(1)], device: "d"))
            for (query, word) in Self.malformed {
                let reply = try await server.client().get("/v1/aggregates?\(query)")
                #expect(reply.status == 400, "\(query)")
                #expect(reply.code == "malformed", "\(query)")
                #expect(try reply.read(ErrorBody.self).error.message.contains(word), "\(query)")
            }
            #expect(try await server.client().get("/v1/aggregates?\(Self.good)").status == 200)
        }
    }

    @Test func theLongestRangesAreAnswered() async throws {
        try await TestServer.run { server in
            let client = server.client()
            _ = try await client.store(batch([sample(1)], device: "d"))
            let days = try await client.aggregates("device_id=d&type=steps&from=2025-01-01&to=2026-02-04")
            #expect(days.buckets.count == 400)
            let hours = try await client.aggregates(
                "device_id=d&type=steps&from=2026-03-01&to=2026-03-31&bucket=hour&tz=Europe/Paris")
            #expect(hours.buckets.count == 31 * 24 - 1)
        }
    }

    @Test func otherMethodsAreNotAllowed() async throws {
        try await TestServer.run { server in
            let reply = try await server.client().put("/v1/aggregates?\(Self.good)", "{}")
            #expect(reply.status == 405)
            #expect(reply.header("Allow") == "GET")
        }
    }

    @Test(arguments: ["0000-01-01", "9999-12-31"]) func theEndsOfTheCalendarAreDays(date: String) async throws
    {
        try await TestServer.run { server in
            let client = server.client()
            let times = ["0000-01-01": APITime.earliest, "9999-12-31": APITime.latest]
            var edge = sample(1, .steps, value: 5, offset: date == "0000-01-01" ? -720 : 720)
            edge.recordedAt = try #require(times[date])
            var stage = sample(2, .sleepStage, value: 1, offset: edge.tzOffsetMinutes)
            stage.recordedAt = edge.recordedAt
            #expect(try await client.store(batch([edge, stage], device: "d")).accepted == 2)
            for _ in 0..<2 {
                for tz in ["", "&tz=Pacific/Auckland"] {
                    let steps = try await client.aggregates(
                        "device_id=d&type=steps&from=\(date)&to=\(date)\(tz)")
                    #expect(steps.buckets.map(\.sum) == [5])
                    let sleep = try await client.aggregates(
                        "device_id=d&type=sleep_stage&from=\(date)&to=\(date)\(tz)")
                    #expect(sleep.buckets.map(\.count) == [1])
                }
                try await server.settle()
            }
        }
    }
}
