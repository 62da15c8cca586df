import Testing

@testable import UploadDecisions

@Suite struct UploadScheduleTests {
    var random = SeededRandom(seed: 42)
    var schedule = UploadSchedule()
    let malformed = Refusal(code: "malformed", message: "")

    static func settled(_ count: Int) -> UploadDecision { .settle(BatchVerdict(confirmed: Array(0..<count))) }

    @discardableResult
    mutating func end(
        _ decision: UploadDecision, _ device: String = "a", count: Int = 500, at now: Duration = .zero
    ) -> UploadSchedule.BatchAction {
        schedule.batchEnded(decision, device: device, count: count, now: now, using: &random)
    }

    mutating func changeCredentials() -> Bool { schedule.credentialsChanged() }

    @Test mutating func silenceHoldsEveryDeviceBackLongerEachTime() {
        var now = Duration.zero
        var last = Duration.zero
        for _ in 1...30 {
            end(.backOff(.noAnswer(.cannotConnect), retryAfter: nil), at: now)
            guard let until = schedule.wait(now: now) else {
                Issue.record("no wait")
                return
            }
            #expect(until - now >= last / 2)
            last = until - now
            #expect(last <= .seconds(900))
            now = until
        }
        #expect(last >= .seconds(450))
        #expect(schedule.problem == .noAnswer(.cannotConnect))
        // The network is back: no device sits out what it got in the outage.
        end(Self.settled(500), "b", at: now)
        #expect(schedule.problem == nil)
        #expect(schedule.wait(now: now) == nil)
        #expect(schedule.resting(now: now).devices.isEmpty)
    }

    @Test mutating func aBatchThatOnlyTheServerCanNotTakeLetsOtherDevicesPass() {
        let now = Duration.seconds(10)
        var failures: [Duration] = []
        for _ in 1...8 {
            end(.backOff(.serverError(status: 500), retryAfter: nil), "a", at: now)
            end(Self.settled(500), "b", at: now)
            #expect(schedule.wait(now: now) == nil)
            let resting = schedule.resting(now: now)
            #expect(resting.devices == ["a"])
            failures.append((resting.until ?? .zero) - now)
        }
        #expect(failures[7] > .seconds(60), "its own back-off grows although the others get through")
    }

    @Test mutating func aSuccessThatConfirmsNothingRestsThatDeviceAlone() {
        #expect(end(.settle(BatchVerdict(unconfirmed: [0, 1]))) == .nothing)
        #expect(schedule.problem == .nothingConfirmed)
        #expect(schedule.wait(now: .zero) == nil)
        #expect(schedule.resting(now: .zero).devices == ["a"])
        // Other requests that succeed must not cut its wait short.
        schedule.requestEnded(.taken, device: "a", now: .zero, using: &random)
        #expect(schedule.resting(now: .zero).devices == ["a"])
        end(Self.settled(2), count: 2)
        #expect(schedule.problem == nil)
    }

    @Test mutating func retryAfterOfA429HoldsEverythingBackThatLong() {
        end(.pause(.seconds(100)), at: .seconds(5))
        let until = schedule.wait(now: .seconds(5)) ?? .zero
        #expect(until >= .seconds(105) && until <= .seconds(115))
        #expect(schedule.problem == .rateLimited)
        #expect(schedule.wait(now: until) == nil)
    }

    @Test mutating func aQuestionPassesTheGatewaysOwnWaitsButNotTheServers() {
        end(.backOff(.noAnswer(.timedOut), retryAfter: nil))
        #expect(schedule.wait(now: .zero) != nil)
        #expect(schedule.mayAsk(now: .zero))
        end(.backOff(.serverError(status: 503), retryAfter: .seconds(30)))
        #expect(!schedule.mayAsk(now: .seconds(29)))
        #expect(schedule.mayAsk(now: .seconds(34)))
        end(.pause(.seconds(50)), at: .seconds(100))
        #expect(!schedule.mayAsk(now: .seconds(149)))
        end(.waitForCredentials(.forbidden), at: .seconds(200))
        #expect(!schedule.mayAsk(now: .seconds(3000)))
        #expect(changeCredentials() == true)
        #expect(schedule.mayAsk(now: .seconds(3000)))
    }

