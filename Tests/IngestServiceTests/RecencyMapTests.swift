import Testing

@testable import IngestService

@Suite struct RecencyMapTests {
    /// Against the plainest possible map with the same rule.
    @Test func itForgetsWhatWasNotUsedForLongest() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        for _ in 0..<50 {
            let capacity = Int(random.next() % 6) + 1
            var map = RecencyMap<Int, Int>(capacity: capacity)
            var model: [(key: Int, value: Int)] = []
            for step in 0..<300 {
                let key = Int(random.next() % 9)
                let place = model.firstIndex { $0.key == key }
                switch random.next() % 3 {
                case 0:
                    map.set(step, for: key)
                    if let place {
                        model.remove(at: place)
                    } else if model.count == capacity {
                        model.removeFirst()
                    }
                    model.append((key, step))
                case 1:
                    let used = map.use(key)
                    #expect(used == place.map { model[$0].value }, "seed \(seed)")
                    if let place { model.append(model.remove(at: place)) }
                default:
                    let peeked = map.peek(key)
                    #expect(peeked == place.map { model[$0].value }, "seed \(seed)")
                }
                #expect(map.count == model.count, "seed \(seed)")
            }
        }
    }

    @Test func eachKeyHasItsOwnLimitAndTheNumberOfThemIsBounded() {
        let start = ContinuousClock.now
        var limits = RateLimits<Int>(requestsPerMinute: 8, capacity: 2)
        #expect(limits.take(1, now: start) == nil)
        #expect(limits.take(1, now: start) == nil)
        #expect(limits.wait(1, now: start) == 8)
        #expect(limits.take(1, now: start) == 8)
        #expect(limits.wait(2, now: start) == nil)
        #expect(limits.take(2, now: start) == nil)
        #expect(limits.take(1, now: start) == 8)
        // A third key pushes out the one that was quiet for longest: it begins anew.
        #expect(limits.take(3, now: start) == nil)
        #expect(limits.take(2, now: start) == nil)
        #expect(limits.take(2, now: start) == nil)
        #expect(limits.take(2, now: start) == 8)
        #expect(limits.take(2, now: start + .seconds(8)) == nil)
    }
}

private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
