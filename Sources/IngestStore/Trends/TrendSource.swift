import CivilTime
import IngestAPI
import Trends

/// Computes the days of one subject from its samples.
struct TrendSource {
    let kept: DeviceSamples
    let subject: TrendSubject
    /// Offsets that a sample of the device may have, and 0.
    let offsets: ClosedRange<Int>

    /// Days that are computed at once: bounds the samples in memory.
    private static let stride = 16

    /// What the samples of each of `dates` come to; a date without any is absent.
    func days(_ dates: [CivilDate], zone: ZoneRules? = nil) throws(StorageFailure) -> [CivilDate: TrendDay] {
        guard !dates.isEmpty else { return [:] }
        let gaps = subject.type == .sleepStage ? try kept.gapsOfDevice() : []
        var days: [CivilDate: TrendDay] = [:]
        for run in dates.runs(longest: Self.stride) {
            for (date, day) in try compute(run, gaps, zone: zone) where run.contains(date) {
                days[date] = day
            }
        }
        return days
    }

    private func compute(
        _ dates: ClosedRange<CivilDate>, _ gaps: [TrendGap], zone: ZoneRules?
    ) throws(StorageFailure) -> [CivilDate: TrendDay] {
        guard subject.type == .sleepStage else {
            let samples = try samples(instants(of: dates, zoned: zone != nil))
            return TrendDays.compute(type: subject.type, samples: samples, zone: zone)
        }
        let samples = try samples(SleepWalk(source: self).instants(of: dates, gaps: gaps))
        return TrendDays.compute(type: .sleepStage, samples: samples, gaps: gaps, zone: zone)
    }

    /// All instants that may fall on these dates, by the offset of a sample of this device or by any zone.
    func instants(of dates: ClosedRange<CivilDate>, zoned: Bool = false) -> Range<Int64> {
        let offsets = zoned ? APISample.validOffsets : offsets
        let first = dates.lowerBound.midnight(offsetMinutes: offsets.upperBound)
        let last = dates.upperBound.midnight(offsetMinutes: offsets.lowerBound)
        return first..<last + millisecondsPerDay
    }

    /// All dates on which these instants may fall.
    func dates(of instants: Range<Int64>) -> ClosedRange<CivilDate> {
        CivilDate(
            milliseconds: instants.lowerBound, offsetMinutes: offsets.lowerBound)...CivilDate(
                milliseconds: instants.upperBound, offsetMinutes: offsets.upperBound)
    }

    /// What `TrendPlace` takes, in the order that trends take it: by time, ring and seq.
    func samples(_ instants: Range<Int64>) throws(StorageFailure) -> [TrendSample] {
        try kept.samples(subject.type, of: subject.person, instants)
    }
}

extension [CivilDate] {
    /// Dates in order as ranges without holes, none of them longer than `longest` days.
    func runs(longest: Int) -> [ClosedRange<CivilDate>] {
        var runs: [ClosedRange<CivilDate>] = []
        for date in self {
            if let last = runs.last, last.upperBound.distance(to: date) <= 1,
                last.lowerBound.distance(to: date) < longest
            {
                runs[runs.count - 1] = last.lowerBound...date
            } else {
                runs.append(date...date)
            }
        }
        return runs
    }
}
