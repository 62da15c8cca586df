import Testing

@testable import UploadDecisions

/// What fails beside the samples rests alone.
@Suite struct ReportScheduleTests {
    private struct Run {
        var reports = ReportSchedule(
            limits: .init(backOff: .init(first: .seconds(10), longest: .seconds(100))))
        var samples = UploadSchedule()
        var random = SeededRandom(seed: 7)

        @discardableResult
        mutating func ended(
            _ decision: UploadDecision, _ request: ReportSchedule.Request = .gaps, of device: String = "a",
            at seconds: Int = 0, took: Int = 0
        ) -> SideSchedule.Outcome {
            reports.ended(
                decision, request, of: device, since: .seconds(seconds - took), unknownRest: .seconds(3600),
                schedule: &samples, now: .seconds(seconds), using: &random)
        }

        func isDue(_ request: ReportSchedule.Request = .gaps, of device: String = "a", at seconds: Int = 0)
            -> Bool
        {
            reports.isDue(request, of: device, now: .seconds(seconds))
        }

        var isSampleHeldUp: Bool {
            samples.wait(now: .zero) != nil || !samples.resting(now: .zero).devices.isEmpty
        }
    }

    private static let troubles: [UploadDecision] = [
        .backOff(.serverError(status: 500), retryAfter: nil),
        .backOff(.serverError(status: 503), retryAfter: .seconds(5)),
        .backOff(.notThisAPI(status: 200), retryAfter: nil), .backOff(.captivePortal, retryAfter: nil),
        .backOff(.encodingRefused, retryAfter: nil), .backOff(.noAnswer(.timedOut), retryAfter: nil),
        .backOff(.noAnswer(.connectionLost), retryAfter: nil), .waitForCredentials(.forbidden),
    ]

    @Test(arguments: ReportSchedule.Request.allCases, troubles.indices)
    func whatFailsRestsAlone(_ request: ReportSchedule.Request, _ index: Int) {
        var run = Run()
        #expect(run.ended(Self.troubles[index], request) == .failed)
        #expect(!run.isSampleHeldUp && !run.isDue(request) && run.isDue(request, of: "b"))
        for other in ReportSchedule.Request.allCases where other != request { #expect(run.isDue(other)) }
        let next = run.reports.next(after: .zero)
        #expect(next.map { $0 > .zero && run.reports.isDue(request, of: "a", now: $0) } == true)
        #expect(run.reports.yieldsToBatch)
        run.reports.batchHadItsTurn()
        #expect(!run.reports.yieldsToBatch)
    }

    @Test func whatIsAboutEveryRequestIsTheSamplesToo() {
        for decision in [
            .waitForCredentials(.authenticationFailed), .pause(.seconds(60)),
            .backOff(.noAnswer(.cannotConnect), retryAfter: nil), .backOff(.noAnswer(.tls), retryAfter: nil),
        ] as [UploadDecision] {
            var run = Run()
            #expect(run.ended(decision) == .failed)
            #expect(run.isSampleHeldUp && run.reports.yieldsToBatch)
        }
    }

    @Test func theyRestTogetherForAsLongAsOneTook() {
        var run = Run()
        run.ended(.backOff(.noAnswer(.timedOut), retryAfter: nil), at: 100, took: 60)
        for request in ReportSchedule.Request.allCases {
            #expect(!run.isDue(request, of: "b", at: 159) && run.isDue(request, of: "b", at: 160))
        }
        #expect(run.reports.next(after: .seconds(100)) == .seconds(160))
        #expect(!run.isSampleHeldUp)
        run.reports.surroundingsChanged()
        #expect(run.isDue(at: 100))
    }

    @Test func whatIsRefusedRestsAsLongAsItIsTold() {
        var run = Run()
        #expect(run.ended(.passOver(Refusal(code: "malformed", message: "")), .status) == .refused)
        run.reports.rest(.status, of: "a", until: .seconds(3600))
        run.reports.surroundingsChanged()
        #expect(!run.isDue(.status, at: 3599) && run.isDue(.status, at: 3600) && run.isDue(.gaps))
        #expect(run.reports.next(after: .zero) == .seconds(3600) && run.reports.yieldsToBatch)
    }

    /// The first failure may be everything's; one that goes on while others are answered is this report's.
    @Test func aPersonIsToldWhatFails() {
        var run = Run()
        run.ended(.backOff(.noAnswer(.timedOut), retryAfter: nil))
        #expect(run.samples.problem == .noAnswer(.timedOut))
        run.ended(.taken, .status)
        #expect(run.samples.problem == nil, "others are answered")
        for seconds in [100, 200, 300] {
            run.ended(.backOff(.noAnswer(.timedOut), retryAfter: nil), at: seconds)
            run.ended(.taken, .status)
            #expect(run.samples.problem == .reportRefused(code: "network_timeout"))
        }
        run.samples.reportTaken(.gaps, device: "a")
        run.ended(.taken)
        #expect(run.samples.problem == nil)
        run.ended(.backOff(.serverError(status: 500), retryAfter: nil), at: 400)
        #expect(run.samples.problem == .serverError(status: 500))
        run.ended(.waitForCredentials(.forbidden), .status, at: 400)
        #expect(run.samples.problem == .reportRefused(code: "forbidden"))
        run = Run()
        run.ended(.backOff(.serverError(status: 500), retryAfter: nil), .causes)
        #expect(run.samples.problem == nil, "nothing waits for a look")
    }

    @Test func whatIsNeverAnsweredWhileOthersAreIsGivenUp() {
        var run = Run()
        for count in 1...20 {
            run.ended(.backOff(.serverError(status: 500), retryAfter: nil), .causes, at: 100 * count)
            #expect(!run.reports.isGivenUp(.causes, of: "a", run.samples), "nobody is answered")
        }
        run.ended(.taken, .status)
        #expect(run.reports.isGivenUp(.causes, of: "a", run.samples))
        run.ended(.taken, .causes)
        #expect(!run.reports.isGivenUp(.causes, of: "a", run.samples))
        for count in 1...ReportSchedule.patience {
            #expect(!run.reports.isGivenUp(.causes, of: "a", run.samples))
            run.ended(.backOff(.serverError(status: 500), retryAfter: nil), .causes, at: 3000 + 100 * count)
            run.ended(.taken, .status)
        }
        #expect(run.reports.isGivenUp(.causes, of: "a", run.samples))
    }

    /// The first batch makes a device known; a server that goes on saying otherwise is not asked after each.
    @Test func anUnknownDeviceRestsUntilItsFirstBatchAndThenForLong() {
        var run = Run()
        run.ended(.unknownDevice)
        #expect(!run.isDue(.gaps, at: 3599) && !run.isDue(.status, at: 3599) && run.isDue(.state))
        #expect(run.reports.next(after: .zero) == .seconds(3600))
        run.reports.batchSettled(of: "a")
        #expect(run.isDue(.gaps) && run.isDue(.status))
        for seconds in [10, 20, 30] {
            run.ended(.unknownDevice, at: seconds)
            run.reports.batchSettled(of: "a")
            #expect(!run.isDue(.gaps, at: seconds + 3599) && run.isDue(.gaps, at: seconds + 3600))
        }
        #expect(!run.isSampleHeldUp && run.samples.problem == nil)
    }

    @Test func anotherTokenMayDoWhatThisOneMayNot() {
        var run = Run()
        run.ended(.waitForCredentials(.forbidden))
        #expect(!run.isDue(at: 3599) && run.isDue(at: 3600))
        run.reports.credentialsChanged()
        #expect(run.isDue())
    }
}
