import Testing
import UploadDecisions

@Suite struct BisectionTests {
    @Test func aBadSampleIsFoundByHalving() {
        // The bad one is at index 5 of 8.
        var bisection = Bisection()
        #expect(bisection.limit(full: 8) == 8)
        bisection.refused(8)
        #expect(bisection.limit(full: 8) == 4)
        bisection.passed(4)
        #expect(bisection.limit(full: 8) == 2)
        bisection.refused(2)
        #expect(bisection.limit(full: 8) == 1)
        bisection.passed(1)
        #expect(bisection.limit(full: 8) == 1)
        bisection.refused(1)
        #expect(bisection.limit(full: 8) == 8)
    }

    /// A server that refuses any batch with a bad sample in it: each bad one is refused alone, each good one taken once.
    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func everyBadSampleIsFoundAloneAndEveryGoodOneIsTakenOnce(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let full = Int.random(in: 1...500, using: &random)
        var queue = Array(0..<Int.random(in: 1...1500, using: &random))
        let total = queue.count
        let badCount = Int.random(in: 0...6, using: &random)
        let bad = Set((0..<badCount).map { _ in Int.random(in: 0..<total, using: &random) })
        var bisection = Bisection()
        var taken: [Int] = []
        var setAside: [Int] = []
        var requests = 0
        while !queue.isEmpty {
            requests += 1
            let part = Array(queue.prefix(bisection.limit(full: full)))
            if bad.isDisjoint(with: part) {
                taken += part
                queue.removeFirst(part.count)
                bisection.passed(part.count)
            } else {
                if part.count == 1 { setAside.append(queue.removeFirst()) }
                bisection.refused(part.count)
            }
            guard requests < 10_000 else { break }
        }
        #expect(taken == (0..<total).filter { !bad.contains($0) }, "seed \(seed)")
        #expect(Set(setAside) == bad && setAside.count == bad.count, "seed \(seed)")
        // Each bad one costs at most two requests for each halving.
        #expect(requests <= total / full + 1 + bad.count * 22, "seed \(seed): \(requests)")
    }
}
