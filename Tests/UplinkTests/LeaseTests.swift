import GatewayModel
import HTTPClient
import IngestAPI
import Store
import Testing

@testable import Uplink

/// Who owns a band, without a thread.
@Suite struct LeaseTests {
    private func run(
        isOwn: Bool = true, wasMet: Bool = true, lease: BandLease? = nil,
        intervals: UploadIntervals = UploadIntervals()
    ) -> Run {
        let run = Run(intervals: intervals)
        run.server.contents.change { $0.leases = [:] }
        run.outbox.add([sample(1)])
        run.outbox.contents.change {
            $0.leased = [LeasedBand(device: deviceA, isOwn: isOwn, wasMet: wasMet, lease: lease)]
        }
        return run
    }

    /// The server's clock goes with the run's.
    private func pass(_ seconds: Int64, _ run: Run) {
        run.pass(.seconds(seconds)) {
            run.server.contents.change { $0.now = run.clock.wall.milliseconds / 1000 }
        }
    }

    private func lease(_ run: Run) -> BandLease? { run.outbox.contents.value.leased.first?.lease }
    private func asked(_ run: Run) -> Int { run.log.count { $0 == "PUT lease" } }
    private func hold(_ run: Run, for seconds: Int64) {
        run.server.contents.change { contents in
            contents.now = run.clock.wall.milliseconds / 1000
            contents.leases = [deviceA.text: ("gw_other", contents.now + seconds)]
        }
    }

    @Test func anOwnedBandIsAskedForAndKept() {
        let run = run()
        pass(5, run)
        #expect(lease(run)?.isOurs == true && lease(run)?.holder == "gw_ours")
        #expect(run.events.value.contains(.lease(device: deviceA, isOurs: true)))
        pass(3 * 3600, run)
        // A third of an hour apart.
        #expect((8...12).contains(asked(run)))
        let until = run.server.contents.value.leases?[deviceA.text]?.until ?? 0
        #expect(until > run.clock.wall.milliseconds / 1000 + 1800, "it never ends while the gateway is there")
    }

    @Test func historyDoesNotKeepItFromBeingRenewed() {
        let run = run()
        run.outbox.add((2...3000).map { sample($0) })
        while run.posts < 2 { _ = run.worker.step(wasWoken: false) }
        #expect(asked(run) == 1)
        run.clock.advance(by: .seconds(1300))
        for _ in 0..<4 { _ = run.worker.step(wasWoken: false) }
        #expect(asked(run) == 2 && run.outbox.count(.pending) > 0)
    }

    @Test func oneThatAnotherHoldsIsObservedUntilItIsOver() {
        let run = run()
        hold(run, for: 900)
        pass(5, run)
        #expect(lease(run)?.isOurs == false && lease(run)?.holder == "gw_other")
        #expect(run.events.value.contains(.lease(device: deviceA, isOurs: false)))
        pass(600, run)
        #expect(lease(run)?.isOurs == false && asked(run) <= 4)
        pass(310, run)
        #expect(lease(run)?.isOurs == true, "asked for again when its time is over, not an hour later")
    }

    @Test func aHostWhoseClockIsWrongDoesNotAskInATightLoop() {
        let run = run()
        hold(run, for: 1_000_000)
        // By the host's clock it was over long ago.
        run.server.contents.change { $0.leases?[deviceA.text]?.until = 1_000_000 }
        run.server.contents.change { $0.now = 1 }
        run.pass(.seconds(100))
        #expect((5...8).contains(asked(run)))
        run.pass(.seconds(86_400))
        #expect((100...180).contains(asked(run)), "at most ten minutes apart")
        // The other one has given it back.
        run.server.contents.change { $0.leases = [:] }
        run.pass(.seconds(601))
        #expect(lease(run)?.isOurs == true)
    }

    /// A neighbour with `lease_seconds = 4` renews each second; its end is always near.
    @Test(arguments: [1, 3, 20, 59]) func anEndThatIsAlwaysNearIsNoTightLoop(_ seconds: Int64) {
        let run = run()
        run.pass(.seconds(86_400)) {
            let now = run.clock.wall.milliseconds / 1000
            run.server.contents.change { $0.leases = [deviceA.text: ("gw_other", now + seconds)] }
            run.server.contents.change { $0.now = now }
        }
        #expect(lease(run)?.isOurs == false)
        #expect((100...170).contains(asked(run)), "\(asked(run))")
    }

