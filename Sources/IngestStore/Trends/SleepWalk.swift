import CivilTime
import Trends

/// Finds out, record by record, which instants a day of sleep depends on, and which days depend on an instant.
struct SleepWalk {
    let source: TrendSource

    /// Records are read for so many milliseconds at a time.
    private static let step = 12 * millisecondsPerHour

    /// Where the records are from which the sleeps that end on these dates are computed.
    func instants(of dates: ClosedRange<CivilDate>, gaps: [TrendGap]) throws(StorageFailure) -> Range<Int64> {
        // What comes this long after the end neither cuts a stage that matters nor goes on with its sleep.
        let end = SleepLookback.end(of: dates.upperBound) + SleepRules.longestSilence
        var first = SleepLookback.start(of: dates.lowerBound)
        var lookback = SleepLookback(from: dates.lowerBound, gaps: gaps)
        if let next = try source.samples(first..<first + SleepRules.longestSilence).first {
            _ = lookback.isEnough(next)
        }
        var begin = first
        while begin > first - SleepRules.longestSilence {
            let records = try source.samples(begin - Self.step..<begin)
            for record in records.reversed() {
                guard first - record.recordedAt < SleepRules.longestSilence else { return first..<end }
                first = record.recordedAt
                if lookback.isEnough(record) { return first..<end }
            }
            begin -= Self.step
        }
        return first..<end
    }

    /// Where sleeps and stages may have changed when records of these dates came, changed or went, or a gap began
    /// there. The records of other dates are as they were.
    ///
    /// Of two records that are as they were, one may have been out of bed, or they may be far apart: no sleep
    /// crossed there before or crosses there now.
    func dates(touchedOn dates: ClosedRange<CivilDate>) throws(StorageFailure) -> ClosedRange<CivilDate> {
        let instants = source.instants(of: dates)
        var last: TrendSample?
        var begin = instants.upperBound
        walk: while begin - (last?.recordedAt ?? instants.upperBound) < SleepRules.longestSilence {
            for record in try source.samples(begin..<begin + Self.step) {
                if let last, last.ends(before: record) { break walk }
                if last == nil, record.recordedAt - instants.upperBound >= SleepRules.longestSilence {
                    break walk
                }
                last = record
            }
            begin += Self.step
        }
        // The record before them: its stage lasted to one of them, or does now.
        let from = instants.lowerBound - SleepRules.longestSilence
        return source.dates(of: from..<(last?.recordedAt ?? instants.upperBound) + SleepRules.longestSilence)
    }
}

extension TrendSample {
    /// No sleep goes on from this record to the next, whatever gaps there are.
    fileprivate func ends(before later: TrendSample) -> Bool {
        value == SleepStage.outOfBed.rawValue || later.recordedAt - recordedAt >= SleepRules.longestSilence
    }
}
