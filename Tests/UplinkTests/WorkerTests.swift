import BandProfile
import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// The whole uploader but its thread and its socket, step by step.
@Suite struct WorkerTests {
    @Test func aHistoryGoesUpInBatchesOf500AndThenTheWorkerRests() throws {
        let run = Run()
        run.outbox.add((1...1201).map { sample($0) })
        let wait = try #require(run.untilItWaits())
        #expect(wait >= .seconds(59))
        #expect(run.server.contents.value.batchSizes == [500, 500, 201])
        #expect(run.outbox.count(.confirmed) == 1201)
        #expect(run.server.contents.value.samples.count == 1201)
        #expect(run.board.snapshot.pending == 0)
        #expect(run.board.snapshot.lastSuccess != nil)
        #expect(run.problem == nil)
        #expect(run.server.contents.value.tokens == ["Bearer secret"])
    }

    @Test func theServersStateIsReadBeforeAnythingOfADeviceIsSent() {
        let run = Run()
        run.outbox.add([sample(1), sample(2, device: deviceB)])
        _ = run.untilItWaits()
        let log = run.log
        #expect(Set(log.prefix(2)) == ["GET \(deviceA)", "GET \(deviceB)"])
        #expect(run.states.value.count == 2)
        // At each start, not at each batch.
        run.outbox.add([sample(5)])
        run.pass(.seconds(120))
        #expect(run.log.count { $0.hasPrefix("GET") } == 2)
        run.restart()
        _ = run.untilItWaits()
        #expect(run.log.count { $0.hasPrefix("GET") } == 4)
    }

