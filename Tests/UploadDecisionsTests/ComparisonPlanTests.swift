import IngestAPI
import Testing

@testable import UploadDecisions

@Suite struct ComparisonPlanTests {
    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour
    private static let start: Int64 = 1_793_059_200_000  // 2026-10-27T00:00:00Z
    private let ring = "b5e5d00d"

    private func plan(_ moments: [(seq: UInt32, time: Int64, bound: Int64?)]) -> ComparisonPlan {
        ComparisonPlan(
            ring: ring, moments.map { .init(seq: $0.seq, time: Self.start + $0.time, bound: $0.bound) })
    }

    /// Hours since the start, from and to.
    private func hours(_ plan: ComparisonPlan) -> [[Int64]] {
        plan.windows.map { window in
            [window.from, window.to].map { ($0.milliseconds - Self.start) / Self.hour }
        }
    }

    private func page(_ seqs: [UInt32], ring: String? = nil) -> [StoredSample] {
        seqs.map { seq in
            StoredSample(
                deviceID: "band_1", ring: ring ?? self.ring,
                sample: APISample(
                    type: .steps, seq: seq, value: 1, recordedAt: APITime(milliseconds: 0),
                    tzOffsetMinutes: nil,
                    bandTimeMilliseconds: 0, clockID: 1, flags: 1))
        }
    }

    @Test func timesAreReadWithTwiceTheirBoundAndAnHour() {
        let one = plan([(1, 0, 1_500)])
        #expect(one.windows.count == 1)
        #expect(one.windows.first?.from.milliseconds == Self.start - Self.hour - 3_000)
        #expect(one.windows.first?.to.milliseconds == Self.start + Self.hour + 3_001)
        #expect(hours(plan([(1, 0, nil)])) == [[-1, 1]])
        // Not for weeks: what is so vague is looked up by its seq.
        #expect(hours(plan([(1, 0, 500 * Self.day)])) == [[-49, 49]])
        #expect(plan([]).windows.isEmpty && !plan([]).wantsRanges)
    }

    @Test func timesThatLieApartAreReadApart() {
        let found = hours(
            plan([(3, 50 * Self.hour, 0), (1, 0, 0), (2, 20 * Self.hour, 0), (4, 90 * Self.hour, 0)]))
        #expect(found == [[-1, 21], [49, 51], [89, 91]])
        #expect(hours(plan([(1, 0, 0), (2, 25 * Self.hour, 0)])) == [[-1, 26]])
        #expect(plan((0..<500).map { (UInt32($0), Int64($0) * 100 * Self.day, 0) }).windows.count == 64)
    }

    @Test func eachWindowIsReadToItsEndOrItsLimit() {
        var plan = plan([(1, 0, 0), (2, 90 * Self.hour, 0)])
        plan.saw(page([1]), isLast: false)
        #expect(plan.windows.count == 2)
        plan.saw(page([]), isLast: true)
        #expect(plan.windows.count == 1)
        for _ in 0..<9 { plan.saw([], isLast: false) }
        #expect(plan.windows.count == 1)
        plan.saw([], isLast: false)
        #expect(plan.windows.isEmpty)
        plan.saw([], isLast: true)
        #expect(plan.windows.isEmpty)
    }

    private func range(_ day: String, _ seqs: ClosedRange<UInt32>, ring: String? = nil) -> DayRange {
        DayRange(
            ring: ring ?? self.ring, type: .steps, day: day, count: 1, minSeq: seqs.lowerBound,
            maxSeq: seqs.upperBound)
    }

    @Test func whatWasNotThereIsLookedUpByItsSeq() {
        var plan = plan([(1, 0, 0), (2, 0, 0), (7, 0, 0)])
        plan.saw(page([1]) + page([2, 7], ring: "00000001"), isLast: true)
        #expect(plan.wantsRanges)
        plan.take([
            range("2026-10-20", 1...1), range("2026-10-21", 3...6), range("2026-10-25", 2...4),
            range("2026-10-28", 5...9), range("2026-10-28", 7...7),
            range("2026-10-29", 2...9, ring: "00000001"),
            range("nonsense", 2...7), range("2026-10-30", 8...9),
        ])
        #expect(hours(plan) == [[-48, -24], [24, 48]])
        plan.saw(page([2]), isLast: true)
        plan.saw([], isLast: true)
        #expect(plan.windows.isEmpty)
        #expect(!plan.wantsRanges, "once is enough")
    }

    @Test func aDayThatWasReadIsNotReadAgain() {
        var plan = plan([(1, 0, 0), (2, 50 * Self.hour, 0), (3, 26 * Self.hour, 0)])
        plan.saw(page([1, 2]), isLast: true)
        plan.take([range("2026-10-27", 1...9), range("2026-10-28", 1...9), range("2026-10-29", 1...9)])
        #expect(hours(plan) == [[48, 72]])
    }

    @Test func whatIsAllThereNeedsNoList() {
        var plan = plan([(1, 0, 0), (2, 0, 0)])
        plan.saw(page([2, 1, 9]), isLast: true)
        #expect(plan.windows.isEmpty && !plan.wantsRanges)
    }
}
