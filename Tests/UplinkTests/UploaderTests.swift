import BandProfile
import Foundation
import GatewayModel
import HTTPClient
import IngestAPI
import Store
import Testing
import UploadDecisions

@testable import Uplink

/// The uploader as it runs: a thread, a real database, a real server on loopback.
@Suite struct UploaderTests {
    /// A store with bands in it and an uploader beside it.
    final class Gateway {
        let directory = TemporaryDirectory()
        let store: Store
        let events = Locked<[UploadEvent]>([])
        let states = Locked<[DeviceID: ServerDeviceState?]>([:])
        let uploader: Uploader

        init(
            url: String?, idle: Duration = .milliseconds(200), request: Duration = .seconds(60),
            backOff: BackOff.Limits = .init(first: .milliseconds(10), longest: .milliseconds(50))
        ) throws {
            let states = states
            let events = events
            let token = directory.write("secret\n", to: "token")
            store = try Store.open(
                directory: directory.path, now: { Timestamp(milliseconds: 1_793_079_060_000) })
            var intervals = UploadIntervals(
                merge: .milliseconds(20), idle: idle, report: .milliseconds(300),
                tokenCheck: .milliseconds(50))
            intervals.requestDeadline = request
            intervals.limits.backOff = backOff
            uploader = Uploader(
                settings: UploadSettings(url: url, tokenFile: token, intervals: intervals),
                stateDirectory: directory.path,
                log: { event in events.change { $0.append(event) } },
                serverState: { device, state in states.change { $0[device] = .some(state) } })
        }

        func add(_ device: DeviceID, address: UInt64, _ seqs: ClosedRange<UInt32>) async throws {
            try await store.adopt(
                address: BluetoothAddress(bits: address), device: device, mode: .own, name: nil,
                configured: true)
            let records = seqs.map {
                TimedRecord(
                    record: HistoryRecord(
                        seq: $0, seconds: 1_793_000_000 + $0, type: SampleType.heartRate.rawValue, value: 60),
                    clockID: 3)
            }
            _ = try await store.commit(
                Chunk(ring: ring, records: records, through: seqs.upperBound), of: device,
                clock: ClockReading(
                    clockID: 3, bandTimeMilliseconds: 1_793_000_000_000,
                    hostTime: Timestamp(milliseconds: 1_793_000_000_000), hostMonotonicMilliseconds: 1,
                    bootID: "boot", boundMilliseconds: 20, bandSecondsSinceBoot: 1))
        }

        func add(_ seqs: ClosedRange<UInt32>) async throws {
            try await add(deviceA, address: 0xf0f1_f2f3_f4f5, seqs)
        }

        var problem: String? { uploader.snapshot.problem?.code }
    }

    static func serve(_ model: ModelServer, port: UInt16 = 0) throws -> ScriptedServer {
        try ScriptedServer(port: port) { .proper(model.answer($0)) }
    }