    @Test mutating func refusedCredentialsWaitForNewOnesOrAnHour() {
        end(.waitForCredentials(.authenticationFailed))
        #expect(schedule.wait(now: .seconds(3599)) == .seconds(3600))
        #expect(schedule.wait(now: .seconds(3600)) == nil)
        #expect(schedule.waitsForCredentials)
        #expect(changeCredentials() == true)
        #expect(schedule.wait(now: .zero) == nil)
        // They are only good once the server says so.
        #expect(schedule.problem == .authenticationFailed)
        schedule.requestEnded(.taken, device: "a", now: .zero, using: &random)
        #expect(schedule.problem == nil)
        #expect(changeCredentials() == false)
    }

    @Test mutating func gzipIsNotTriedAgainOnceRefused() {
        #expect(schedule.plan(for: "a").isCompressed)
        end(.sendIdentity)
        #expect(!schedule.plan(for: "a").isCompressed)
        #expect(!schedule.plan(for: "b").isCompressed)
        #expect(schedule.wait(now: .zero) == nil)
    }

    @Test mutating func aRefusedBatchIsHalvedForItsDeviceOnly() {
        end(.halve(malformed), count: 500)
        #expect(schedule.plan(for: "a").limit == 250)
        #expect(schedule.plan(for: "b").limit == 500)
        end(.halve(malformed), count: 2)
        #expect(schedule.plan(for: "a").limit == 1)
        #expect(end(.quarantine(malformed), count: 1) == .quarantine(malformed))
        #expect(schedule.plan(for: "a").limit == 500)
        #expect(schedule.problem == nil)
    }

    @Test mutating func aRefusalIsAnAnswerToo() {
        end(.backOff(.notThisAPI(status: 302), retryAfter: nil), count: 1)
        #expect(schedule.problem == .notThisAPI(status: 302))
        // The last sample that waits is set aside: nothing else will ever end the problem.
        #expect(end(.quarantine(malformed), count: 1, at: .seconds(10)) == .quarantine(malformed))
        #expect(schedule.problem == nil)
        #expect(schedule.resting(now: .seconds(10)).devices.isEmpty)
    }

