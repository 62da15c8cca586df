import Testing

@testable import Gateway

struct BackOffTests {
    @Test func eachFailureInARowDoublesThePauseUpToTheMost() {
        var backOff = BackOff()
        let pauses = (0..<12).map { _ in backOff.failed(jitter: 0) }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.last == .seconds(300))
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func aSuccessForgetsTheFailures() {
        var backOff = BackOff()
        for _ in 0..<5 { _ = backOff.failed(jitter: 0) }
        backOff.succeeded()
        #expect(backOff.failed(jitter: 0) == .seconds(1))
    }

    @Test func jitterAddsAtMostAQuarter() {
        var backOff = BackOff()
        #expect(backOff.failed(jitter: 1) == .milliseconds(1_250))
        backOff.succeeded()
        #expect(backOff.failed(jitter: 99) == .milliseconds(1_250))
    }

    @Test func aThousandFailuresDoNotOverflow() {
        var backOff = BackOff()
        for _ in 0..<1_000 { #expect(backOff.failed(jitter: 0.5) > .zero) }
    }
}