    @Test func aBandThatIsOnlyObservedOrIsLeftToWhoMeetsItIsNotAskedFor() {
        for run in [run(isOwn: false), run(wasMet: false)] {
            pass(600, run)
            #expect(asked(run) == 0)
        }
        // One that was taken over is kept before it was met.
        let taken = run(
            wasMet: false,
            lease: BandLease(isOurs: true, holder: "gw_ours", until: Timestamp(milliseconds: 0)))
        pass(10, taken)
        #expect(asked(taken) == 1)
    }

    @Test func aBandThatIsForgottenIsGivenBack() {
        let run = run()
        pass(5, run)
        run.outbox.contents.change { $0.leased[0].isOwn = false }
        pass(70, run)
        #expect(lease(run) == nil && run.server.contents.value.leases?.isEmpty == true)
        #expect(run.log.count { $0 == "DELETE lease" } == 1)
    }

    @Test func aServerWithoutLeasesIsNotedAndAskedNowAndThen() {
        let run = run()
        run.server.contents.change { $0.leases = nil }
        pass(7000, run)
        #expect(lease(run) == .notKept && asked(run) == 2 && run.outbox.count(.confirmed) == 1)
        #expect(run.owners.value == [deviceA], "it may be acknowledged now")
        #expect(run.problem == nil && !run.events.value.contains(.lease(device: deviceA, isOurs: true)))
        // There is nothing to give back.
        run.outbox.contents.change { $0.leased[0].isOwn = false }
        pass(7000, run)
        #expect(!run.log.contains("DELETE lease"))
        // It has learnt it.
        run.outbox.contents.change { $0.leased[0].isOwn = true }
        hold(run, for: 100_000)
        pass(7000, run)
        #expect(lease(run)?.holder == "gw_other" && run.owners.value == [deviceA, deviceA])
    }

    @Test func aServerThatKnowsADeviceByItsFirstBatchIsAskedAgainSoon() {
        let run = run()
        let contents = run.server.contents
        run.server.set(fault: { request, _ in
            guard request.url.hasSuffix("lease"), contents.value.samples.isEmpty else {
                return nil
            }
            return .success(ModelServer.error(APIFailure(.unknownDevice, "")))
        })
        var requests = 0
        while run.posts == 0, requests < 50 {
            _ = run.worker.step(wasWoken: false)
            requests += 1
        }
        #expect(lease(run) == nil && requests < 50, "no loop before the batch")
        pass(70, run)
        #expect(lease(run)?.isOurs == true)
    }

