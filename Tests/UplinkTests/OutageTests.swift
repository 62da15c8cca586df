import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// No network, a portal, a server that lies or whose answer is lost, a database that fails.
@Suite struct OutageTests {
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
