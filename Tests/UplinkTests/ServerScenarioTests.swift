import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// Every rule of the uploader against a scripted server: libcurl, a real socket, an hour of jumping time with a commit
/// every few seconds.
@Suite(.serialized) struct ServerScenarioTests {
    @Test(arguments: ServerScenario.all)
    func anHourOfItIsBoundedNamedAndEndsByItself(_ scenario: ServerScenario) async throws {
        try await SocketRun.perform(deadline: scenario.deadline, script: scenario.reply) { bed in
            let run = bed.run
            fill(run)
            var next: UInt32 = 601
            // Bands are synced all the while: a commit wakes the upload.
            run.pass(.seconds(3600)) {
                if run.clock.monotonic > .seconds(1000 + 10 * Int(next - 600)), next <= 620 {
                    next += 1
                    run.wake()
                }
            }
            #expect(bed.arrivals.count <= scenario.requests, "\(bed.arrivals.count) requests")
            #expect(run.problem == scenario.problem)
            if scenario.problem != "report_refused" {
                #expect(run.board.snapshot.lastErrorCode == scenario.code)
            }
            #expect(run.outbox.count(.confirmed) == scenario.confirmed)
            #expect(run.outbox.count(.held) == scenario.held)
            #expect(quarantined(run) == scenario.quarantined)
            let times = bed.arrivals.map(\.time)
            for (earlier, later) in zip(times, times.dropFirst()) {
                #expect(later - earlier >= scenario.pause)
            }
            #expect(Secrets.leaks(in: run) == [])
            checkRuns(run, scenario)

            bed.heal()
            run.pass(.seconds(3700))
            #expect(run.outbox.count(.confirmed) == 600 - scenario.quarantined)
            #expect(quarantined(run) == scenario.quarantined)
            // What can't be sent any more is all that is left of a report that was refused.
            #expect(run.problem == nil || run.problem == "report_refused")
            #expect(bed.model.contents.value.brokenPromises.isEmpty)
            #expect(bed.model.contents.value.samples.values.allSatisfy { $0.timesNew == 1 })
            #expect(Secrets.leaks(in: run) == [])
        }
    }

    private func fill(_ run: Run) {
        run.outbox.add(Secrets.samples(1...600))
        run.outbox.contents.change {
            $0.reports[deviceA] = DeviceReport(batteryPercent: 80)
            $0.gaps[deviceA] = [
                Gap(
                    ring: ring, firstSeq: 700, lastSeq: 701, after: nil, before: nil, cause: .overwritten,
                    healedAt: nil)
            ]
        }
    }

    private func quarantined(_ run: Run) -> Int {
        run.outbox.contents.value.rows.values.count {
            if case .quarantined = $0.state { true } else { false }
        }
    }

    /// Each start has one end, and the ends say what there was.
    private func checkRuns(_ run: Run, _ scenario: ServerScenario) {
        var isOpen = false
        for event in run.events.value {
            switch event {
            case .runStarted:
                #expect(!isOpen)
                isOpen = true
            case .runFinished(let report, let end, _):
                #expect(isOpen)
                #expect(end == .idle)
                #expect(report.traffic.requests > 0)
                isOpen = false
            case .runFailed(let report, let code, let cause, let pending, _):
                #expect(isOpen)
                #expect(code == scenario.code)
                #expect(cause == scenario.problem)
                #expect(report.traffic.requests > 0)
                #expect(report.confirmed <= 600)
                #expect(pending != nil)
                isOpen = false
            default: break
            }
        }
        #expect(!isOpen)
        let names = Set(run.events.value.map { "\($0.name)" })
        #expect(names.contains("upload_started"))
        #expect(names.contains(scenario.code == nil ? "upload_finished" : "upload_failed"))
    }
}