    @Test func aSampleCarriesEveryFieldOfTheContract() throws {
        let run = Run()
        var odd = sample(7, version: 4, value: 180)
        odd.offsetMinutes = nil
        odd.timeUncertain = true
        odd.timeBoundMilliseconds = 250
        odd.provenance = .user
        odd.recordedAt = Timestamp(milliseconds: -62_167_219_200_001)
        odd.wearer = .person(try #require(PersonID(#"p"1\,{}"#)))
        run.outbox.add([odd])
        _ = run.untilItWaits()
        let stored = try #require(run.server.contents.value.samples.values.first?.sample)
        #expect(
            stored
                == APISample(
                    type: .heartRate, seq: 7, value: 180, recordedAt: .earliest, tzOffsetMinutes: nil,
                    version: 4,
                    provenance: .user, bandTimeMilliseconds: odd.bandTimeMilliseconds, clockID: 3, flags: 1,
                    timeBoundMilliseconds: 250, timeUncertain: true, person: .assigned(#"p"1\,{}"#)))
    }

    @Test func whoWoreTheBandIsSaidInThreeWays() throws {
        let run = Run()
        var samples = [sample(1), sample(2), sample(4)]
        samples[1].wearer = .nobody
        samples[2].wearer = .person(try #require(PersonID("p_1")))
        run.outbox.add(samples)
        _ = run.untilItWaits()
        let stored = run.server.contents.value.samples.values.sorted { $0.sample.seq < $1.sample.seq }
        #expect(stored.map(\.sample.person) == [.unchanged, .cleared, .assigned("p_1")])
    }

    @Test func aBatchIsTheSameOnlyWithTheSameContent() throws {
        let anna = try #require(PersonID("p_anna"))
        let changes: [(inout Sample) -> Void] = [
            { $0.type = .spo2 }, { $0.seq = 9 }, { $0.value = 9 }, { $0.recordedAt.milliseconds += 1 },
            { $0.offsetMinutes = nil }, { $0.version = 2 }, { $0.provenance = .user },
            { $0.bandTimeMilliseconds += 1 }, { $0.clockID = 9 }, { $0.flags = 0 },
            { $0.timeUncertain = true },
            { $0.timeBoundMilliseconds = 9 }, { $0.wearer = .nobody }, { $0.wearer = .person(anna) },
        ]
        var variants = [sample(7)]
        for change in changes {
            variants.append(sample(7))
            change(&variants[variants.count - 1])
        }
        let prints = variants.map { BatchFingerprint(ring: ring, completeThrough: 1, samples: [$0]) }
        for (index, print) in prints.enumerated() {
            #expect(prints.firstIndex(of: print) == index)
            #expect(BatchFingerprint(ring: ring, completeThrough: 2, samples: [variants[index]]) != print)
        }
    }

    @Test func twoDevicesTakeTurns() {
        let run = Run()
        run.outbox.add((1...2000).map { sample($0) } + (1...2000).map { sample($0, device: deviceB) })
        _ = run.untilItWaits()
        let posts = run.log.filter { $0.hasPrefix("POST") }
        #expect(posts.count == 8)
        for pair in zip(posts, posts.dropFirst()) { #expect(pair.0 != pair.1) }
    }

    @Test func aBandWhoseBatchTheServerCanNotTakeDoesNotHoldUpTheOther() {
        let run = Run()
        run.server.set(fault: { request, proper in
            // Only batches of A make the server fail.
            let response = proper()
            let isA = request.method == .post && !response.body.isEmpty
            guard isA, (try? BatchAnswer.decoded(response))?.ackSeq["spo2"] == 1 else {
                return .success(response)
            }
            return .success(HTTPResponse(status: 500))
        })
        var poisonous = sample(1)
        poisonous.type = .spo2
        run.outbox.add([poisonous] + (1...3000).map { sample($0, device: deviceB) })
        run.pass(.seconds(600))
        #expect(
            run.outbox.contents.value.rows.count { $0.key.device == deviceB && $0.value.state == .confirmed }
                == 3000)
        #expect(run.outbox.state(1) == .pending)
        #expect(run.problem == "server_error")
    }

    @Test func aRowCorrectedWhileItsBatchIsUnderWayGoesAgain() {
        let run = Run()
        run.outbox.add((1...5).map { sample($0) })
        let outbox = run.outbox
        let isFirst = Locked(true)
        run.server.set(fault: { request, proper in
            let response = proper()
            if request.method == .post,
                isFirst.change({ first in
                    defer { first = false }; return first
                })
            {
                outbox.correct(3)
            }
            return .success(response)
        })
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 5)
        #expect(run.posts == 2)
        let key = ModelServer.Key(device: deviceA.text, type: .steps, seq: 3)
        #expect(run.server.contents.value.samples[key]?.sample.version == 2)
    }

    @Test func aHealedGapBelowWhatWentUpIsSentToo() {
        let run = Run()
        run.outbox.add((100...110).map { sample($0) })
        _ = run.untilItWaits()
        run.outbox.add((1...9).map { sample($0) })
        run.pass(.seconds(61))
        #expect(run.server.contents.value.samples.count == 20)
    }

    // MARK: refusals

    @Test func aPoisonSampleIsFoundAndTheRestGoesUp() {
        let run = Run()
        run.outbox.add((1...1000).map { sample($0) })
        run.server.set(poison: { [17, 18, 700].contains($0.seq) })
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 997)
        #expect(run.outbox.count(.quarantined("malformed")) == 3)
        #expect(run.outbox.state(700) == .quarantined("malformed"))
        #expect(run.problem == nil)
        #expect(run.posts < 70)
    }

    @Test func aServerThatRefusesEverythingGetsThreeSamplesSetAsideAndNotOneMore() {
        let run = Run()
        run.outbox.add((1...300).map { sample($0) })
        run.server.set(poison: { _ in true })
        run.pass(.seconds(86_400))
        #expect(run.outbox.count(.quarantined("malformed")) == 3)
        #expect(run.problem == "server_refuses")
        #expect(run.posts < 30 + 24)
        run.server.set(poison: nil)
        run.pass(.seconds(3700))
        #expect(run.outbox.count(.confirmed) == 297)
        #expect(run.problem == nil)
    }

    @Test func rejectedSamplesAreSetAsideAndHeldOnesTriedAgain() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.server.set(rejection: { [2: .badTime, 4: .consentMissing][$0.seq] })
        _ = run.untilItWaits()
        #expect(run.outbox.state(2) == .quarantined("bad_time"))
        #expect(run.outbox.state(4) == .held)
        #expect(run.outbox.count(.confirmed) == 8)
        #expect(run.posts == 1)
        run.server.set(rejection: nil)
        run.pass(.seconds(3700))
        #expect(run.outbox.state(4) == .confirmed)
        #expect(run.outbox.state(2) == .quarantined("bad_time"))
    }

    @Test func aServerWithoutGzipGetsIdentityWithTheSameSyncID() {
        let run = Run()
        run.outbox.add((1...3).map { sample($0) })
        let bodies = Locked<[String]>([])
        run.server.set(fault: { request, proper in
            guard request.method == .post else { return nil }
            let isPacked = request.headers.contains(HTTPHeader("Content-Encoding", "gzip"))
            bodies.change { $0.append(isPacked ? "gzip" : "identity") }
            return isPacked
                ? .success(ModelServer.error(APIFailure(.unsupportedEncoding, ""))) : .success(proper())
        })
        _ = run.untilItWaits()
        #expect(bodies.value == ["gzip", "identity"])
        #expect(run.outbox.count(.confirmed) == 3)
        #expect(run.events.value.contains(.compressionOff))
    }

    // MARK: outages

    @Test func aWeekWithoutNetworkIsQuietAndEndsByItself() {
        let run = Run()
        run.outbox.add((1...100).map { sample($0) })
        let tries = Locked(0)
        run.server.set(fault: { _, _ in
            tries.change { $0 += 1 }
            return .failure(HTTPFailure(.cannotResolve, ""))
        })
        run.pass(.seconds(7 * 86_400))
        #expect(run.problem == "network_timeout")
        // At most one try in each half of the longest wait, and some at the start.
        #expect(tries.value < 7 * 86_400 / 450 + 20)
        #expect(tries.value > 7 * 86_400 / 900)
        let lines = run.events.value.filter { $0.level != .debug }
        #expect(
            lines.map { "\($0.name)" } == ["upload", "upload_started", "upload_failed"], "for a whole week")
        #expect(run.events.value.count { "\($0.name)" == "upload_failed" } == tries.value)
        #expect(run.outbox.count(.pending) == 100)
        run.outbox.add([sample(101)])
        run.pass(.seconds(901))
        #expect(run.board.snapshot.pending == 101)
        run.server.set(fault: nil)
        run.pass(.seconds(901))
        #expect(run.outbox.count(.confirmed) == 101)
        #expect(run.problem == nil)
    }

