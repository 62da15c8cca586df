import GatewayModel
import HTTPClient
import IngestAPI
import Locking
import Testing
import UploadDecisions

@testable import Uplink

/// What holds the upload back though nothing failed, and what makes it try sooner. The clock of a run begins at 05:47:40
/// UTC.
@Suite struct LimitTests {
    private func minuteNow(_ run: Run) -> Int {
        MeteredHours.minute(of: APITime(run.clock.wall), offsetMinutes: run.hostOffset.value)
    }

    // MARK: metered

    /// From one minute ahead for ten minutes.
    private func meteredRun(offset: Int = 0) -> Run {
        let clock = FakeClock()
        let now = MeteredHours.minute(of: APITime(clock.wall), offsetMinutes: offset)
        let hours = MeteredHours([.init(from: (now + 1) % 1440, to: (now + 11) % 1440)])
        let run = Run(limits: SendLimits(meteredHours: hours), clock: clock)
        run.hostOffset.change { $0 = offset }
        return run
    }

    @Test(arguments: [0, 330, 1090, -600]) func historyWaitsInMeteredHoursAndGoesAfterThem(_ offset: Int) {
        let run = meteredRun(offset: offset)
        run.clock.advance(by: .seconds(61))
        run.outbox.add((1...1000).map { sample($0) })
        run.pass(.seconds(8 * 60))
        #expect(run.posts == 0)
        #expect(run.outbox.count(.pending) == 1000)
        let wait = run.board.snapshot.meteredWait
        #expect(wait == .hours(until: (minuteNow(run) + 11 - 9) % 1440))
        #expect(run.problem == nil, "nothing is wrong")
        run.pass(.seconds(4 * 60))
        #expect(run.outbox.count(.confirmed) == 1000)
        #expect(run.board.snapshot.meteredWait == nil)
        let said = run.events.value.filter { $0 == .meteredWaitEnded }
        #expect(said.count == 1)
    }

    @Test func aHistoryThatIsUnderWayStopsAtTheHour() {
        let run = meteredRun()
        run.outbox.add((1...3000).map { sample($0) })
        let clock = run.clock
        run.server.set(fault: { request, proper in
            // It is 20 s to the hour.
            if request.method == .post { clock.advance(by: .seconds(8)) }
            return .success(proper())
        })
        run.pass(.seconds(300))
        #expect(run.posts == 3)
        let ends = run.events.value.compactMap { event in
            if case .runFinished(_, let end, _) = event { end } else { nil }
        }
        #expect(ends == [.metered])
    }

    @Test func whatABandAndThePeopleNeedGoesInMeteredHours() {
        let run = meteredRun()
        run.outbox.add([sample(1)])
        _ = run.untilItWaits()
        run.clock.advance(by: .seconds(61))
        run.outbox.add((2...100).map { sample($0) })
        run.outbox.contents.change {
            $0.reports[deviceA] = DeviceReport(batteryPercent: 80)
            $0.gaps[deviceA] = [
                Gap(
                    ring: ring, firstSeq: 700, lastSeq: 701, after: nil, before: nil, cause: .overwritten,
                    healedAt: nil)
            ]
            $0.sharing.toCompare = [sample(1)]
        }
        let asked = run.ask()
        #expect(asked != .unreachable)
        run.pass(.seconds(400))
        #expect(run.log.contains("PUT gaps \(deviceA)"))
        #expect(run.log.contains("PUT status \(deviceA)"))
        #expect(run.posts == 1)
        #expect(!run.log.contains("GET samples"), "pages of samples are history, too")
        run.pass(.seconds(400))
        #expect(run.posts == 2)
        #expect(run.log.contains("GET samples"))
    }

    @Test func aMeteredConnectionIsWaitedOutOnlyWhereThatIsWanted() {
        for (onMetered, posts) in [(OnMetered.upload, 1), (.wait, 0)] {
            let run = Run(limits: SendLimits(onMetered: onMetered))
            run.network.change { $0 = NetworkState(isUp: true, isMetered: true) }
            run.outbox.add((1...10).map { sample($0) })
            run.pass(.seconds(600))
            #expect(run.posts == posts)
            #expect(run.board.snapshot.meteredWait == (posts == 0 ? .connection : nil))
            run.network.change { $0.isMetered = false }
            run.wake()
            run.pass(.seconds(2))
            #expect(run.outbox.count(.confirmed) == 10)
        }
    }

