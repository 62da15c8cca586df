import IngestAPI
import Testing

@testable import UploadDecisions

@Suite struct PauseClockTests {
    private let start = APITime(milliseconds: 1_793_079_060_000)
    private func wall(_ seconds: Int64) -> APITime {
        APITime(milliseconds: start.milliseconds + seconds * 1000)
    }

    private func clock(for length: Int64?, readAt seconds: Int64) -> PauseClock {
        var clock = PauseClock()
        clock.take(
            since: start, until: length.map(wall), wallTime: wall(seconds), now: .seconds(100))
        return clock
    }

    @Test func itHoldsUntilItsTimeIsOver() {
        let clock = clock(for: 3600, readAt: 600)
        #expect(clock.holds(now: .seconds(100)) && clock.holds(now: .seconds(100 + 2999)))
        #expect(!clock.holds(now: .seconds(100 + 3000)) && clock.isOver(now: .seconds(100 + 3000)))
        #expect(clock.left(now: .seconds(1100)) == .seconds(2000))
    }

    @Test func withoutAnEndItHoldsUntilAPersonEndsIt() {
        var clock = clock(for: nil, readAt: 600)
        #expect(clock.holds(now: .seconds(1_000_000_000)) && clock.left(now: .zero) == nil)
        clock.take(since: nil, until: nil, wallTime: start, now: .seconds(100))
        #expect(!clock.holds(now: .seconds(100)) && !clock.isOver(now: .seconds(100)))
    }

    @Test("a host that starts in 1970 is not paused for decades") func aClockThatStepsBack() {
        let clock = clock(for: 3600, readAt: -1_793_079_000)
        #expect(clock.holds(now: .seconds(100 + 3599)) && !clock.holds(now: .seconds(100 + 3600)))
    }

    @Test func oneThatEndedWhileTheMachineWasOffIsOver() {
        #expect(clock(for: 3600, readAt: 3600).isOver(now: .seconds(100)))
        #expect(clock(for: 3600, readAt: 90_000).isOver(now: .seconds(100)))
    }
}
