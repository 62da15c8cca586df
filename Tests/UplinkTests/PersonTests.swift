import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// Persons go up before the samples that name them, and never hold them up.
@Suite struct PersonTests {
    private func person(_ id: String, shares: Bool = false, _ zones: [ZoneStay] = []) throws -> Person {
        Person(
            id: try #require(PersonID(id)), name: "Name of \(id.prefix(5))", sharesName: shares, zones: zones)
    }

    private func stay(_ zone: String, _ from: Int64) -> ZoneStay {
        ZoneStay(zone: zone, from: Timestamp(milliseconds: from))
    }

    private func run(_ persons: [Person]) -> Run {
        let run = Run()
        run.outbox.contents.change { $0.persons = persons.map { FakePerson(person: $0) } }
        return run
    }

    private func record(_ run: Run, _ id: String) -> PersonRecord? { run.server.contents.value.persons[id] }

    @Test func aNewPersonIsPutBeforeAnySample() throws {
        let run = run([try person("p_1", [stay("Europe/Berlin", 0)]), try person("p_2", shares: true)])
        run.outbox.add([sample(1)])
        _ = run.untilItWaits()
        #expect(
            run.log.filter { $0.contains("person") || $0.hasPrefix("POST") } == [
                "GET person p_1", "PUT person p_1", "GET person p_2", "PUT person p_2", "POST \(deviceA)",
            ])
        let berlin = PersonRecord.Zone(zone: "Europe/Berlin", from: APITime(milliseconds: 0))
        #expect(record(run, "p_1") == PersonRecord(zones: [berlin]), "the name stays here")
        #expect(record(run, "p_2")?.label == "Name of p_2")
        #expect(run.outbox.contents.value.persons.allSatisfy { !$0.isUnsent })
        // Looked at again now and then, and put no more.
        run.pass(.seconds(86_400))
        #expect(run.log.count { $0.hasPrefix("PUT person") } == 2)
        #expect((6...10).contains(run.log.count { $0.hasPrefix("GET person") }))
    }

    @Test func zonesThereAndHereAreUnited() throws {
        let run = run([try person("p_1", [stay("Europe/Berlin", 0)])])
        run.server.contents.change { contents in
            contents.persons["p_1"] = PersonRecord(
                label: "Oma",
                zones: [
                    .init(zone: "Asia/Kolkata", from: APITime(milliseconds: 5_000)),
                    .init(zone: "no zone!", from: APITime(milliseconds: 6_000)),
                ])
        }
        _ = run.untilItWaits()
        #expect(run.outbox.contents.value.persons.first?.seen == [[stay("Asia/Kolkata", 5_000)]])
        #expect(record(run, "p_1")?.zones.map(\.zone) == ["Europe/Berlin", "Asia/Kolkata"])
        #expect(record(run, "p_1")?.label == "Oma", "what somebody else shared is theirs")
        #expect(run.marks.value == 1, "samples may have other offsets now")
    }

    @Test func whatTheServerHasAlreadyIsNotPut() throws {
        let run = run([try person("p_1", shares: true)])
        run.server.contents.change { $0.persons["p_1"] = PersonRecord(label: "Name of p_1", zones: []) }
        run.outbox.contents.change { $0.persons[0].isUnsent = false }
        _ = run.untilItWaits()
        #expect(run.log.filter { $0.contains("person") } == ["GET person p_1"])
        // A server that lost them gets them again.
        run.server.contents.change { $0.persons = [:] }
        run.pass(.seconds(22_000))
        #expect(record(run, "p_1")?.label == "Name of p_1")
    }

