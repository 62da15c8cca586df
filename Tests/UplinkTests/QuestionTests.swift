import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// A question of a band is answered, or said to be open, beside the upload.
@Suite struct QuestionTests {
    @Test func aQuestionIsAskedWhileTheUploadBacksOffAndItsAnswerEndsTheOutage() {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.timedOut, "")) })
        run.pass(.seconds(3600))
        #expect(run.ask() == .unreachable)
        run.server.set(fault: nil)
        #expect(run.ask() == .unknownDevice)
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 1, "without sitting the back-off out")
    }

    @Test func aQuestionWaitsForTheServerThatAskedForSilence() {
        let run = Run()
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in
            .success(
                HTTPResponse(
                    status: 429, headers: [HTTPHeader("Retry-After", "100")],
                    body: ModelServer.error(APIFailure(.rateLimited, "")).body))
        })
        _ = run.untilItWaits()
        run.server.set(fault: nil)
        #expect(run.ask() == .unreachable)
        #expect(run.log.isEmpty)
        run.pass(.seconds(111))
        #expect(run.outbox.count(.confirmed) == 1)
    }

    @Test func aWrongAddressIsNoUnknownDevice() {
        let run = Run()
        run.server.set(fault: { _, _ in .success(HTTPResponse(status: 404)) })
        #expect(run.ask() == .unreachable)
        #expect(run.ask(deadline: .zero) == .unreachable)
    }
}