    @Test func whatIsCommittedGoesUpAndIsConfirmed() async throws {
        let model = ModelServer()
        let server = try Self.serve(model)
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...1200)
        gateway.uploader.start()
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 })
        #expect(model.contents.value.samples.count == 1200)
        #expect(model.contents.value.completeThrough[deviceA.text] == 1200)
        // A device that the server does not know yet is said to be one.
        #expect(gateway.states.value[deviceA] == .some(.none))
        try await gateway.add(1201...1300)
        gateway.uploader.wake()
        #expect(await eventually { model.contents.value.samples.count == 1300 })
        #expect(await eventually { model.contents.value.completeThrough[deviceA.text] == 1300 })
        #expect(await eventually { model.contents.value.reports[deviceA.text] != nil })
        let outbox = try Outbox(directory: gateway.directory.path, now: { Timestamp(milliseconds: 0) })
        #expect(await eventually { (try? outbox.pendingCount()) == 0 })
        #expect(await gateway.uploader.stop(deadline: .seconds(30)))
        #expect(gateway.uploader.snapshot.state == .stopped)
    }

    @Test func aServerThatGoesAndComesBackGetsEachSampleOnce() async throws {
        let model = ModelServer()
        let first = try Self.serve(model)
        let gateway = try Gateway(url: first.url)
        try await gateway.add(1...2000)
        gateway.uploader.start()
        #expect(await eventually { !model.contents.value.samples.isEmpty })
        first.stop()
        try await gateway.add(2001...2500)
        gateway.uploader.wake()
        #expect(await eventually { gateway.problem == "network_timeout" })
        // Another test may have the port for a moment.
        var second: ScriptedServer?
        #expect(
            await eventually {
                second = try? Self.serve(model, port: first.port)
                return second != nil
            })
        defer { second?.stop() }
        #expect(await eventually { model.contents.value.samples.count == 2500 })
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 && gateway.problem == nil })
        #expect(model.contents.value.brokenPromises.isEmpty)
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    @Test func aStopEndsARequestThatHangs() async throws {
        let server = try ScriptedServer { _ in .hang }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...10)
        gateway.uploader.start()
        #expect(await eventually { !server.requests.isEmpty })
        #expect(await gateway.uploader.stop(deadline: .seconds(15)), "long before the request's own deadline")
        #expect(await gateway.uploader.stop(deadline: .seconds(1)), "a second stop is harmless")
        #expect(await gateway.uploader.ask(deviceA, deadline: .seconds(60)) == .unreachable)
    }

    @Test func aSlowServerTimesOutAndIsTriedAgain() async throws {
        let model = ModelServer()
        let isFirst = Locked(true)
        let server = try ScriptedServer { request in
            guard request.method == .post,
                isFirst.change({ first in
                    defer { first = false }; return first
                })
            else {
                return .proper(model.answer(request))
            }
            _ = model.answer(request)
            return .hang
        }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url, request: .milliseconds(300))
        try await gateway.add(1...10)
        gateway.uploader.start()
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 })
        #expect(model.contents.value.contentBySyncID.count == 1)
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    static let foreign: [ScriptedServer.Reply] = [
        .proper(HTTPResponse(status: 302, headers: [HTTPHeader("Location", "http://127.0.0.1:1/")])),
        .proper(HTTPResponse(status: 200, body: Array("<html>log in</html>".utf8))),
        .bytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"sync_id\":"), .hangUp,
        .bytes("SSH-2.0-x\r\n"),
    ]

    @Test(arguments: foreign.indices) func noForeignAnswerTouchesARow(_ index: Int) async throws {
        let reply = Self.foreign[index]
        let isForeign = Locked(true)
        let model = ModelServer()
        let server = try ScriptedServer { isForeign.value ? reply : .proper(model.answer($0)) }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...10)
        gateway.uploader.start()
        #expect(await eventually { server.requests.count >= 5 })
        #expect(gateway.problem == (index < 2 || index == 4 ? "not_this_api" : "network_timeout"))
        #expect(gateway.uploader.snapshot.pending == 10)
        isForeign.change { $0 = false }
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 && gateway.problem == nil })
        #expect(model.contents.value.samples.count == 10)
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    @Test func aServerThatSaysYesAndStoresNothingIsNotBelievedAndGetsItAllLater() async throws {
        let model = ModelServer()
        let kind = Locked(0)
        let honest = 5
        let server = try ScriptedServer { request in
            guard request.method == .post, kind.value < honest else { return .proper(model.answer(request)) }
            // As the proper answer of a server that forgets it at once.
            guard var answer = try? BatchAnswer.decoded(ModelServer().answer(request)) else { return .hangUp }
            switch kind.value {
            case 0: answer.accepted -= 1
            case 1: answer.ackSeq = answer.ackSeq.mapValues { _ in 0 }
            case 2: answer.ackSeq = [:]
            case 3: answer.syncID = "00000000-0000-4000-8000-000000000000"
            default: return .proper(HTTPResponse(status: 200, body: Array("{}".utf8)))
            }
            return .proper(HTTPResponse(status: 200, body: (try? APIJSON.encode(answer)) ?? []))
        }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...700)
        gateway.uploader.start()
        for wanted in [
            "answer_inconsistent", "nothing_confirmed", "nothing_confirmed", "answer_inconsistent",
            "not_this_api",
        ] {
            let before = server.requests.count
            #expect(await eventually { gateway.problem == wanted && server.requests.count > before + 2 })
            #expect(gateway.uploader.snapshot.pending == 700)
            #expect(gateway.uploader.snapshot.lastSuccess == nil)
            kind.change { $0 += 1 }
        }
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 && gateway.problem == nil })
        #expect(model.contents.value.samples.count == 700)
        #expect(model.contents.value.samples.values.allSatisfy { $0.timesNew == 1 })
        await gateway.uploader.stop(deadline: .seconds(30))
        let outbox = try Outbox(directory: gateway.directory.path, now: { Timestamp(milliseconds: 0) })
        #expect(try outbox.pendingCount() == 0)
        #expect(try outbox.completeThrough(deviceA, ring) == 700)
    }

    @Test func whatALyingServerWasSentIsStillThereAfterARestart() async throws {
        let server = try ScriptedServer { request in
            guard request.method == .post,
                var answer = try? BatchAnswer.decoded(ModelServer().answer(request))
            else { return .proper(ModelServer.error(APIFailure(.unknownDevice, ""))) }
            answer.ackSeq = [:]
            return .proper(HTTPResponse(status: 200, body: (try? APIJSON.encode(answer)) ?? []))
        }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...700)
        gateway.uploader.start()
        #expect(await eventually { gateway.problem == "nothing_confirmed" })
        await gateway.uploader.stop(deadline: .seconds(30))
        let outbox = try Outbox(directory: gateway.directory.path, now: { Timestamp(milliseconds: 0) })
        #expect(try outbox.pendingCount() == 700)
        #expect(try outbox.completeThrough(deviceA, ring) == nil)
    }

    @Test func aNetworkThatComesEndsALongWait() async throws {
        let isThere = Locked(false)
        let model = ModelServer()
        let server = try ScriptedServer { isThere.value ? .proper(model.answer($0)) : .hangUp }
        defer { server.stop() }
        let gateway = try Gateway(
            url: server.url, backOff: .init(first: .seconds(3600), longest: .seconds(3600)))
        try await gateway.add(1...10)
        gateway.uploader.start()
        #expect(await eventually { gateway.problem == "network_timeout" })
        isThere.change { $0 = true }
        gateway.uploader.network(NetworkState(isUp: true), came: true)
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 && gateway.problem == nil })
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    @Test func twoBandsGoUpSideBySide() async throws {
        let model = ModelServer()
        let server = try Self.serve(model)
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...1500)
        try await gateway.add(deviceB, address: 2, 1...1500)
        gateway.uploader.start()
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 })
        let posts = model.contents.value.log.filter { $0.hasPrefix("POST") }
        #expect(posts.count == 6)
        for pair in zip(posts, posts.dropFirst()) { #expect(pair.0 != pair.1) }
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    @Test func aPoisonRecordIsQuarantinedAndNamedInAGap() async throws {
        let model = ModelServer()
        model.set(poison: { $0.seq == 77 })
        let server = try Self.serve(model)
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...300)
        gateway.uploader.start()
        #expect(await eventually { model.contents.value.gaps[deviceA.text]?.first?.firstSeq == 77 })
        #expect(await eventually { gateway.uploader.snapshot.pending == 0 })
        #expect(model.contents.value.samples.count == 299)
        #expect(model.contents.value.gaps[deviceA.text]?.map(\.cause) == [.unreadable])
        #expect(gateway.problem == nil)
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    @Test func aSampleCorrectedWhileItsBatchIsUnderWayGoesAgain() async throws {
        let model = ModelServer()
        let isHeld = Locked(true)
        let server = try ScriptedServer { request in
            let answer = model.answer(request)
            // The answer to the first batch waits for the correction.
            if request.method == .post { while isHeld.value { Thread.sleep(forTimeInterval: 0.005) } }
            return .proper(answer)
        }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...20)
        gateway.uploader.start()
        #expect(await eventually { model.contents.value.samples.count == 20 })
        let changed = try await gateway.store.correct(deviceA, ring: ring, 5...6) { fields, _ in
            fields.recordedAt += 1000
        }
        #expect(changed == 2)
        isHeld.change { $0 = false }
        #expect(
            await eventually {
                model.contents.value.samples.values.count { $0.sample.version > 1 } == 2
                    && gateway.uploader.snapshot.pending == 0
            })
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    // MARK: questions

    @Test func aQuestionIsAnsweredInFrontOfTheBacklog() async throws {
        let model = ModelServer()
        let server = try Self.serve(model)
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        gateway.uploader.start()
        #expect(await gateway.uploader.ask(deviceA, deadline: .seconds(60)) == .unknownDevice)
        try await gateway.add(1...10)
        gateway.uploader.wake()
        #expect(await eventually { model.contents.value.samples.count == 10 })
        #expect(
            await gateway.uploader.ask(deviceA, deadline: .seconds(60))
                == .knows(
                    ServerDeviceState(
                        rings: [.init(ring: ring, completeThrough: 10)], maxVersion: 1)))
        await gateway.uploader.stop(deadline: .seconds(30))
    }

    @Test func aQuestionEndsAtItsDeadlineAlsoWhenTheThreadIsBusy() async throws {
        let server = try ScriptedServer { _ in .hang }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        try await gateway.add(1...10)
        gateway.uploader.start()
        #expect(await eventually { !server.requests.isEmpty })
        #expect(await gateway.uploader.ask(deviceA, deadline: .milliseconds(100)) == .unreachable)
        #expect(await gateway.uploader.stop(deadline: .seconds(30)))
    }

    @Test(arguments: [APIErrorCode.notFound, .methodNotAllowed])
    func aServerWithoutLeasesHasNoneForAPersonEither(_ code: APIErrorCode) async throws {
        let server = try ScriptedServer { _ in .proper(ModelServer.error(APIFailure(code, ""))) }
        defer { server.stop() }
        let gateway = try Gateway(url: server.url)
        gateway.uploader.start()
        let holder = try await gateway.uploader.leaseHolder(of: deviceA, gateway: "gw_1")
        let requested = try await gateway.uploader.requestLease(of: deviceA, gateway: "gw_1")
        #expect(holder == nil && requested == nil)
        try await gateway.uploader.releaseLease(of: deviceA, gateway: "gw_1")
        #expect(await gateway.uploader.stop(deadline: .seconds(30)))
    }

    @Test func withoutAServerEveryQuestionSaysSo() async throws {
        let gateway = try Gateway(url: nil)
        gateway.uploader.start()
        #expect(await gateway.uploader.ask(deviceA, deadline: .seconds(60)) == .noServer)
        #expect(gateway.uploader.snapshot.state == .off)
        #expect(await gateway.uploader.stop(deadline: .seconds(30)))
    }

    @Test func aMissingDatabaseIsSaidAndWaitedFor() async throws {
        let directory = TemporaryDirectory()
        let token = directory.write("secret", to: "token")
        var intervals = UploadIntervals()
        intervals.limits.backOff = .init(first: .milliseconds(10), longest: .milliseconds(50))
        let uploader = Uploader(
            settings: UploadSettings(url: "http://127.0.0.1:1", tokenFile: token, intervals: intervals),
            stateDirectory: directory.path + "/none", log: { _ in }, serverState: { _, _ in })
        uploader.start()
        #expect(await eventually { uploader.snapshot.problem?.code == "outbox_failed" })
        #expect(await uploader.stop(deadline: .seconds(30)))
    }
}
