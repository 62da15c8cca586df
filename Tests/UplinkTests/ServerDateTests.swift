import HTTPClient
import Testing

@testable import Uplink

/// What the server says the time is.
@Suite struct ServerDateTests {
    static let date = HTTPHeader("Date", "Tue, 27 Oct 2026 05:31:00 GMT")

    /// What is told of one answer that took 400 ms. The upload clock begins at 1000 s.
    private func told(_ headers: [HTTPHeader], url: String = "https://server", status: Int = 503) -> [String]
    {
        let run = Run(url: url)
        run.outbox.add([sample(1)])
        let clock = run.clock
        run.server.set(fault: { _, _ in
            clock.advance(by: .milliseconds(400))
            return .success(HTTPResponse(status: status, headers: headers))
        })
        _ = run.worker.step(wasWoken: false)
        return run.dates.value
    }

    @Test func everyVerifiedAnswerTellsTheTime() {
        for status in [200, 302, 401, 404, 503] {
            #expect(told([Self.date], status: status) == ["1793079060000 1000000 1000400"])
        }
        #expect(told([HTTPHeader("date", Self.date.value)], url: "HTTPS://server").count == 1)
    }

    static let others: [[HTTPHeader]] = [
        [], [HTTPHeader("Date", "27 Oct 2026 05:31:00")], [HTTPHeader("Date", "")],
        [Self.date, HTTPHeader("Age", "0")], [HTTPHeader("age", "17"), Self.date],
        [Self.date, Self.date], [Self.date, HTTPHeader("DATE", "Tue, 27 Oct 2026 05:31:09 GMT")],
    ]

    @Test(arguments: others) func cachesAndWhatIsNotClearTellNothing(_ headers: [HTTPHeader]) {
        #expect(told(headers).isEmpty)
    }

    @Test(arguments: ["http://server", "http://127.0.0.1", "HTTP://https://"])
    func plainHTTPTellsNothing(_ url: String) {
        #expect(told([Self.date], url: url).isEmpty)
    }

    @Test func noAnswerTellsNothing() {
        let run = Run(url: "https://server")
        run.outbox.add([sample(1)])
        run.server.set(fault: { _, _ in .failure(HTTPFailure(.timedOut, "")) })
        _ = run.worker.step(wasWoken: false)
        #expect(run.dates.value.isEmpty)
    }

    @Test func questionsTellTheTimeToo() {
        let run = Run(url: "https://server")
        run.server.set(fault: { _, proper in
            var answer = proper()
            answer.headers.append(Self.date)
            return .success(answer)
        })
        #expect(run.ask() == .unknownDevice)
        #expect(run.dates.value.count == 1)
    }
}