    @Test func aPersonWhoAsksDoesNotWaitForAnHour() {
        let run = meteredRun()
        run.clock.advance(by: .seconds(61))
        run.outbox.add((1...1000).map { sample($0) })
        run.pass(.seconds(100))
        #expect(run.posts == 0)
        let answer = OneShot<UploadReport?>()
        run.worker.uploadNow(answer)
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 1000)
        #expect(answer.peek == .some(UploadReport(sent: 1000, left: 0)))
        run.outbox.add((1001...1010).map { sample($0) })
        run.pass(.seconds(100))
        #expect(run.outbox.count(.pending) == 10, "that was this once")
    }

    // MARK: bytes a second

    @Test func aCapHoldsOverBatchesAndIsOneRun() {
        let run = Run(limits: SendLimits(bytesPerSecond: 1000))
        run.outbox.add((1...3000).map { sample($0) })
        let started = run.clock.monotonic
        let arrivals = Locked<[Duration]>([])
        let clock = run.clock
        run.server.set(fault: { request, _ in
            if request.method == .post { arrivals.change { $0.append(clock.monotonic) } }
            return nil
        })
        run.pass(.seconds(600))
        #expect(run.outbox.count(.confirmed) == 3000)
        let finished = run.events.value.compactMap { event in
            if case .runFinished(let report, _, _) = event { report } else { nil }
        }
        #expect(finished.count == 1, "waiting for the cap ends no run")
        let report = finished[0]
        let total = report.traffic.bytesSent + report.traffic.bytesReceived
        let took = ((arrivals.value.last ?? started) - started) / .seconds(1)
        #expect(took * 1000 >= Double(total) * 0.7, "\(total) bytes in \(took) s")
        #expect(took * 1000 <= Double(total) * 1.5 + 10_000)
        #expect(report.duration > .seconds(5))
        #expect(run.posts == 6)
    }

    @Test func aQuestionOfABandDoesNotWaitForTheCap() {
        let run = Run(limits: SendLimits(bytesPerSecond: 10))
        run.outbox.add((1...600).map { sample($0) })
        run.pass(.seconds(100))
        #expect(run.posts <= 1)
        let before = run.log.count
        #expect(run.ask() != .unreachable)
        #expect(run.log.count == before + 1)
    }

    // MARK: the network comes

    private func offline() -> (run: Run, tries: Locked<[Duration]>) {
        let run = Run()
        let tries = Locked<[Duration]>([])
        let clock = run.clock
        run.outbox.add((1...10).map { sample($0) })
        run.server.set(fault: { _, _ in
            tries.change { $0.append(clock.monotonic) }
            return .failure(HTTPFailure(.cannotResolve, ""))
        })
        run.pass(.seconds(7200))
        return (run, tries)
    }

    @Test func aNetworkThatComesEndsTheWaitAtOnce() {
        let (run, tries) = offline()
        let before = tries.value.count
        #expect(run.worker.step(wasWoken: true) > .seconds(1), "a commit does not")
        #expect(tries.value.count == before)
        run.server.set(fault: nil)
        run.worker.prompted()
        let now = run.clock.monotonic
        _ = run.untilItWaits()
        #expect(run.clock.monotonic == now)
        #expect(run.outbox.count(.confirmed) == 10)
        #expect(run.problem == nil)
    }

    @Test func aNetworkThatFluttersIsTriedOnceASecondAtMost() {
        let (run, tries) = offline()
        tries.change { $0 = [] }
        for _ in 0..<200 {
            run.worker.prompted()
            run.pass(.milliseconds(50))
        }
        let times = tries.value
        #expect(times.count == 10)
        for (first, second) in zip(times, times.dropFirst()) { #expect(second - first >= .seconds(1)) }
        run.pass(.seconds(400))
        #expect(tries.value.count <= 11, "and each failure waits as long as it would have")
    }

    @Test func aPortalIsNamedWhereTheNetworkTellsOfIt() {
        let run = Run()
        run.outbox.add([sample(1)])
        run.network.change { $0 = NetworkState(isUp: true, wantsLogIn: true) }
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.tls, "")) })
        run.pass(.seconds(10))
        #expect(run.problem == "captive_portal")
        #expect(run.board.snapshot.lastErrorCode == "not_this_api")
        // Somebody passed the page.
        run.network.change { $0.wantsLogIn = false }
        run.server.set(fault: nil)
        run.worker.prompted()
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 1)
        #expect(run.problem == nil)
    }

    // MARK: the clock

    /// Valid in 2026, as the clock of a run.
    private static let certificate = CertificateValidity(notBefore: 1_767_225_600, notAfter: 1_798_761_600)

    @Test func aClockThatIsSetEndsTheWaitForACertificate() {
        let run = Run()
        let clock = run.clock
        let tries = Locked(0)
        clock.step(by: -1_793_000_000_000)
        run.trust.change { $0 = .implausible }
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in
            tries.change { $0 += 1 }
            guard Self.certificate.contains(clock.wall.milliseconds / 1000) else {
                return .failure(HTTPFailure(.clock, "", certificates: [Self.certificate]))
            }
            return nil
        })
        run.pass(.seconds(7200))
        #expect(run.problem == "host_clock_wrong")
        let text = run.board.snapshot.problem?.text ?? ""
        #expect(text.contains("begins on 2026-01-01") && text.contains("1970-01-0"), "\(text)")
        #expect(tries.value < 30)
        // A clock that is only slewed changes nothing.
        clock.step(by: 10_000)
        let before = tries.value
        run.pass(.seconds(60))
        #expect(tries.value <= before + 1)
        clock.step(by: 1_793_000_000_000)
        run.pass(.seconds(61))
        #expect(run.outbox.count(.confirmed) == 1)
        #expect(run.problem == nil)
    }
}