    static let ids: [String] = ["p%201", #"a"b\c"#, "..", "100%", "a?b#c;d:e@f&g=h+i"]

    @Test(arguments: ids) func anIDIsOneSegmentOfThePath(_ id: String) throws {
        let urls = Locked<[String]>([])
        let run = run([try person(id)])
        run.server.set(fault: { request, _ in
            guard request.url.contains("persons") else { return nil }
            urls.change { $0.append(request.url) }
            return .success(
                request.method == .get
                    ? ModelServer.error(APIFailure(.notFound, ""))
                    : HTTPResponse(status: 200, body: request.body))
        })
        _ = run.untilItWaits()
        let url = try #require(urls.value.first)
        let segment = try #require(url.split(separator: "/").last)
        #expect(String(segment).removingPercentEncoding == id)
        #expect(segment.allSatisfy { $0.isLetter || $0.isNumber || "-._~%".contains($0) } && segment != "..")
        #expect(urls.value == [url, url])
    }

    static let failures: [HTTPResponse] = [
        HTTPResponse(status: 500), HTTPResponse(status: 404), ModelServer.error(APIFailure(.forbidden, "")),
        ModelServer.error(.malformed("no")), HTTPResponse(status: 302),
        HTTPResponse(status: 200, body: Array("<html>".utf8)),
    ]

    @Test(arguments: failures) func aServerThatDoesNotTakePersonsGetsTheSamples(_ failure: HTTPResponse)
        throws
    {
        for method in [HTTPRequest.Method.get, .put] {
            let run = run([try person("p_1"), try person("p_2")])
            let tries = Locked(0)
            run.server.set(fault: { request, _ in
                guard request.url.contains("persons"), request.method == method else { return nil }
                tries.change { $0 += 1 }
                return .success(failure)
            })
            run.outbox.add([sample(1)])
            run.pass(.seconds(86_400))
            #expect(run.outbox.count(.confirmed) == 1)
            #expect(run.problem == nil)
            #expect(tries.value < 86_400 / 450 + 40, "\(tries.value) tries")
            #expect(run.outbox.contents.value.persons.allSatisfy { $0.isUnsent })
        }
    }

    @Test func onlyAPersonThatTheServerShowsIsSent() throws {
        for answer in ReportTests.silentAnswers {
            let run = run([try person("p_1", [stay("Europe/Berlin", 0)])])
            run.server.contents.change { $0.putAnswer = answer }
            run.pass(.seconds(7200))
            #expect(run.outbox.contents.value.persons.allSatisfy { !$0.isUnsent })
            #expect(run.log.filter { $0.contains("person") }.prefix(3).last == "GET person p_1", "read back")
            #expect(run.log.count { $0.hasPrefix("PUT person") } == 1)
        }
        // Taken, it says, and nothing is stored.
        let run = run([try person("p_1", [stay("Europe/Berlin", 0)])])
        run.server.set(fault: { request, _ in
            request.method == .put ? .success(HTTPResponse(status: 200, body: Array("{}".utf8))) : nil
        })
        run.pass(.seconds(7200))
        #expect(run.outbox.contents.value.persons.allSatisfy { $0.isUnsent })
        run.server.set(fault: nil)
        run.pass(.seconds(7200))
        #expect(record(run, "p_1") != nil && run.outbox.contents.value.persons.allSatisfy { !$0.isUnsent })
    }

    @Test func aPersonIsPutWhenTheServerTakesThemAgain() throws {
        let run = run([try person("p_1")])
        run.server.set(fault: { request, _ in
            request.url.contains("persons") ? .failure(HTTPFailure(.timedOut, "")) : nil
        })
        run.outbox.add([sample(1)])
        run.pass(.seconds(3600))
        #expect(run.outbox.count(.confirmed) == 1)
        run.server.set(fault: nil)
        run.pass(.seconds(901))
        #expect(record(run, "p_1") != nil)
    }

    @Test func aRefusedTokenWaitsForAnotherWithPersonsToo() throws {
        let run = run([try person("p_1")])
        run.server.set(fault: { request, _ in
            request.url.contains("persons")
                ? .success(ModelServer.error(APIFailure(.authenticationFailed, ""))) : nil
        })
        _ = run.untilItWaits()
        #expect(run.problem == "authentication_failed")
    }
}