    static let foreign: [HTTPResponse] = [
        HTTPResponse(status: 200, body: Array("<html>log in</html>".utf8)),
        HTTPResponse(status: 200, body: Array("{}".utf8)), HTTPResponse(status: 204),
        HTTPResponse(status: 200, body: Array(#"{"holder":null,"expires_at":null}"#.utf8)),
        HTTPResponse(status: 404, body: Array("<html>".utf8)), HTTPResponse(status: 409),
    ]

    @Test(arguments: foreign) func anAnswerOfSomethingElseOwnsNothing(_ answer: HTTPResponse) {
        let run = run()
        run.server.set(fault: { request, _ in request.url.hasSuffix("lease") ? .success(answer) : nil })
        pass(7000, run)
        #expect(lease(run) == nil && run.owners.value.isEmpty)
        #expect(run.outbox.count(.confirmed) == 1 && run.problem == nil)
        run.server.set(fault: nil)
        pass(901, run)
        #expect(lease(run)?.isOurs == true && run.owners.value == [deviceA])
    }

    @Test func aLeaseThatIsNotTakenBackEndsByItself() {
        for answer in [
            HTTPResponse(status: 204), ModelServer.error(APIFailure(.methodNotAllowed, "")),
            ModelServer.error(.malformed("")), HTTPResponse(status: 200, body: Array("<html>".utf8)),
        ] {
            let run = run()
            pass(5, run)
            let tries = Locked(0)
            run.server.set(fault: { request, _ in
                guard request.method == .delete else { return nil }
                tries.change { $0 += 1 }
                return .success(answer)
            })
            run.outbox.contents.change { $0.leased[0].isOwn = false }
            pass(3600, run)
            // What is not this API's says nothing; it backs off to a quarter of an hour.
            let isForeign = answer.status == 200
            #expect((lease(run) != nil) == isForeign)
            #expect(tries.value == 1 || isForeign && tries.value < 20, "\(tries.value)")
        }
    }

    // MARK: a session asks

    private func reply(
        _ run: Run, _ device: DeviceID = deviceA, within deadline: Duration = .seconds(10)
    ) -> LeaseReply {
        run.worker.askLease(of: device, until: run.clock.monotonic + deadline)
    }

    private func ask(
        _ run: Run, _ device: DeviceID = deviceA, within deadline: Duration = .seconds(10)
    ) -> BandLease? {
        if case .said(let lease) = reply(run, device, within: deadline) { lease } else { nil }
    }

    /// A card from a drawer: its token was revoked when its gateway was replaced.
    @Test(arguments: [APIErrorCode.authenticationFailed, .forbidden])
    func aServerThatDoesNotTakeTheTokenWasReached(_ code: APIErrorCode) {
        for isToldBefore in [true, false] {
            let run = run(
                lease: BandLease(isOurs: true, holder: "gw_ours", until: Timestamp(milliseconds: 0)))
            run.server.set(fault: { request, _ in
                let isNew = request.headers.contains(HTTPHeader("Authorization", "Bearer new"))
                return isNew ? nil : .success(ModelServer.error(APIFailure(code, "")))
            })
            if isToldBefore { pass(5, run) }
            #expect(reply(run) == .refused && reply(run) == .refused)
            // The network goes: what was said last was no.
            run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
            pass(4000, run)
            #expect(reply(run) == .refused)
            run.clock.advance(by: .seconds(11))
            run.server.set(fault: nil)
            run.directory.write("new\n", to: "token")
            #expect(ask(run)?.isOurs == true)
        }
    }

    @Test func aServerThatIsNotReachedHasRefusedNothing() {
        let run = run()
        for answer in Self.outages {
            run.server.set(fault: { _, _ in answer })
            #expect(reply(run) == .unanswered)
            run.clock.advance(by: .seconds(11))
        }
        run.directory.write("two\nlines\n", to: "token")
        run.server.set(fault: nil)
        #expect(reply(run) == .unanswered, "nobody was asked")
    }

    @Test func aTokenThatMayOwnBandsByNowIsNoticed() {
        let run = run()
        run.server.set(fault: { request, _ in
            request.url.hasSuffix("lease") ? .success(ModelServer.error(APIFailure(.forbidden, ""))) : nil
        })
        pass(7300, run)
        #expect(run.board.snapshot.leaseProblem?.code == "lease_forbidden" && lease(run) == nil)
        #expect(run.events.value.count { $0 == .leaseForbidden } == 1)
        run.server.set(fault: nil)
        pass(3700, run)
        #expect(run.board.snapshot.leaseProblem == nil && lease(run)?.isOurs == true)
        #expect(run.owners.value == [deviceA])
    }

    /// A session of before goes on as the owner, while the token is refused and another gateway asks.
    @Test func aBandThatWasLostWhileTheTokenWasRefusedIsTold() {
        let run = run()
        pass(5, run)
        #expect(lease(run)?.isOurs == true)
        run.server.set(fault: { request, _ in
            let isNew = request.headers.contains(HTTPHeader("Authorization", "Bearer new"))
            return isNew ? nil : .success(ModelServer.error(APIFailure(.authenticationFailed, "")))
        })
        pass(4000, run)
        run.owners.change { $0 = [] }
        hold(run, for: 100_000)
        run.directory.write("new\n", to: "token")
        pass(4000, run)
        #expect(lease(run)?.isOurs == false && run.owners.value == [deviceA])
    }

    /// Both sessions observe, as they were told.
    @Test func eachBandThatIsOwnedAfterARefusedTokenIsTold() {
        let ours = BandLease(isOurs: true, holder: "gw_ours", until: Timestamp(milliseconds: 0))
        let run = run(lease: ours)
        run.outbox.add([sample(1, device: deviceB)])
        run.outbox.contents.change {
            $0.leased.append(LeasedBand(device: deviceB, isOwn: true, wasMet: true, lease: ours))
        }
        run.server.set(fault: { request, _ in
            let isNew = request.headers.contains(HTTPHeader("Authorization", "Bearer new"))
            return isNew ? nil : .success(ModelServer.error(APIFailure(.authenticationFailed, "")))
        })
        #expect(reply(run) == .refused && reply(run, deviceB) == .refused)
        run.server.set(fault: nil)
        run.directory.write("new\n", to: "token")
        pass(200, run)
        #expect(Set(run.owners.value) == [deviceA, deviceB] && run.owners.value.count == 2)
    }

    @Test func aServerThatKeepsNoLeasesRefusesNoToken() {
        let run = run()
        run.server.set(fault: { request, _ in
            request.url.hasSuffix("lease") ? .success(ModelServer.error(APIFailure(.forbidden, ""))) : nil
        })
        pass(60, run)
        #expect(run.board.snapshot.leaseProblem?.code == "lease_forbidden")
        run.server.set(fault: nil)
        run.server.contents.change { $0.leases = nil }
        pass(4 * 3600, run)
        #expect(lease(run) == .notKept && run.board.snapshot.leaseProblem == nil)
        #expect(run.owners.value == [deviceA], "it is told once, not each hour")
    }

    /// Sessions asked in vain a moment ago; the server has answered since.
    @Test func aServerThatCameBackIsAskedAtOnce() {
        for code in [nil, APIErrorCode.malformed] {
            let run = run()
            run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
            #expect(ask(run) == nil)
            run.server.set(fault: { request, _ in
                guard let code, request.method == .get else { return nil }
                return .success(ModelServer.error(APIFailure(code, "")))
            })
            while run.posts == 0 { _ = run.worker.step(wasWoken: false) }
            #expect(ask(run)?.isOurs == true, "\(String(describing: code))")
        }
    }

    @Test func aSessionAsksBeforeAnythingElseIsSaid() {
        let run = run(wasMet: false)
        #expect(ask(run)?.isOurs == true && lease(run)?.isOurs == true)
        #expect(run.log == ["PUT lease"], "one request")
        #expect(run.owners.value.isEmpty, "who asked knows")
        #expect(ask(run, deviceB) == nil)
        #expect(ask(run, within: .zero) == nil)
        hold(run, for: 900)
        #expect(ask(run)?.holder == "gw_other" && lease(run)?.isOurs == false)
        run.server.contents.change { $0.leases = nil }
        #expect(ask(run) == .notKept)
    }

    @Test func whoGotNoAnswerHearsTheFirstThatThereIs() {
        let run = run(wasMet: false)
        // A look that finds nobody to ask for is the last for a minute.
        pass(5, run)
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.timedOut, "")) })
        run.outbox.contents.change { $0.leased[0].wasMet = true }
        #expect(ask(run) == nil && asked(run) <= 1)
        run.server.set(fault: nil)
        // What its session reads, or the next one, wakes the upload.
        run.wake()
        pass(10, run)
        #expect(lease(run)?.isOurs == true && run.owners.value == [deviceA])
    }

    @Test func aSessionIsNotHeldUpByAServerThatIsAway() {
        let run = run()
        let tries = Locked(0)
        run.server.set(fault: { _, _ in
            tries.change { $0 += 1 }
            return .failure(HTTPFailure(.timedOut, ""))
        })
        for _ in 0..<9 {
            #expect(ask(run) == nil)
            run.clock.advance(by: .seconds(1))
        }
        #expect(tries.value == 1, "sessions that follow each other wait once")
        run.clock.advance(by: .seconds(2))
        run.server.set(fault: nil)
        #expect(ask(run)?.isOurs == true, "the upload's own waits are not the session's")
    }

    /// A server that answers is there, though it does not say whose the band is.
    @Test(arguments: [APIErrorCode.unknownDevice, .malformed]) func anAnswerSilencesNobody(
        _ code: APIErrorCode
    ) {
        let run = run()
        run.outbox.contents.change {
            $0.leased.append(LeasedBand(device: deviceB, isOwn: true, wasMet: true, lease: nil))
        }
        let tries = Locked(0)
        run.server.set(fault: { request, _ in
            guard request.url.contains(deviceA.text) else { return nil }
            tries.change { $0 += 1 }
            return .success(ModelServer.error(APIFailure(code, "")))
        })
        #expect(ask(run) == nil)
        #expect(
            ask(run, deviceB)?.isOurs == true,
            "another band is another question")
        #expect(ask(run) == nil && tries.value == 2)
        run.server.set(fault: nil)
        #expect(ask(run)?.isOurs == true)
    }

    static let outages: [Result<HTTPResponse, HTTPFailure>] = [
        .failure(HTTPFailure(.cannotConnect, "")), .success(HTTPResponse(status: 502)),
        .success(HTTPResponse(status: 200, body: Array("<html>".utf8))),
    ]

    @Test(arguments: outages.indices) func whereNobodyAnswersTheNextBandDoesNotWait(_ index: Int) {
        let run = run()
        run.outbox.contents.change {
            $0.leased.append(LeasedBand(device: deviceB, isOwn: true, wasMet: true, lease: nil))
        }
        let answer = Self.outages[index]
        let tries = Locked(0)
        run.server.set(fault: { _, _ in
            tries.change { $0 += 1 }
            return answer
        })
        #expect(ask(run) == nil)
        #expect(ask(run, deviceB) == nil)
        #expect(tries.value == 1)
    }

    @Test func aNewTokenAsksForLeasesAgain() {
        let run = run()
        run.server.set(fault: { request, _ in
            let isNew = request.headers.contains(HTTPHeader("Authorization", "Bearer new"))
            guard !isNew, request.url.hasSuffix("lease") else { return nil }
            return .success(ModelServer.error(APIFailure(.forbidden, "not bands")))
        })
        pass(86_400, run)
        #expect(run.outbox.count(.confirmed) == 1 && run.problem == nil)
        #expect(run.events.value.count { $0 == .leaseForbidden } == 1, "said once")
        #expect(ask(run) == nil)
        let shown = run.board.snapshot.leaseProblem
        #expect(shown?.code == "lease_forbidden" && shown?.remedy.contains("token_file") == true)
        run.directory.write("new\n", to: "token")
        pass(130, run)
        #expect(run.board.snapshot.leaseProblem == nil)
        #expect(lease(run)?.isOurs == true)
    }

    @Test func aNetworkThatComesAsksForLeases() {
        let run = run()
        pass(5, run)
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
        pass(86_400, run)
        run.server.set(fault: nil)
        let before = asked(run)
        run.worker.prompted()
        pass(3, run)
        #expect(asked(run) == before + 1)
    }

    @Test func aServerThatAnswersForTheFirstTimeIsAskedAtOnce() {
        let run = run()
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
        // Sessions asked it in vain, less often each time.
        for _ in 0..<8 {
            #expect(ask(run) == nil)
            run.clock.advance(by: .seconds(11))
        }
        run.server.set(fault: nil)
        var seconds = 0
        while run.posts == 0, seconds < 2000 {
            pass(1, run)
            seconds += 1
        }
        pass(3, run)
        #expect(lease(run)?.isOurs == true)
    }

    @Test func leasesAreTriedAtTheUploadsPace() {
        var intervals = UploadIntervals()
        intervals.limits.backOff = .init(first: .seconds(3600), longest: .seconds(7200))
        let run = run(intervals: intervals)
        let tries = Locked(0)
        run.server.set(fault: { request, _ in
            guard request.url.hasSuffix("lease") else { return nil }
            tries.change { $0 += 1 }
            return .success(HTTPResponse(status: 500))
        })
        pass(1700, run)
        #expect(tries.value == 1)
    }

    @Test func withoutAnAnswerWhatWasSaidLastHolds() {
        let run = run()
        pass(5, run)
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.cannotConnect, "")) })
        run.restart()
        pass(86_400, run)
        #expect(lease(run)?.isOurs == true)
    }

    @Test func aPauseKeepsTheLease() {
        let run = run()
        pass(5, run)
        let requests = run.posts
        run.outbox.add([sample(2)])
        run.outbox.contents.change { $0.record.pause = UploadPause(since: run.clock.wall) }
        run.worker.pauseChanged()
        pass(3 * 3600, run)
        #expect(run.posts == requests && asked(run) >= 8)
    }
}
