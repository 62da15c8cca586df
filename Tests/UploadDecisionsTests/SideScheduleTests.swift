import Testing

@testable import UploadDecisions

/// What keeps persons and comparisons from being answered holds up no sample.
@Suite struct SideScheduleTests {
    private struct Run {
        var side = SideSchedule(limits: .init(first: .seconds(10), longest: .seconds(100)))
        var samples = UploadSchedule()
        var random = SystemRandomNumberGenerator()

        mutating func ended(_ decision: UploadDecision, at seconds: Int = 0) -> SideSchedule.Outcome {
            side.ended(decision, device: "a", schedule: &samples, now: .seconds(seconds), using: &random)
        }

        /// Seconds until it is due again; nil = never.
        var rest: Int? { (0...200).first { side.isDue(now: .seconds($0)) } }
        var isSampleHeldUp: Bool { samples.wait(now: .zero) != nil || samples.problem != nil }
    }

    @Test func whatFailsRestsAloneAndLonger() {
        var run = Run()
        #expect(run.rest == 0)
        #expect(run.ended(.backOff(.serverError(status: 500), retryAfter: nil)) == .failed)
        let first = run.rest ?? 0
        #expect((5...10).contains(first))
        for _ in 0..<10 { #expect(run.ended(.backOff(.noAnswer(.timedOut), retryAfter: nil)) == .failed) }
        #expect((50...100).contains(run.rest ?? 0))
        #expect(run.ended(.backOff(.notThisAPI(status: 404), retryAfter: .seconds(150))) == .failed)
        #expect((150...165).contains(run.rest ?? 0))
        #expect(!run.isSampleHeldUp)
        #expect(run.ended(.taken) == .answered)
        #expect(run.rest == 0)
        #expect(run.ended(.backOff(.serverError(status: 500), retryAfter: nil)) == .failed)
        #expect((5...10).contains(run.rest ?? 0), "an answer ends the row of failures")
    }

    @Test func whatIsForbiddenRestsForLongOrUntilTheTokenChanges() {
        var run = Run()
        #expect(run.ended(.waitForCredentials(.forbidden)) == .failed)
        #expect(run.side.isForbidden && run.rest == nil && !run.isSampleHeldUp)
        #expect(run.side.wait(now: .zero) == .seconds(3600))
        #expect(!run.side.isDue(now: .seconds(3599)) && !run.side.mayAsk(now: .seconds(3599)))
        #expect(run.side.isDue(now: .seconds(3600)) && run.side.mayAsk(now: .seconds(3600)))
        #expect(run.side.isForbidden, "until it is said otherwise")
        run.side.credentialsChanged()
        #expect(run.rest == 0 && !run.side.isForbidden)
        #expect(run.ended(.waitForCredentials(.forbidden)) == .failed)
        #expect(run.ended(.taken, at: 3600) == .answered)
        #expect(!run.side.isForbidden && run.rest == 0)
    }

    @Test func whatTheServerAskedForIsNotEndedByTheNetwork() {
        var run = Run()
        #expect(run.ended(.backOff(.serverError(status: 503), retryAfter: .seconds(60))) == .failed)
        run.side.surroundingsChanged()
        #expect((60...66).contains(run.rest ?? 0))
        #expect(run.ended(.backOff(.serverError(status: 503), retryAfter: nil)) == .failed)
        run.side.surroundingsChanged()
        #expect(run.rest == 0)
    }

    @Test func aRefusalIsFinalAndNobodysProblem() {
        var run = Run()
        #expect(run.ended(.passOver(Refusal(code: "malformed", message: ""))) == .refused)
        #expect(run.rest == 0)
        #expect(!run.isSampleHeldUp)
        #expect(run.ended(.unknownDevice) == .answered)
    }

    @Test func whatConcernsEveryRequestIsHeard() {
        var run = Run()
        #expect(run.ended(.waitForCredentials(.authenticationFailed)) == .failed)
        #expect(run.samples.waitsForCredentials)
        run = Run()
        #expect(run.ended(.pause(.seconds(60))) == .failed)
        #expect(run.samples.wait(now: .zero) != nil)
        #expect(run.ended(.stop) == .failed)
    }

    @Test func anAnswerEndsAnOutageOfTheSamples() {
        var run = Run()
        run.samples.requestEnded(
            .backOff(.noAnswer(.timedOut), retryAfter: nil), device: "a", now: .zero, using: &run.random)
        #expect(run.isSampleHeldUp)
        #expect(run.ended(.taken) == .answered)
        #expect(!run.isSampleHeldUp)
    }
}
