import BandProfile
import GatewayModel
import Testing

@testable import HistorySync

/// Overwritten or freed: the band does not say, its capacity does.
struct HoleJudgeTests {
    struct Case: Sendable {
        var expected: UInt32
        var limit: UInt32
        var oldest: UInt32
        var newest: UInt32
        var capacity: UInt32
        var parts: [(ClosedRange<UInt32>, GapCause)]
    }

    static let cases: [Case] = [
        // Nothing is gone.
        Case(expected: 10, limit: 20, oldest: 10, newest: 100, capacity: 1_000, parts: []),
        Case(expected: 10, limit: 20, oldest: 1, newest: 100, capacity: 1_000, parts: []),
        // The ring is full: its newest 100 are all there, so what is below was overwritten.
        Case(
            expected: 10, limit: 500, oldest: 101, newest: 200, capacity: 100,
            parts: [(10...100, .overwritten)]),
        // The ring has room: only an ack can have freed it.
        Case(
            expected: 10, limit: 500, oldest: 51, newest: 200, capacity: 1_000,
            parts: [(10...50, .freedElsewhere)]),
        // Both: below 101 the ring would have overwritten anyway, 101 to 150 were freed.
        Case(
            expected: 10, limit: 500, oldest: 151, newest: 200, capacity: 100,
            parts: [(10...100, .overwritten), (101...150, .freedElsewhere)]),
        // The border is exact.
        Case(
            expected: 100, limit: 500, oldest: 102, newest: 200, capacity: 100,
            parts: [(100...100, .overwritten), (101...101, .freedElsewhere)]),
        Case(
            expected: 101, limit: 500, oldest: 102, newest: 200, capacity: 100,
            parts: [(101...101, .freedElsewhere)]),
        // Never past the record that was read next.
        Case(
            expected: 10, limit: 20, oldest: 51, newest: 200, capacity: 100, parts: [(10...19, .overwritten)]),
        // A band that says that it can hold nothing, up to the last number.
        Case(
            expected: 1, limit: .max, oldest: .max, newest: .max, capacity: 0,
            parts: [(1...(.max - 1), .overwritten)]),
        Case(
            expected: 1, limit: .max, oldest: .max, newest: .max, capacity: .max,
            parts: [(1...(.max - 1), .freedElsewhere)]),
    ]

    @Test(arguments: cases.indices)
    func whatIsGoneIsSplitAtTheRingsCapacity(index: Int) {
        let given = Self.cases[index]
        var info = Given.info(given.oldest...given.newest)
        info.capacity = given.capacity
        let parts = HoleJudge.gone(from: given.expected, below: given.limit, info: info)
        #expect(
            parts
                == given.parts.map {
                    SuspectedGap(
                        ring: Given.ring, firstSeq: $0.0.lowerBound, lastSeq: $0.0.upperBound, cause: $0.1)
                })
    }
}
