import Testing

@testable import Timekeeping

@Suite struct SeqBracketTests {
    static let week: Int64 = 7 * 86_400_000

    static func point(
        clock: UInt16 = 1, band: Int64, time: Int64, bound: Int64 = 10, newest: UInt32 = 0, age: Int64 = 0
    ) -> ClockPoint {
        ClockPoint(
            clockID: clock, bandTime: band, time: time, bound: bound, newestSeq: newest, newestAge: age)
    }

    @Test func isRightInTheMiddleOfADriftedWeek() {
        // 20 ppm over a week are 12 s; the band is fast.
        let bracket = SeqBracket(
            before: Self.point(band: 0, time: 1_000_000),
            after: Self.point(band: Self.week + 12_096, time: 1_000_000 + Self.week))
        let middle = bracket.estimate(bandTime: (Self.week + 12_096) / 2, clockID: 1)
        #expect(abs(middle.time - (1_000_000 + Self.week / 2)) <= 1)
        #expect(!middle.isUncertain)
        let quarter = bracket.estimate(bandTime: (Self.week + 12_096) / 4, clockID: 1)
        #expect(abs(quarter.time - (1_000_000 + Self.week / 4)) <= 1)
    }

    @Test func outsideTheNearestReadingHoldsAndTheBoundWidens() throws {
        let bracket = SeqBracket(before: Self.point(band: 0, time: 5_000, bound: 40), after: nil)
        let near = bracket.estimate(bandTime: 1_000, clockID: 1)
        let far = bracket.estimate(bandTime: Self.week, clockID: 1)
        #expect(near.time == 6_000)
        #expect(far.time == Self.week + 5_000)
        #expect(try #require(near.bound) < 60)
        // 100 ppm of a week.
        #expect((60_480...62_000).contains(try #require(far.bound)))
    }

    @Test func aTimeAfterItsReadingIsImpossible() throws {
        // Stopped: all that was recorded within the last day shows one time, a day ahead of the reading.
        let bracket = SeqBracket(
            before: Self.point(clock: 2, band: 0, time: 0, newest: 10),
            after: Self.point(band: 0, time: 86_400_000, newest: 20))
        let estimate = bracket.estimate(bandTime: 50_000_000, clockID: 1)
        #expect(estimate.isUncertain)
        #expect(estimate.time <= 86_400_010)
        #expect(estimate.time - (try #require(estimate.bound)) <= 0)
    }

    @Test func aBrokenClockOnlyTellsTheOrder() throws {
        let bracket = SeqBracket(
            before: Self.point(band: 777, time: 1_000), after: Self.point(band: 777, time: 9_001_000))
        let estimate = bracket.estimate(bandTime: 777, clockID: 1, isBroken: true)
        #expect(estimate.isUncertain)
        let bound = try #require(estimate.bound)
        #expect(estimate.time - bound <= 990 && estimate.time + bound >= 9_001_010)
    }

    @Test func anUnreadClockLiesBetweenItsNeighbours() throws {
        let bracket = SeqBracket(
            before: Self.point(clock: 1, band: 0, time: 1_000_000),
            after: Self.point(clock: 3, band: 5, time: 11_000_000))
        // Two million ms long, somewhere within ten.
        let block: ClosedRange<Int64> = 60...2_000_060
        let first = bracket.estimate(bandTime: 60, clockID: 2, block: block)
        let last = bracket.estimate(bandTime: 2_000_060, clockID: 2, block: block)
        #expect(first.isUncertain && last.isUncertain)
        #expect(last.time - first.time == 2_000_000)
        let bound = try #require(first.bound)
        #expect(first.time - bound <= 1_000_000 && last.time + bound >= 11_000_000)
        #expect(bound < 4_010_000)
    }

    @Test func closeNeighboursPlaceAnUnreadClockClosely() throws {
        let bracket = SeqBracket(
            before: Self.point(clock: 1, band: 0, time: 0),
            after: Self.point(clock: 3, band: 0, time: 90_000_000))
        let estimate = bracket.estimate(
            bandTime: 500, clockID: 2, block: 0...1_000_000,
            neighbours: .init(notBefore: 40_000_000, notAfter: 41_200_000))
        #expect(try #require(estimate.bound) < 102_000)
        #expect((40_000_000...40_200_600).contains(estimate.time))
    }

    @Test func withoutAnyReadingNothingIsKnown() {
        let estimate = SeqBracket(before: nil, after: nil).estimate(bandTime: 123, clockID: 1)
        #expect(estimate == TimeEstimate(time: 123, bound: nil, isUncertain: true))
    }

    @Test func aVagueReadingDoesNotBendASureOne() throws {
        // The host had no battery clock the second time: a day of doubt, and half a day off.
        let bracket = SeqBracket(
            before: Self.point(band: 0, time: 0, bound: 20),
            after: Self.point(band: 3_600_000, time: 3_600_000 + 43_200_000, bound: 86_400_000))
        let estimate = bracket.estimate(bandTime: 1_800_000, clockID: 1)
        #expect(estimate.time == 1_800_000)
        #expect(try #require(estimate.bound) < 250)
        #expect(!estimate.isUncertain)
    }

    @Test func readingsOfAStoppedClockContradictEachOther() {
        let first = Self.point(band: 5_000, time: 1_000_000)
        #expect(!first.agrees(with: Self.point(band: 5_000, time: 1_900_000)))
        #expect(first.agrees(with: Self.point(band: 905_050, time: 1_900_000)))
    }

    /// Whatever the drift within the limit and wherever the sample lies, the bound contains the truth.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func boundsContainTheTruth(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let drift = Double.random(in: -100...100, using: &random)
            let origin = Int64.random(in: -2_000_000_000_000...2_000_000_000_000, using: &random)
            func band(_ time: Int64) -> Int64 { origin + time + Int64(Double(time) * drift / 1e6) }
            let moments = (0..<3).map { _ in Int64.random(in: 0...Self.week, using: &random) }.sorted()
            func reading(_ time: Int64) -> ClockPoint {
                let bound = Int64.random(in: 0...2_000, using: &random)
                let error = Int64.random(in: -bound...bound, using: &random)
                return Self.point(band: band(time), time: time + error, bound: bound)
            }
            let hasBefore = Bool.random(using: &random)
            let bracket = SeqBracket(
                before: hasBefore ? reading(moments[0]) : nil,
                after: !hasBefore || Bool.random(using: &random) ? reading(moments[2]) : nil)
            let estimate = bracket.estimate(bandTime: band(moments[1]), clockID: 1)
            #expect(!estimate.isUncertain, "seed \(seed)")
            let bound = try #require(estimate.bound)
            #expect(abs(estimate.time - moments[1]) <= bound, "seed \(seed)")
        }
    }
}

/// SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