    @Test mutating func threeRefusedSinglesInARowStopAndReportTheServer() {
        for _ in 1...2 { #expect(end(.quarantine(malformed), count: 1) == .quarantine(malformed)) }
        #expect(schedule.wait(now: .zero) == nil)
        #expect(end(.quarantine(malformed), "b", count: 1) == .quarantine(malformed))
        #expect(schedule.problem == .serverRefuses(code: "malformed"))
        #expect(schedule.wait(now: .zero) == .seconds(3600))
        // From here on single samples are probes: a broken server can't have one after the other set aside.
        for hour in 1...48 {
            let now = Duration.seconds(3600 * hour)
            #expect(schedule.plan(for: "a").isProbe)
            #expect(end(.quarantine(malformed), count: 1, at: now) == .nothing)
            #expect(schedule.wait(now: now) == now + .seconds(3600))
        }
        // One that is taken shows that it was the samples.
        end(Self.settled(1), count: 1, at: .seconds(200_000))
        #expect(schedule.problem == nil)
        #expect(!schedule.plan(for: "a").isProbe)
        #expect(schedule.wait(now: .seconds(200_000)) == nil)
    }

    @Test mutating func aSampleThatIsTakenBreaksTheRow() {
        for _ in 1...20 {
            #expect(end(.quarantine(malformed), count: 1) == .quarantine(malformed))
            #expect(end(.quarantine(malformed), count: 1) == .quarantine(malformed))
            end(Self.settled(1), count: 1)
        }
        #expect(schedule.problem == nil)
    }

    @Test mutating func anOutageWhileTheServerRefusesDoesNotHideThat() {
        for _ in 1...3 { end(.quarantine(malformed), count: 1) }
        schedule.requestEnded(
            .backOff(.noAnswer(.timedOut), retryAfter: nil), device: "a", now: .zero, using: &random)
        #expect(schedule.problem == .noAnswer(.timedOut))
        schedule.requestEnded(.taken, device: "a", now: .zero, using: &random)
        #expect(schedule.problem == .serverRefuses(code: "malformed"))
        #expect(schedule.plan(for: "a").isProbe)
    }

    @Test mutating func aFullDiskIsNotHammeredBecauseTheServerAnswers() {
        var waits: [Duration] = []
        for _ in 1...12 {
            end(Self.settled(500))
            schedule.couldNotSend(.outbox("full"), now: .zero, using: &random)
            waits.append(schedule.wait(now: .zero) ?? .zero)
        }
        #expect((waits.last ?? .zero) >= .seconds(450))
        #expect(schedule.problem == .outbox("full"))
        // A session's question, or a batch that was under way.
        schedule.requestEnded(.taken, device: "a", now: .zero, using: &random)
        #expect(schedule.problem == .outbox("full") && (schedule.wait(now: .zero) ?? .zero) >= .seconds(450))
        schedule.outboxWorks()
        #expect(schedule.problem == nil)
    }

    @Test mutating func aTokenFileThatIsMendedIsNoProblemAnyMore() {
        schedule.couldNotSend(.tokenFile(.readableByOthers), now: .zero, using: &random)
        #expect(schedule.problem == .tokenFile(.readableByOthers))
        #expect(schedule.wait(now: .zero) != nil)
        #expect(changeCredentials() == true)
        #expect(schedule.problem == nil)
        #expect(schedule.wait(now: .zero) == nil)
    }

    @Test(arguments: [
        UploadDecision.backOff(.noAnswer(.cannotResolve), retryAfter: nil),
        .backOff(.serverError(status: 500), retryAfter: nil),
        .backOff(.notThisAPI(status: 200), retryAfter: nil),
    ])
    mutating func aNetworkThatComesEndsTheGatewaysOwnWaits(_ decision: UploadDecision) {
        for _ in 1...10 { end(decision) }
        let before = schedule.wait(now: .zero) ?? .zero
        #expect(before >= .seconds(256))
        schedule.surroundingsChanged(now: .zero)
        #expect(schedule.wait(now: .zero) == nil)
        #expect(schedule.resting(now: .zero).devices.isEmpty)
        #expect(schedule.problem != nil, "nothing was answered yet")
        end(decision)
        #expect(
            (schedule.wait(now: .zero) ?? .zero) >= .seconds(450), "the wait is as long as it would have been"
        )
    }

    @Test(arguments: [
        UploadDecision.pause(.seconds(500)), .backOff(.serverError(status: 503), retryAfter: .seconds(500)),
        .waitForCredentials(.authenticationFailed),
    ])
    mutating func aNetworkThatComesDoesNotHurryTheServer(_ decision: UploadDecision) {
        end(decision)
        schedule.surroundingsChanged(now: .seconds(1))
        #expect((schedule.wait(now: .seconds(1)) ?? .zero) >= .seconds(500))
    }

    @Test mutating func aNetworkThatComesChangesNothingForWhoRefusesEverything() {
        for _ in 1...3 { end(.quarantine(malformed), count: 1) }
        schedule.surroundingsChanged(now: .seconds(1))
        #expect(schedule.wait(now: .seconds(1)) == .seconds(3600))
        var full = UploadSchedule()
        full.couldNotSend(.outbox("full"), now: .zero, using: &random)
        full.surroundingsChanged(now: .zero)
        #expect(full.wait(now: .zero) != nil)
    }

