import GatewayModel
import HTTPClient
import IngestAPI
import Store
import Testing

@testable import Uplink

/// Who owns a band, without a thread.
@Suite struct LeaseTests {
    private func run(isOwn: Bool = true, wasMet: Bool = true, lease: BandLease? = nil) -> Run {
        let run = Run()
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

    @Test func aBandThatIsOnlyObservedOrWasNeverMetIsNotAskedFor() {
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

    /// There nobody else can own it: it is acked as it is without a server.
    @Test func aServerWithoutLeasesLeavesTheBandToThisGateway() {
        let run = run()
        run.server.contents.change { $0.leases = nil }
        pass(7000, run)
        #expect(lease(run)?.isOurs == true && asked(run) == 2 && run.outbox.count(.confirmed) == 1)
        #expect(run.problem == nil)
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
