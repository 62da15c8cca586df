import Testing
import UploadDecisions

@Suite struct SendBudgetTests {
    private func traffic(_ bytes: Int) -> Traffic {
        Traffic(requests: 1, bytesSent: bytes - SendBudget.overheadBytes, bytesReceived: 0)
    }

    @Test func withoutACapNothingWaits() {
        var budget = SendBudget(bytesPerSecond: nil)
        budget.spent(traffic(1 << 40), now: .zero)
        #expect(budget.wait(now: .zero) == nil)
    }

    @Test func theNextRequestWaitsUntilThisOneIsPaidFor() {
        var budget = SendBudget(bytesPerSecond: 1000)
        #expect(budget.wait(now: .seconds(50)) == nil)
        budget.spent(traffic(11_000), now: .seconds(50))
        #expect(budget.wait(now: .seconds(50)) == .seconds(60), "less what was not used in the second before")
        #expect(budget.wait(now: .milliseconds(59_999)) == .seconds(60))
        #expect(budget.wait(now: .seconds(60)) == nil)
        // Answers are paid for, too, also those that nobody waited for.
        budget.spent(Traffic(requests: 1, bytesSent: 300, bytesReceived: 4000), now: .seconds(60))
        budget.spent(traffic(1000), now: .seconds(60))
        #expect(budget.wait(now: .seconds(60)) == .seconds(66))
    }

    @Test func aLongRestSavesUpNoMoreThanASecond() {
        var budget = SendBudget(bytesPerSecond: 1000)
        budget.spent(traffic(5000), now: .seconds(10))
        budget.spent(traffic(3000), now: .seconds(86_400))
        #expect(budget.wait(now: .seconds(86_400)) == .seconds(86_402))
    }

    @Test func lookingAtNothingCostsNothing() {
        var budget = SendBudget(bytesPerSecond: 1)
        budget.spent(Traffic(), now: .zero)
        #expect(budget.wait(now: .zero) == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func noTimeSeesMoreThanTheRateAndOneRequest(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let rate = Int.random(in: 1...100_000, using: &random)
        var budget = SendBudget(bytesPerSecond: rate)
        var now = Duration.seconds(1000)
        var sent: [(at: Duration, bytes: Int)] = []
        for _ in 0..<300 {
            if let until = budget.wait(now: now) { now = until }
            let bytes = Int.random(in: 800...60_000, using: &random)
            sent.append((now, bytes))
            budget.spent(traffic(bytes), now: now)
            if Bool.random(using: &random) {
                now += .milliseconds(Int.random(in: 0...20_000, using: &random))
            }
        }
        for first in stride(from: 0, to: sent.count, by: 7) {
            var total = 0
            for last in first..<sent.count {
                total += sent[last].bytes
                let seconds = (sent[last].at - sent[first].at) / .seconds(1)
                let allowed = Double(rate) * (seconds + 1) + 60_000
                #expect(Double(total) <= allowed * 1.000_001, "seed \(seed)")
            }
        }
    }
}
