import IngestAPI
import Testing

@testable import UploadDecisions

@Suite struct RetryAfterTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("120", 120), (" 5 ", 5), ("3600", 3600), ("3601", 3600),
            ("99999999999999999999999", 3600),
        ])
    func secondsAreTakenAndBounded(_ text: String, _ seconds: Int) {
        #expect(RetryAfter.duration(text, date: nil, wallTime: wallTime) == .seconds(seconds))
    }

    @Test(arguments: ["", " ", "-1", "1.5", "soon", "+3", "0x10", "1 2", "27 Oct 2026"])
    func anythingElseIsIgnored(_ text: String) {
        #expect(RetryAfter.duration(text, date: nil, wallTime: wallTime) == nil)
    }

    @Test func aDateCountsFromTheServersOwnClockWhenItTellsIt() {
        let until = "Tue, 27 Oct 2026 05:31:30 GMT"
        // wallTime is 2026-10-27T05:31:00Z.
        #expect(RetryAfter.duration(until, date: nil, wallTime: wallTime) == .seconds(30))
        #expect(
            RetryAfter.duration(until, date: "Tue, 27 Oct 2026 05:31:20 GMT", wallTime: wallTime)
                == .seconds(10))
        // A gateway without a clock of its own believes that it is 1970.
        let epoch = APITime(milliseconds: 0)
        #expect(
            RetryAfter.duration(until, date: "Tue, 27 Oct 2026 05:31:20 GMT", wallTime: epoch) == .seconds(10)
        )
        #expect(RetryAfter.duration(until, date: nil, wallTime: epoch) == .seconds(3600))
        #expect(
            RetryAfter.duration(until, date: "Tue, 27 Oct 2026 06:00:00 GMT", wallTime: wallTime) == .zero)
    }
}
