import GatewayModel
import HTTPClient
import IngestAPI
import Locking
import Store
import Testing
import UploadDecisions

@testable import Uplink

/// Comparisons with a model server, without a thread. Sample n is measured n minutes after 2026-10-27T05:31Z; steps are those
/// whose number can be divided by three.
@Suite struct ReconcileTests {
    /// Of the minutes: the first day ends before 1109.
    private static let day: UInt32 = 1440
    private static let count: UInt32 = 5000

    /// Everything is up.
    private func uploaded(pageSize: Int = 1000) -> Run {
        let run = Run()
        run.outbox.add((1...Self.count).map { sample($0) })
        run.server.contents.change {
            $0.pageSize = pageSize
            $0.hasRanges = true
        }
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == Int(Self.count))
        return run
    }

    private func key(_ seq: UInt32) -> ModelServer.Key {
        ModelServer.Key(device: deviceA.text, type: seq % 3 == 0 ? .steps : .heartRate, seq: seq)
    }

    private func lose(_ seqs: [UInt32], of run: Run) {
        run.server.contents.change { contents in
            for seq in seqs { contents.samples[key(seq)] = nil }
        }
    }

    private func begin(_ run: Run, days: Int64? = nil, dry: Bool = false) -> OneShot<ReconcileReport?> {
        let answer = OneShot<ReconcileReport?>()
        let started = run.worker.reconcile(
            ReconcileRun(
                device: deviceA, firstDay: days.map { APITime(run.clock.wall).dayNumber - $0 + 1 },
                isDryRun: dry, limits: BackOff.Limits(), answer: answer))
        if !started { answer.set(nil) }
        return answer
    }

    private func reconciled(_ run: Run, days: Int64? = nil, dry: Bool = false) throws -> ReconcileReport {
        let answer = begin(run, days: days, dry: dry)
        let end = run.clock.monotonic + .seconds(120)
        while !answer.isSet, run.clock.monotonic < end {
            let wait = run.worker.step(wasWoken: false)
            if wait > .zero { run.clock.advance(by: wait) }
        }
        return try #require(answer.peek.flatMap { $0 })
    }

    @Test func nothingDiffersAfterAnUploadAndNothingIsRead() throws {
        let run = uploaded()
        let report = try reconciled(run)
        #expect(report.days == 4 && report.differingDays == 0 && report.missing == 0 && report.problem == nil)
        #expect(run.log.suffix(2) == ["GET \(deviceA)", "GET ranges"])
        #expect(run.board.reconciling == nil)
    }

    /// Put back to a backup: nothing is said to be complete over what is lost, until somebody lets it be sent again.
    @Test(arguments: [false, true]) func aServerThatLacksWhatItConfirmedIsNoticed(_ isRestarted: Bool) throws
    {
        let run = uploaded()
        lose([2, 3, 4], of: run)
        let before: UInt32 = 1
        run.server.contents.change { $0.completeThrough[deviceA.text] = before }
        if isRestarted { run.restart() }
        run.pass(.seconds(3 * 3600))
        #expect(run.problem == "server_lacks_samples")
        run.outbox.contents.change { $0.completeThrough = Self.count + 1 }
        run.outbox.add([sample(Self.count + 1)])
        run.pass(.seconds(100))
        #expect(run.outbox.count(.pending) == 0)
        #expect(run.server.contents.value.completeThrough[deviceA.text] == before)
        #expect(run.server.contents.value.samples[key(2)] == nil, "only a person lets it go up again")
        #expect(try reconciled(run).missing == 3)
        run.pass(.seconds(100))
        #expect(run.problem == nil)
        #expect(run.server.contents.value.samples[key(2)] != nil)
        #expect(run.server.contents.value.completeThrough[deviceA.text] == Self.count + 1)
        run.pass(.seconds(3 * 3600))
        #expect(run.problem == nil)
    }

    /// The last days alone are compared: the rest is still lacking.
    @Test func aPartOfAComparisonLeavesWhatItDidNotCompareLacking() throws {
        let run = uploaded()
        // Of the first day; the rest is as if let go.
        lose([2, 3], of: run)
        run.outbox.contents.change { $0.pruned = 5 }
        run.restart()
        run.pass(.seconds(3 * 3600))
        #expect(run.worker.notes[deviceA]?.lacking == 7 && run.problem == "server_lacks_samples")
        #expect(try reconciled(run, days: 2).missing == 2)
        #expect(run.worker.notes[deviceA]?.lacking == 5)
        #expect(try reconciled(run).missing == 0)
        run.pass(.seconds(100))
        #expect(run.problem == nil && run.worker.notes[deviceA]?.lacking == 0)
    }

    /// Let go here, and lost there: it is told once, and no comparison can bring it back.
    @Test func whatIsNowhereIsLetBeByAComparisonOfEverything() throws {
        let run = uploaded()
        run.outbox.contents.change { $0.pruned = 40 }
        run.restart()
        run.pass(.seconds(3 * 3600))
        #expect(run.problem == "server_lacks_samples")
        #expect(try reconciled(run).missing == 0)
        run.pass(.seconds(5 * 3600))
        #expect(run.problem == nil)
        lose([2], of: run)
        run.pass(.seconds(3 * 3600))
        #expect(run.problem == "server_lacks_samples", "what is lost later is told")
    }

    @Test(arguments: [
        #"{"count":9223372036854775807,"min_seq":1,"max_seq":2}"#, #"{"count":-1,"min_seq":1,"max_seq":2}"#,
        #"{"count":1,"min_seq":2,"max_seq":1}"#,
    ])
    func rangesThatAreNoneAreNoAnswer(_ range: String) throws {
        let run = uploaded()
        run.server.set(fault: { request, _ in
            guard request.url.hasSuffix("ranges?by=day") else { return nil }
            let names = #""ring":"0000000f","type":"steps","day":"2026-10-27","#
            let entry = "{" + names + range.dropFirst()
            return .success(HTTPResponse(status: 200, body: Array(#"{"ranges":[\#(entry),\#(entry)]}"#.utf8)))
        })
        #expect(try reconciled(run).problem?.code == "not_this_api")
    }

    /// A count that is none says nothing, and breaks nothing.
    @Test(arguments: [
        #"{"heart_rate":9223372036854775807,"steps":1}"#, #"{"steps":-9223372036854775808}"#,
        #"{"steps":-1}"#, #"{"steps":9223372036854775807}"#,
    ])
    func countsThatAreNoneSayNothing(_ counts: String) throws {
        let run = uploaded()
        run.server.set(fault: { request, _ in
            guard request.method == .get, request.url.hasSuffix(deviceA.text) else { return nil }
            let text =
                #"{"device_id":"\#(deviceA)","rings":[],"max_version":1,"first_recorded_at":null,"#
                + #""last_recorded_at":null,"counts":\#(counts),"status":null}"#
            return .success(HTTPResponse(status: 200, body: Array(text.utf8)))
        })
        run.outbox.contents.change { $0.letBe = 6_000 }
        run.restart()
        run.pass(.seconds(3 * 3600))
        #expect(run.problem == nil && run.log.contains("GET \(deviceA)"))
        _ = try reconciled(run)
    }

    @Test(arguments: [1000, 7])
    func whatTheServerLostIsNamedAndGoesUpAgainExactly(pageSize: Int) throws {
        let run = uploaded(pageSize: pageSize)
        let lost: [UInt32] = [2, 3, 4, 1500, 1501, 5000]
        lose(lost, of: run)
        let posts = run.posts
        let report = try reconciled(run)
        #expect(report.missing == 6 && report.differingDays == 3 && report.onlyThere == 0)
        let first = try #require(report.differences.first)
        #expect(first.type == .heartRate && first.missing == 2 && first.missingSeqs == [2...2, 4...4])
        #expect(first.here - first.there == 2 && !first.isUnclear)
        run.pass(.seconds(5))
        #expect(run.posts == posts + 1 && run.server.contents.value.batchSizes.last == 6)
        #expect(run.outbox.count(.confirmed) == Int(Self.count))
        #expect(try reconciled(run).missing == 0)
    }

    @Test func aDryRunOnlyLooks() throws {
        let run = uploaded()
        lose([2, 3], of: run)
        let report = try reconciled(run, dry: true)
        #expect(report.missing == 2 && !report.isMarked)
        run.pass(.seconds(600))
        #expect(run.outbox.count(.pending) == 0 && run.server.contents.value.samples[key(2)] == nil)
    }

    @Test func onlyTheDaysThatWereAskedForAreCompared() throws {
        let run = uploaded()
        lose([2, 3], of: run)
        // The clock of the run stands on the first day: everything is later than that.
        run.clock.advance(by: .seconds(86_400))
        #expect(try reconciled(run, days: 1).missing == 0)
        #expect(try reconciled(run, days: 2).missing == 2)
    }

    @Test func aServerThatLostEverythingGetsEverything() throws {
        let run = uploaded()
        run.server.contents.change { $0.samples = [:] }
        let report = try reconciled(run)
        #expect(report.missing == Int(Self.count) && report.problem == nil)
        #expect(run.log.count { $0 == "GET samples" } == 0, "there is nothing to read")
        run.pass(.seconds(60))
        #expect(run.server.contents.value.samples.count == Int(Self.count))
    }

    @Test func whatOnlyTheServerHasIsCountedAndLeftAlone() throws {
        let run = uploaded()
        let other = [sample(6001), sample(6002), sample(9000)].compactMap { sample -> APISample? in
            APISample(
                type: .heartRate, seq: sample.seq, value: 1,
                recordedAt: APITime(milliseconds: sample.recordedAt.milliseconds), tzOffsetMinutes: nil,
                bandTimeMilliseconds: 0, clockID: 1, flags: 1)
        }
        run.server.contents.change { contents in
            for sample in other {
                let key = ModelServer.Key(device: deviceA.text, type: .heartRate, seq: sample.seq)
                contents.samples[key] = .init(sample: sample)
            }
        }
        let report = try reconciled(run)
        #expect(report.onlyThere == 3 && report.missing == 0 && report.differingDays == 2)
        #expect(run.log.count { $0 == "GET samples" } == 0, "nothing of these is here: it need not be read")
    }

    /// The server has samples 6001 to 6010, which nobody here ever had; 6003 to 6500 are named as missing.
    private func withGap() -> Run {
        let run = uploaded()
        run.outbox.contents.change { $0.openGaps = [6003...6500] }
        run.server.contents.change { contents in
            for seq in UInt32(6001)...6010 {
                let key = ModelServer.Key(device: deviceA.text, type: .heartRate, seq: seq)
                contents.samples[key] = .init(
                    sample: APISample(
                        type: .heartRate, seq: seq, value: 1,
                        recordedAt: APITime(milliseconds: sample(seq).recordedAt.milliseconds),
                        tzOffsetMinutes: nil, bandTimeMilliseconds: 0, clockID: 1, flags: 1))
            }
        }
        return run
    }

    @Test func aGapOfWhatAnotherGatewayBroughtHeals() throws {
        let run = withGap()
        #expect(try reconciled(run, dry: true).healed == 8)
        #expect(run.outbox.contents.value.healed.isEmpty)
        let report = try reconciled(run)
        #expect(report.onlyThere == 10 && report.healed == 8)
        #expect(run.outbox.contents.value.healed == Array(6003...6010))
    }

    @Test func whereAnotherGatewayIsAtWorkGapsAreLookedForByThemselves() throws {
        let run = withGap()
        lose([2], of: run)
        run.outbox.contents.change { $0.sharing.shared = [deviceA] }
        run.pass(.seconds(13 * 3600))
        #expect(Set(run.outbox.contents.value.healed) == Set(6003...6010))
        #expect(run.outbox.count(.pending) == 0, "what the server lacks is a person's to ask about")
        #expect(run.board.reconciling == nil)
    }

    @Test func theGapsOfEveryBandAreLookedForOneAfterTheOther() {
        let run = withGap()
        run.outbox.contents.change { $0.devicesWithGaps = [deviceA, deviceB] }
        run.worker.lookForGaps(of: deviceB)
        run.worker.lookForGaps(of: deviceA)
        run.pass(.seconds(600))
        #expect(Set(run.outbox.contents.value.healed) == Set(6003...6010))
    }

    @Test func aLookForGapsThatFailsComesAgainSoon() {
        let run = withGap()
        run.server.set(fault: { request, _ in
            request.method == .get ? .failure(HTTPFailure(.cannotConnect, "")) : nil
        })
        run.worker.lookForGaps(of: deviceA)
        run.pass(.seconds(3600))
        #expect(run.outbox.contents.value.healed.isEmpty)
        run.server.set(fault: nil)
        run.pass(.seconds(2 * 3600))
        #expect(Set(run.outbox.contents.value.healed) == Set(6003...6010))
    }

    @Test func aPersonsComparisonDoesNotWaitForOneThatNobodyAskedFor() throws {
        let run = withGap()
        run.worker.lookForGaps(of: deviceA)
        _ = run.worker.step(wasWoken: false)
        #expect(try reconciled(run).healed == 8)
    }

    @Test func whatWaitsOrWasRefusedIsNoDifference() throws {
        let run = uploaded()
        run.server.set(rejection: { $0.seq == 5001 ? .badTime : nil })
        run.outbox.add([sample(5001)])
        run.pass(.seconds(61))
        run.server.set(rejection: nil)
        run.server.set(fault: { request, _ in
            request.method == .post ? .failure(HTTPFailure(.cannotConnect, "")) : nil
        })
        run.outbox.add([sample(5002), sample(5003)])
        run.pass(.seconds(61))
        let report = try reconciled(run)
        #expect(report.waiting == 2 && report.kept == 1 && report.missing == 0 && report.differingDays == 0)
    }

    @Test func aSampleThatIsThereOnAnotherDayIsNotMissing() throws {
        let run = uploaded()
        // Another gateway corrected it: it was measured two days later, says the server.
        run.server.contents.change { contents in
            let later = contents.samples[key(100)].map { $0.sample.recordedAt.milliseconds + 2 * 86_400_000 }
            contents.samples[key(100)]?.sample.recordedAt = APITime(milliseconds: later ?? 0)
        }
        let report = try reconciled(run)
        #expect(report.missing == 0 && report.onlyThere == 0 && report.differingDays == 0)
        run.pass(.seconds(61))
        #expect(run.outbox.count(.pending) == 0)
    }

    @Test func whatHasExpiredThereIsNoDifference() throws {
        let run = uploaded()
        run.server.contents.change { contents in
            // In the middle of the second day.
            for seq in 1...UInt32(2000) { contents.expired.insert(key(seq)) }
        }
        let report = try reconciled(run)
        #expect(report.expired == 2000 && report.missing == 0 && report.differingDays == 0, "\(report)")
        #expect(report.expiredDays.map { $0.count } == 2)
        // Also when only the last days are compared: what is older is counted all the same.
        lose([4500], of: run)
        run.clock.advance(by: .seconds(3 * 86_400))
        #expect(try reconciled(run, days: 2).missing == 1)
    }

    @Test func whereExpiryDoesNotCoverItAllOfItGoesAgain() throws {
        let run = uploaded()
        run.server.contents.change { contents in
            for seq in 1...UInt32(1000) { contents.expired.insert(key(seq)) }
        }
        lose((1...10).map { $0 }, of: run)
        let report = try reconciled(run)
        #expect(report.missing == 1000 && report.expired == 0)
        #expect(report.differences.allSatisfy { $0.isUnclear })
        run.pass(.seconds(60))
        #expect(run.server.contents.value.samples.count == Int(Self.count))
    }

    @Test func aTokenThatMayNotReadSendsTheWholeDayAgain() throws {
        let run = uploaded()
        lose([2], of: run)
        run.server.set(fault: { request, proper in
            guard request.url.contains("/v1/samples?") else { return nil }
            return .success(ModelServer.error(APIFailure(.forbidden, "")))
        })
        let report = try reconciled(run)
        let difference = try #require(report.differences.first)
        #expect(
            report.differences.count == 1 && difference.isUnclear && difference.missing == difference.here)
        run.server.set(fault: nil)
        run.pass(.seconds(60))
        #expect(run.server.contents.value.samples.count == Int(Self.count))
    }

    @Test func aShortOutageIsSatOutAndALongOneSaid() throws {
        let run = uploaded()
        lose([2], of: run)
        let failures = Locked(2)
        run.server.set(fault: { request, _ in
            guard request.url.contains("ranges") else { return nil }
            return failures.change { left in
                guard left > 0 else { return nil }
                left -= 1
                return .failure(HTTPFailure(.timedOut, ""))
            }
        })
        #expect(try reconciled(run).missing == 1)
        failures.change { $0 = 100 }
        let report = try reconciled(run)
        #expect(report.problem?.code == "network_timeout" && failures.value == 96)
    }

    @Test func oneAtATimeAndWhoWaitsIsAnsweredWhenTheThreadEnds() throws {
        let run = uploaded()
        lose([2], of: run)
        let first = begin(run)
        let second = begin(run)
        #expect(second.peek == .some(nil) && !first.isSet)
        #expect(run.board.reconciling?.device == deviceA)
        run.worker.stopped()
        #expect((first.peek ?? nil)?.problem != nil)
    }

    @Test func samplesAndQuestionsGoOnMeanwhile() throws {
        let run = uploaded(pageSize: 10)
        lose([2], of: run)
        let answer = begin(run)
        run.outbox.add([sample(5001)])
        run.wake()
        for _ in 0..<20 where !answer.isSet {
            _ = run.worker.step(wasWoken: false)
            run.clock.advance(by: .milliseconds(200))
        }
        #expect(!answer.isSet && run.outbox.state(5001) == .confirmed)
    }

    @Test func aStoreThatFailsEndsItWithItsProblem() throws {
        let run = uploaded()
        lose([2], of: run)
        run.outbox.contents.change { $0.failsToWrite = true }
        #expect(try reconciled(run).problem?.code == "outbox_failed")
        run.outbox.contents.change { $0.failsToWrite = false }
        #expect(try reconciled(run).missing == 1)
    }
}
