import Testing
import UploadDecisions

@Suite struct BackOffTests {
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func waitsDoubleWithJitterUpToTheCap(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var backOff = BackOff()
        var full = Duration.seconds(1)
        for failure in 1...80 {
            let wait = backOff.next(using: &random)
            #expect(wait >= full / 2 && wait <= full, "seed \(seed), failure \(failure)")
            full = min(full * 2, .seconds(900))
        }
        backOff.reset()
        #expect(backOff.next(using: &random) <= .seconds(1))
    }

    @Test func gatewaysDoNotComeBackAsOne() {
        var waits: Set<Duration> = []
        for seed in 0..<100 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var backOff = BackOff()
            waits.insert(backOff.next(using: &random))
        }
        #expect(waits.count > 90)
    }

    @Test func retryAfterIsAFloorAndHasJitterToo() {
        var random = SeededRandom(seed: 1)
        var backOff = BackOff()
        let wait = backOff.next(retryAfter: .seconds(100), using: &random)
        #expect(wait >= .seconds(100) && wait <= .seconds(110))
        // It never shortens a wait.
        for _ in 1...20 { _ = backOff.next(using: &random) }
        #expect(backOff.next(retryAfter: .seconds(1), using: &random) >= .seconds(450))
    }
}