    @Test mutating func aServerThatTakesLessAtOnceGetsLessUntilItTakesMore() {
        let tooLarge = Refusal(code: "batch_too_large", message: "")
        end(.halve(tooLarge), count: 500)
        #expect(schedule.plan(for: "a").limit == 250)
        #expect(schedule.plan(for: "b").limit == 250, "it is the same server")
        end(.halve(tooLarge), "b", count: 250)
        for _ in 1...8 {
            #expect(schedule.plan(for: "a").limit == 125)
            end(Self.settled(125), count: 125)
        }
        #expect(schedule.plan(for: "a").limit == 250, "after a while more is tried")
        for _ in 1...8 { end(Self.settled(250), count: 250) }
        #expect(schedule.plan(for: "a").limit == 500)
        // One sample that is too large by itself says nothing of the others.
        for count in [500, 250, 125, 62, 31, 15, 7, 3] { end(.halve(tooLarge), count: count) }
        #expect(schedule.plan(for: "a").limit == 1)
        #expect(end(.quarantine(tooLarge), count: 1) == .quarantine(tooLarge))
        #expect(schedule.plan(for: "a").limit == 500)
        end(Self.settled(500))
        // A poison sample is searched for inside of what the server takes.
        end(.halve(tooLarge), count: 500)
        end(.halve(malformed), count: 250)
        #expect(schedule.plan(for: "a").limit == 125)
        #expect(schedule.plan(for: "b").limit == 250)
    }

    @Test mutating func aRefusedReportIsSaidUntilOneOfItsKindIsTaken() {
        let refused = UploadProblem.reportRefused(code: "malformed")
        schedule.reportRefused(.gaps, code: "malformed", device: "a")
        #expect(schedule.problem == refused && schedule.resting(now: .zero).devices.isEmpty)
        end(Self.settled(500))
        schedule.reportTaken(.status, device: "a")
        schedule.reportTaken(.gaps, device: "b")
        #expect(schedule.problem == refused, "samples and a status say nothing of gaps")
        end(.backOff(.serverError(status: 500), retryAfter: nil))
        #expect(schedule.problem == .serverError(status: 500), "what keeps samples comes first")
        end(Self.settled(500))
        schedule.reportTaken(.gaps, device: "a")
        #expect(schedule.problem == nil)
    }

    @Test mutating func aReportThatFailedAsEverythingMayIsOverWithAnyAnswer() {
        schedule.reportFailed(.gaps, .serverError(status: 500), device: "a")
        #expect(schedule.problem == .serverError(status: 500) && schedule.lastFailure == schedule.problem)
        #expect(schedule.wait(now: .zero) == nil && schedule.resting(now: .zero).devices.isEmpty)
        end(Self.settled(500), "b")
        #expect(schedule.problem == nil && schedule.answerCount == 1)
    }

    @Test mutating func aStateThatCanNotBeReadRestsItsDeviceAndForAMomentAll() {
        for _ in 1...8 {
            schedule.stateEnded(
                .backOff(.serverError(status: 500), retryAfter: nil), device: "a", now: .zero, using: &random)
            #expect(schedule.wait(now: .zero) != nil)
            schedule.stateEnded(.taken, device: "b", now: .zero, using: &random)
            #expect(schedule.wait(now: .zero) == nil && schedule.resting(now: .zero).devices == ["a"])
        }
        #expect(schedule.resting(now: .zero).until ?? .zero > .seconds(60))
        schedule.stateEnded(.unknownDevice, device: "a", now: .zero, using: &random)
        #expect(schedule.problem == nil && schedule.resting(now: .zero).devices.isEmpty)
    }

    @Test func everyProblemSaysWhatHappenedAndWhatToDo() {
        let all: [UploadProblem] =
            NoAnswer.allCases.map { .noAnswer($0) } + [
                .serverError(status: 500), .rateLimited, .notThisAPI(status: 302), .captivePortal,
                .inconsistentAnswer,
                .nothingConfirmed, .encodingRefused, .authenticationFailed, .forbidden,
                .leaseForbidden, .serverRefuses(code: "malformed"), .reportRefused(code: "malformed"),
                .serverLacks(count: 3),
                .tokenFile(.unreadable("No such file")), .tokenFile(.readableByOthers),
                .tokenFile(.malformed),
                .outbox("full"),
            ]
        for problem in all {
            #expect(!problem.code.isEmpty && problem.code.allSatisfy { $0.isLowercase || $0 == "_" })
            #expect(problem.text.hasSuffix(".") || problem.text.hasSuffix("full"))
            #expect(problem.remedy.hasSuffix("."))
            #expect(!problem.apiCode.isEmpty)
        }
        #expect(UploadProblem.noAnswer(.certificateTime).remedy.contains("clock"))
    }
}
