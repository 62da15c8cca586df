import CivilTime

/// Tells a reader that goes backwards through a band's stage records when it has enough of them to compute a day.
///
/// Sleeps can cross midnight, so the records of a day are not enough for it. Forwards, a reader needs the records up to
/// and including the first at or after `end(of:)`, of the last day that it computes. Most often a sleep ends within a day;
/// only a band that says "awake" all the time sends a reader back to where that began.
public struct SleepLookback: Sendable {
    /// No moment before this, in milliseconds since 1970 UTC, belongs to the date, whatever the offset.
    public static func start(of date: CivilDate) -> Int64 { date.midnight(offsetMinutes: 1439) }

    /// No moment at or after this belongs to the date, whatever the offset.
    public static func end(of date: CivilDate) -> Int64 {
        date.advanced(by: 1).midnight(offsetMinutes: -1439)
    }

    private let start: Int64
    private let gaps: [Int64]
    private var next: Int64?
    /// Awake in a row from the earliest record so far on.
    private var awake: Range<Int64>?

    /// For `date` and the days after it. `gaps` are those that the day will be computed with.
    public init(from date: CivilDate, gaps: [TrendGap]) {
        start = Self.start(of: date)
        self.gaps = gaps.map(\.after).sorted()
    }

    /// Takes the next earlier record, with values as stored; true = with this one it is enough.
    ///
    /// Begin with a record at or after `start(of:)`, where there is one, and go on in descending order.
    public mutating func isEnough(_ record: TrendSample) -> Bool {
        guard let stage = SleepStage(rawValue: record.value) else { return false }
        let begin = record.recordedAt
        let end = SleepRules.end(of: begin, next: next, gaps: gaps)
        defer {
            next = begin
            noteAwake(stage, begin..<end)
        }
        return endsSleep(stage, end) || endsBeforeAwake(stage, begin..<end)
    }

    /// The sleep of this record ends with it, and the record lasts into no hour of the day.
    private func endsSleep(_ stage: SleepStage, _ end: Int64) -> Bool {
        guard end < start else { return false }
        guard let next else { return true }
        return stage == .outOfBed || next - end >= SleepRules.longestPause
    }

    /// The sleep of this record ends within the awake that comes after it, which does not depend on what was before.
    private func endsBeforeAwake(_ stage: SleepStage, _ time: Range<Int64>) -> Bool {
        guard let awake, awake.upperBound - awake.lowerBound >= SleepRules.longestPause,
            awake.lowerBound + SleepRules.longestPause < start
        else { return false }
        return interrupts(stage, time, before: awake)
    }

    private mutating func noteAwake(_ stage: SleepStage, _ time: Range<Int64>) {
        if let run = awake, interrupts(stage, time, before: run) { awake = nil }
        guard stage == .awake, !time.isEmpty else { return }
        awake = time.lowerBound..<(awake?.upperBound ?? time.upperBound)
    }

    /// As sleeps are divided: another stage, unless it took no time, or time without a stage.
    private func interrupts(_ stage: SleepStage, _ time: Range<Int64>, before awake: Range<Int64>) -> Bool {
        stage == .outOfBed || time.upperBound < awake.lowerBound || (stage != .awake && !time.isEmpty)
    }
}