    static let portals: [HTTPResponse] = [
        HTTPResponse(status: 200, body: Array("<html>log in</html>".utf8)),
        HTTPResponse(status: 302, headers: [HTTPHeader("Location", "http://portal/")]),
        HTTPResponse(status: 400, body: Array("<html>bad</html>".utf8)),
        HTTPResponse(status: 401, body: Array("<html>log in</html>".utf8)),
        HTTPResponse(status: 413), HTTPResponse(status: 511),
        HTTPResponse(status: 200, body: Array(#"{"sync_id":"x"}"#.utf8)),
    ]

    @Test(arguments: portals) func aCaptivePortalNeverTouchesARow(_ portal: HTTPResponse) {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.server.set(fault: { _, _ in .success(portal) })
        run.pass(.seconds(86_400))
        #expect(run.outbox.count(.pending) == 10)
        #expect(run.server.contents.value.log.isEmpty)
        #expect(["not_this_api", "captive_portal"].contains(run.problem))
        run.server.set(fault: nil)
        run.pass(.seconds(901))
        #expect(run.outbox.count(.confirmed) == 10)
    }

    @Test func aLyingSuccessConfirmsNothingAndIsNotRepeatedWithoutEnd() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.server.set(fault: { request, proper in
            guard request.method == .post, var answer = try? BatchAnswer.decoded(proper()) else { return nil }
            answer.ackSeq = [:]
            return .success(HTTPResponse(status: 200, body: (try? APIJSON.encode(answer)) ?? []))
        })
        run.pass(.seconds(3600))
        #expect(run.outbox.count(.pending) == 10)
        #expect(run.problem == "nothing_confirmed")
        #expect(run.posts < 25)
    }

    @Test func aHalfConfirmedBatchSendsOnlyTheOtherHalfAgain() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        let isFirst = Locked(true)
        run.server.set(fault: { request, proper in
            guard request.method == .post,
                isFirst.change({ first in
                    defer { first = false }; return first
                }),
                var answer = try? BatchAnswer.decoded(proper())
            else { return nil }
            answer.ackSeq["heart_rate"] = 5
            return .success(HTTPResponse(status: 200, body: (try? APIJSON.encode(answer)) ?? []))
        })
        _ = run.untilItWaits()
        #expect(run.server.contents.value.batchSizes.suffix(2) == [10, 3])
        #expect(run.outbox.count(.confirmed) == 10)
    }

