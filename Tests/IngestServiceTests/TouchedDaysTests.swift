import CivilTime
import Testing

@testable import IngestService
@testable import IngestStore

@Suite struct TouchedDaysTests {
    /// Beside a plain set of days.
    @Test(arguments: 1...40) func daysAreThoseThatWereInserted(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var touched = TouchedDays()
        var days: Set<Int> = []
        for _ in 0..<300 {
            let day = Int.random(in: -80...80, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let last = day + Int.random(in: 0...30, using: &random)
                touched.subtract(.steps, CivilDate(days: day)...CivilDate(days: last))
                days.subtract(day...last)
            case 1:
                var others = TouchedDays()
                for number in 0..<5 {
                    others.insert(.steps, CivilDate(days: day + number * 3))
                    days.insert(day + number * 3)
                }
                touched.formUnion(others)
            default:
                touched.insert(.steps, CivilDate(days: day))
                days.insert(day)
            }
            let ranges = touched.ranges(.steps).map { $0.lowerBound.days...$0.upperBound.days }
            #expect(ranges.flatMap { Array($0) } == days.sorted(), "seed \(seed)")
            // In order, and with a hole between two.
            for (one, next) in zip(ranges, ranges.dropFirst()) {
                #expect(one.upperBound + 1 < next.lowerBound, "seed \(seed)")
            }
            #expect(TouchedDays(text: touched.text) == touched, "seed \(seed)")
            #expect(touched.isEmpty == days.isEmpty, "seed \(seed)")
        }
    }
}
