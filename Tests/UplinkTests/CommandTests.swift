import GatewayModel
import HTTPClient
import Locking
import Store
import Testing
import UploadDecisions

@testable import Uplink

/// What people tell the upload thread, without a thread.
@Suite struct UploadCommandTests {
    private func asked(_ run: Run) -> OneShot<UploadReport?> {
        let answer = OneShot<UploadReport?>()
        run.worker.uploadNow(answer)
        return answer
    }

    private func paused(_ run: Run, for seconds: Int64? = nil) -> UploadPause {
        let now = run.clock.wall
        let pause = UploadPause(
            since: now, until: seconds.map { Timestamp(milliseconds: now.milliseconds + $0 * 1000) })
        run.outbox.contents.change { $0.record.pause = pause }
        run.worker.pauseChanged()
        return pause
    }

    // MARK: now

    @Test func nowSendsAtOnceAndReportsWhatWentUp() throws {
        let run = Run()
        run.outbox.add((1...1200).map { sample($0) })
        run.server.set(rejection: { $0.seq == 7 ? .badTime : nil })
        let answers = [asked(run), asked(run)]
        #expect(run.untilItWaits() != nil)
        for answer in answers {
            #expect(answer.peek == UploadReport(sent: 1199, left: 0), "one run for all who asked")
        }
        #expect(run.posts == 3)
    }

    @Test func nowEndsTheGatewaysOwnWait() throws {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
        run.pass(.seconds(3600))
        run.server.set(fault: nil)
        let wait = run.worker.step(wasWoken: false)
        #expect(wait > .seconds(1), "it backs off")
        let answer = asked(run)
        _ = run.untilItWaits()
        #expect(answer.peek == UploadReport(sent: 1, left: 0))
    }

    @Test func nowSaysWhyNothingWentUp() throws {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
        let answer = asked(run)
        _ = run.untilItWaits()
        let report = try #require(answer.peek.flatMap { $0 })
        #expect(report.sent == 0 && report.left == 1 && report.problem?.code == "network_timeout")
        let until = try #require(report.waitsUntil)
        #expect(until > run.clock.wall)
    }

    @Test func nowKeepsToTheSilenceThatTheServerAskedFor() throws {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in
            .success(
                HTTPResponse(
                    status: 429, headers: [HTTPHeader("Retry-After", "1000")],
                    body: Array(#"{"error":{"code":"rate_limited","message":""}}"#.utf8)))
        })
        _ = run.untilItWaits()
        let requests = run.log.count
        let answer = asked(run)
        let report = try #require(answer.peek.flatMap { $0 })
        #expect(report.problem?.code == "rate_limited")
        let wait = (try #require(report.waitsUntil)).milliseconds - run.clock.wall.milliseconds
        #expect((999_000...1_101_000).contains(wait))
        _ = run.untilItWaits()
        #expect(run.log.count == requests)
    }

    @Test func nowTriesARefusedTokenOnceMore() throws {
        let run = Run()
        run.outbox.add([sample(1)])
        let refusal = HTTPResponse(
            status: 401, body: Array(#"{"error":{"code":"authentication_failed","message":""}}"#.utf8))
        run.server.set(fault: { _, _ in .success(refusal) })
        _ = run.untilItWaits()
        let first = asked(run)
        _ = run.untilItWaits()
        #expect((first.peek ?? nil)?.problem?.code == "authentication_failed")
        run.server.set(fault: nil)
        let second = asked(run)
        _ = run.untilItWaits()
        #expect(second.peek == UploadReport(sent: 1, left: 0))
    }

    @Test func whoWaitsIsAnsweredWhenTheThreadEnds() {
        let run = Run()
        run.outbox.add([sample(1)])
        let answer = asked(run)
        run.worker.stopCommands()
        #expect(answer.peek == .some(nil))
    }

    // MARK: pause

    @Test func whilePausedNothingGoesUpAndQuestionsAreAnswered() throws {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        let gap = Gap(ring: ring, firstSeq: 11, lastSeq: 12, cause: .overwritten)
        run.outbox.contents.change { $0.gaps[deviceA] = [gap] }
        _ = paused(run)
        run.pass(.seconds(7200))
        #expect(run.log.isEmpty && run.board.isPaused && run.board.snapshot.pending == 10)
        let question = Mailbox.Question(
            device: deviceA, until: run.clock.monotonic + .seconds(10), answer: OneShot())
        run.worker.answer(question)
        #expect(question.answer.peek == .unknownDevice)
        #expect(run.log == ["GET \(deviceA)"])
        run.restart()
        run.pass(.seconds(7200))
        #expect(run.posts == 0, "it outlives a restart")
        run.outbox.contents.change { $0.record.pause = nil }
        run.worker.pauseChanged()
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 10 && !run.board.isPaused)
    }

    @Test func aPauseForATimeEndsByItselfAndIsForgotten() {
        let run = Run()
        run.outbox.add([sample(1)])
        _ = paused(run, for: 3600)
        run.pass(.seconds(3590))
        #expect(run.posts == 0)
        run.pass(.seconds(20))
        #expect(run.posts == 1 && run.outbox.contents.value.record.pause == nil)
    }

    @Test func nowSaysThatItIsPaused() throws {
        let run = Run()
        run.outbox.add([sample(1)])
        _ = paused(run)
        let answer = asked(run)
        _ = run.untilItWaits()
        let report = try #require(answer.peek.flatMap { $0 })
        #expect(report.problem?.code == "upload_paused" && report.left == 1 && run.posts == 0)
    }

    @Test func aPauseThatCanNotBeReadIsTriedAgainAndSendsNothing() {
        let run = Run()
        run.outbox.add([sample(1)])
        _ = paused(run)
        run.outbox.contents.change { $0.failsToRead = true }
        run.pass(.seconds(60))
        #expect(run.log.isEmpty && run.problem == "outbox_failed")
        run.outbox.contents.change { $0.failsToRead = false }
        run.pass(.seconds(60))
        #expect(run.log.isEmpty && run.board.isPaused)
    }

    // MARK: retry

    @Test func whatWasRefusedGoesUpAgainWhenAPersonAsks() throws {
        let run = Run()
        run.outbox.add([sample(1), sample(2), sample(3, device: deviceB)])
        run.server.set(rejection: { $0.seq > 1 ? .badTime : nil })
        _ = run.untilItWaits()
        #expect(run.outbox.count(.quarantined("bad_time")) == 2)
        run.server.set(rejection: nil)
        #expect(try run.worker.retryRefused(deviceB).get() == 1)
        run.pass(.seconds(2))
        #expect(run.outbox.state(3, device: deviceB) == .confirmed)
        #expect(run.outbox.state(2) == .quarantined("bad_time"))
        #expect(try run.worker.retryRefused(nil).get() == 1)
        run.pass(.seconds(2))
        #expect(run.outbox.count(.confirmed) == 3)
        run.outbox.contents.change { $0.failsToWrite = true }
        guard case .failure(.outbox) = run.worker.retryRefused(nil) else {
            Issue.record("a store that fails is no success")
            return
        }
    }

    // MARK: the last failure

    @Test func theLastFailureIsKeptAndNotWrittenAtEveryTry() {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
        run.pass(.seconds(1))
        #expect(run.outbox.contents.value.record.lastErrorCode == "network_timeout")
        #expect(run.outbox.contents.value.errorsNoted == 1)
        run.pass(.seconds(3600))
        let failures = run.worker.schedule.failureCount
        #expect(failures > 10 && (3...8).contains(run.outbox.contents.value.errorsNoted))
        #expect(run.outbox.contents.value.record.lastErrorAt != nil)
    }
}