    @Test func aLostAnswerIsRetriedWithItsSyncIDAndCountsOnce() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        let lost = Locked(3)
        run.server.set(fault: { request, proper in
            guard request.method == .post, lost.value > 0 else { return nil }
            lost.change { $0 -= 1 }
            _ = proper()
            return .failure(HTTPFailure(.connectionLost, ""))
        })
        run.pass(.seconds(60))
        let contents = run.server.contents.value
        #expect(contents.samples.count == 10)
        #expect(contents.contentBySyncID.count == 1)
        #expect(contents.brokenPromises.isEmpty)
        #expect(run.outbox.count(.confirmed) == 10)
    }

    // MARK: credentials

    @Test func aRefusedTokenIsTriedAgainWhenItsFileChanges() {
        let run = Run(token: "old\n")
        run.outbox.add((1...10).map { sample($0) })
        run.server.set(fault: { request, proper in
            guard request.headers.contains(HTTPHeader("Authorization", "Bearer new")) else {
                return .success(ModelServer.error(APIFailure(.authenticationFailed, "")))
            }
            return .success(proper())
        })
        run.pass(.seconds(1800))
        #expect(run.problem == "authentication_failed")
        #expect(run.outbox.count(.pending) == 10)
        run.directory.write("new\n", to: "token")
        run.pass(.seconds(11))
        #expect(run.outbox.count(.confirmed) == 10)
        #expect(run.problem == nil)
    }

    @Test func aTokenFileThatOthersCanReadIsNotUsed() {
        for mode in [0o644, 0o640, 0o604, 0o660] {
            let run = Run(token: nil)
            run.directory.write("secret", to: "token", mode: mode)
            run.outbox.add([sample(1)])
            run.pass(.seconds(100))
            #expect(run.problem == "token_readable_by_others")
            #expect(run.server.contents.value.tokens.isEmpty)
            run.directory.write("secret", to: "token", mode: 0o600)
            run.pass(.seconds(11))
            #expect(run.problem == nil)
            #expect(run.outbox.count(.confirmed) == 1)
        }
    }

    @Test(arguments: [
        "", " \n", "two words", "a\nb", "na\u{ef}ve", "bell\u{7}", String(repeating: "x", count: 5000),
    ])
    func aTokenThatCouldEndTheHeaderLineIsNotUsed(_ text: String) {
        let run = Run(token: text)
        run.outbox.add([sample(1)])
        run.pass(.seconds(100))
        #expect(run.problem == "token_malformed")
        #expect(run.log.isEmpty)
    }

    @Test func aMissingTokenFileIsWaitedFor() {
        let run = Run(token: nil)
        run.outbox.add([sample(1)])
        run.pass(.seconds(100))
        #expect(run.problem == "token_unreadable")
        run.directory.write("secret", to: "token")
        run.pass(.seconds(11))
        #expect(run.outbox.count(.confirmed) == 1)
    }

    @Test func theTokenIsInNoEventAndNoProblem() {
        let run = Run(token: "tell-nobody\n")
        run.outbox.add((1...3).map { sample($0) })
        run.server.set(fault: { _, _ in .success(ModelServer.error(APIFailure(.forbidden, ""))) })
        run.pass(.seconds(100))
        let said = run.events.value.map { "\($0.text) \($0.fields)" }.joined() + "\(run.board.snapshot)"
        #expect(run.problem == "forbidden")
        #expect(!said.contains("tell-nobody"))
        #expect(!said.contains("72"), "nor is a value of a sample")
    }

    // MARK: the outbox's own trouble

    @Test func aDatabaseThatCanNotBeReadIsSaidAndHeals() {
        let run = Run()
        run.outbox.add([sample(1)])
        run.outbox.contents.change { $0.failsToRead = true }
        run.pass(.seconds(3600))
        #expect(run.problem == "outbox_failed")
        run.outbox.contents.change { $0.failsToRead = false }
        run.pass(.seconds(901))
        #expect(run.outbox.count(.confirmed) == 1)
        #expect(run.problem == nil)
    }

    @Test func aFullDiskDoesNotSendTheSameBatchWithoutEnd() {
        let run = Run()
        run.outbox.add((1...500).map { sample($0) })
        _ = run.worker.step(wasWoken: false)
        run.outbox.contents.change { $0.failsToWrite = true }
        run.pass(.seconds(86_400))
        #expect(run.problem == "outbox_failed")
        #expect(run.posts < 86_400 / 450 + 20)
        run.outbox.contents.change { $0.failsToWrite = false }
        run.pass(.seconds(901))
        #expect(run.outbox.count(.confirmed) == 500)
        #expect(run.server.contents.value.samples.values.allSatisfy { $0.timesNew == 1 })
    }

    // MARK: questions

    func ask(_ run: Run, deadline: Duration = .seconds(10)) -> ServerAnswer? {
        let answer = OneShot<ServerAnswer>()
        run.worker.answer(
            Mailbox.Question(device: deviceA, until: run.clock.monotonic + deadline, answer: answer))
        return answer.peek
    }

    @Test func aQuestionIsAskedWhileTheUploadBacksOffAndItsAnswerEndsTheOutage() {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.timedOut, "")) })
        run.pass(.seconds(3600))
        #expect(ask(run) == .unreachable)
        run.server.set(fault: nil)
        #expect(ask(run) == .unknownDevice)
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 1, "without sitting the back-off out")
    }

    @Test func aQuestionWaitsForTheServerThatAskedForSilence() {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in
            .success(
                HTTPResponse(
                    status: 429, headers: [HTTPHeader("Retry-After", "100")],
                    body: ModelServer.error(APIFailure(.rateLimited, "")).body))
        })
        _ = run.untilItWaits()
        run.server.set(fault: nil)
        #expect(ask(run) == .unreachable)
        #expect(run.log.isEmpty)
        run.pass(.seconds(111))
        #expect(run.outbox.count(.confirmed) == 1)
    }

    @Test func aWrongAddressIsNoUnknownDevice() {
        let run = Run()
        run.server.set(fault: { _, _ in .success(HTTPResponse(status: 404)) })
        #expect(ask(run) == .unreachable)
        #expect(ask(run, deadline: .zero) == .unreachable)
    }

    // MARK: wake-ups

    @Test func commitsWithinASecondGoUpTogether() {
        let run = Run()
        _ = run.untilItWaits()
        for seq in 1...50 as ClosedRange<UInt32> {
            run.outbox.add([sample(seq)])
            let wait = run.worker.step(wasWoken: true)
            #expect(wait > .zero && wait <= .seconds(1))
            run.clock.advance(by: .milliseconds(10))
        }
        #expect(run.posts == 0)
        run.clock.advance(by: .milliseconds(500))
        _ = run.untilItWaits()
        #expect(run.posts == 1)
        #expect(run.outbox.count(.confirmed) == 50)
    }

    @Test func aWakeUpDoesNotShortenABackOff() {
        let run = Run()
        run.outbox.add([sample(1)])
        let tries = Locked(0)
        run.server.set(fault: { _, _ in
            tries.change { $0 += 1 }
            return .failure(HTTPFailure(.timedOut, ""))
        })
        run.pass(.seconds(600))
        let before = tries.value
        for _ in 1...100 { run.wake() }
        #expect(tries.value <= before + 1)
    }
}

extension BatchAnswer {
    static func decoded(_ response: HTTPResponse) throws -> BatchAnswer {
        try APIJSON.decode(from: response.body)
    }
}
