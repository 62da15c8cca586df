import IngestAPI
import Testing

@testable import UploadDecisions

private let ring = "b5e5d00d"
private let heart = DayReconciliation.Part(ring: ring, type: .heartRate)
private let steps = DayReconciliation.Part(ring: ring, type: .steps)
private let day: Int64 = 20_753  // 2026-10-27
private let start = day * 86_400_000

private func range(
    _ part: DayReconciliation.Part, _ day: String, _ count: Int, _ seqs: ClosedRange<UInt32>
) -> DayRange {
    DayRange(
        ring: part.ring, type: part.type, day: day, count: count, minSeq: seqs.lowerBound,
        maxSeq: seqs.upperBound)
}

private func here(_ seqs: [UInt32]) -> DayReconciliation.Here {
    .init(seqs: seqs, times: seqs.map { start + Int64($0) * 1000 })
}

private func stored(_ part: DayReconciliation.Part, _ seqs: [UInt32], at time: Int64? = nil) -> [StoredSample]
{
    seqs.map { seq in
        StoredSample(
            deviceID: "band_1", ring: part.ring,
            sample: APISample(
                type: part.type, seq: seq, value: 1,
                recordedAt: APITime(milliseconds: time ?? start + Int64(seq) * 1000), tzOffsetMinutes: nil,
                bandTimeMilliseconds: 0, clockID: 1, flags: 1))
    }
}

@Suite struct DayReconciliationTests {
    @Test func equalCountsAndBoundsAreEqual() {
        let same = DayReconciliation(
            day: day, here: [heart: here([1, 2, 9]), steps: here([])],
            there: [range(heart, "2026-10-27", 3, 1...9)])
        #expect(same.differing.isEmpty && !same.wantsSamples)
    }

    @Test(arguments: [(2, 1...9), (3, 1...8), (3, 2...9), (4, 1...9)] as [(Int, ClosedRange<UInt32>)])
    func anotherCountOrBoundDiffers(_ count: Int, _ seqs: ClosedRange<UInt32>) {
        let other = DayReconciliation(
            day: day, here: [heart: here([1, 2, 9])], there: [range(heart, "2026-10-27", count, seqs)])
        #expect(other.differing == [heart] && other.wantsSamples)
    }

    @Test func samplesTellExactlyWhatIsMissingAndWhatIsOnlyThere() {
        var day = DayReconciliation(
            day: day, here: [heart: here([1, 2, 9]), steps: here([4])],
            there: [range(heart, "2026-10-27", 3, 2...10)])
        #expect(day.differing == [heart, steps])
        day.saw(stored(heart, [2, 9, 10]) + stored(heart, [1], at: start - 1) + stored(steps, [], at: nil))
        #expect(day.absent(heart).seqs == [1] && day.strangers(heart) == [10])
        #expect(day.absent(heart).times == [start + 1000])
        #expect(day.absent(steps).seqs == [4])
    }

    @Test func aDayThatIsNotThereNeedsNoReading() {
        let gone = DayReconciliation(day: day, here: [heart: here([1, 2])], there: [])
        #expect(gone.differing == [heart] && !gone.wantsSamples && gone.absent(heart).seqs == [1, 2])
    }

    @Test func whatIsForeignNeedsNoReading() {
        var day = DayReconciliation(day: day, here: [:], there: [range(heart, "2026-10-27", 100, 5...104)])
        #expect(day.onlyThere.map(\.seqs) == [5...104] && day.wantsSamples)
        day.isForeign(heart)
        #expect(!day.wantsSamples && day.countThere(heart) == 100)
    }

    @Test func withoutReadingAllOfADayWithLessThereIsInDoubt() {
        var day = DayReconciliation(
            day: day, here: [heart: here([1, 2, 9]), steps: here([3])],
            there: [range(heart, "2026-10-27", 2, 1...9), range(steps, "2026-10-27", 2, 3...4)])
        day.couldNotRead()
        #expect(day.absent(heart).seqs == [1, 2, 9] && day.absent(steps).seqs.isEmpty)
    }

    @Test func otherDaysAreThoseThatMayHoldIt() {
        let ranges = [
            range(heart, "2026-10-26", 5, 1...5), range(heart, "2026-10-27", 5, 6...10),
            range(heart, "1970-01-01", 2, 2...9), range(heart, "2026-10-28", 5, 11...20),
            range(steps, "2026-10-25", 5, 1...90), range(heart, "no day", 1, 1...90),
        ]
        #expect(ranges.otherDays(holding: [7, 8], of: heart, not: day) == [0])
        #expect(ranges.otherDays(holding: [4, 12], of: heart, not: day) == [day - 1, day + 1, 0])
        #expect(ranges.otherDays(holding: [4, 12], of: heart, not: day, limit: 1).count == 1)
        #expect(ranges.otherDays(holding: [], of: heart, not: day).isEmpty)
    }
}

@Suite struct ExpiryJudgeTests {
    private let ranges = [
        range(heart, "2026-10-27", 100, 901...1000), range(heart, "2026-10-28", 50, 1001...1050),
        range(steps, "2026-10-28", 10, 2001...2010),
    ]

    @Test func whatIsCountedAndNotShownHasExpired() {
        var judge = ExpiryJudge(counts: ["heart_rate": 1050, "steps": 10], ranges: ranges)
        #expect(judge.firstDay == day && judge.mayBeOlder(day: day) && !judge.mayBeOlder(day: day + 1))
        #expect(judge.isOlder(start - 1) && !judge.isOlder(start))
        #expect(!judge.isNothingExpired)
        // The first day has expired in part; what is of another day does not count.
        judge.saw(stored(heart, [5, 7], at: start + 4000) + stored(steps, [1], at: start - 1))
        #expect(judge.isOlder(start + 3999) && !judge.isOlder(start + 4000))
        judge.count(.heartRate, Array(repeating: start - 1, count: 500) + [start + 4000, start + 9000])
        judge.count(.heartRate, Array(repeating: start + 3999, count: 400))
        judge.count(.steps, Array(repeating: start - 1, count: 7))
        #expect(judge.verdict(.heartRate) == .expired)
        #expect(judge.verdict(.steps) == .missing, "each type by itself")
        judge.count(.heartRate, [start - 9])
        #expect(judge.verdict(.heartRate) == .unclear, "one of 901 is missing, and nobody knows which")
    }

    @Test func withoutExpiryWhatIsNotShownIsMissing() {
        var judge = ExpiryJudge(counts: ["heart_rate": 150, "steps": 10], ranges: ranges)
        #expect(judge.isNothingExpired)
        judge.count(.heartRate, Array(repeating: start - 1, count: 900))
        #expect(judge.verdict(.heartRate) == .missing)
        // What came between the two answers makes the ranges more than the counts.
        #expect(ExpiryJudge(counts: ["heart_rate": 140], ranges: ranges).isNothingExpired)
    }

    @Test func aServerThatShowsNothing() {
        var lost = ExpiryJudge(counts: [:], ranges: [])
        lost.count(.heartRate, [1, 2, 3, 4, 5])
        #expect(lost.isOlder(start) && lost.mayBeOlder(day: day) && lost.verdict(.heartRate) == .missing)
        var old = ExpiryJudge(counts: ["heart_rate": 5], ranges: [])
        old.count(.heartRate, [1, 2, 3, 4, 5])
        #expect(old.verdict(.heartRate) == .expired)
    }
}
