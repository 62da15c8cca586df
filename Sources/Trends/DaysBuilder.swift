import CivilTime
import IngestAPI

/// Days while they fill.
struct DaysBuilder {
    private struct Hour {
        var first: Int64
        var last: Int64
        var figures = TrendFigures()
        /// What `resting` is looked for in.
        var samples: [PlacedSample] = []
    }

    private struct Day {
        var figures = TrendFigures()
        var withoutOffset = 0
        var hours: [HourKey: Hour] = [:]
        var samples: [PlacedSample] = []
    }

    private let type: APISampleType
    private var days: [CivilDate: Day] = [:]

    init(type: APISampleType) { self.type = type }

    var finished: [CivilDate: TrendDay] {
        var result: [CivilDate: TrendDay] = [:]
        for (date, day) in days {
            var figures = day.figures
            figures.resting = RestingWindow.lowest(in: day.samples)
            let hours = day.hours.map { key, hour in
                var figures = hour.figures
                figures.resting = RestingWindow.lowest(in: hour.samples)
                return TrendHour(
                    hour: key.hour, offsetMinutes: key.offsetMinutes, first: hour.first, last: hour.last,
                    figures: figures)
            }
            result[date] = TrendDay(
                type: type, date: date, figures: figures, withoutOffset: day.withoutOffset,
                hours: hours.sorted { ($0.hour, $0.offsetMinutes) < ($1.hour, $1.offsetMinutes) })
        }
        return result
    }

    /// Samples in order of time, of a type that is added up.
    mutating func add(_ samples: [PlacedSample]) {
        var rest = samples[...]
        // Hour by hour: to look a day up for each sample takes longer than all the rest.
        while let first = rest.first {
            let offset = first.offsetMinutes
            let local = first.at + Int64(offset) * 60_000
            let end = first.at + millisecondsPerHour - floorDivide(local, millisecondsPerHour).remainder
            let run = rest.prefix { $0.offsetMinutes == offset && $0.at < end }
            rest = rest[run.endIndex...]
            var figures = TrendFigures()
            for sample in run { figures.add(value: sample.value) }
            let keeps = type == .heartRate
            func enter(_ day: inout Day) {
                day.withoutOffset += run.count { !$0.knowsItsOffset }
                day.figures.add(figures)
                if keeps { day.samples += run }
            }
            enter(&days[first.date, default: Day()])
            inHour(of: first.at, offsetMinutes: offset) {
                $0.last = run.last?.at ?? $0.last
                $0.figures.add(figures)
                if keeps { $0.samples += run }
            }
        }
    }

    /// Stage records in order of time: each in its hours, and whole sleeps on the day on which they end.
    mutating func addSleep(_ records: [SleepRecord]) {
        for record in records {
            note(record.sample)
            inHour(of: record.start, offsetMinutes: record.offsetMinutes) { $0.figures.count += 1 }
            var from = record.start
            while from < record.end {
                // Offsets are whole minutes, so hours begin at the same milliseconds in all of them.
                let local = from + Int64(record.offsetMinutes) * 60_000
                let to = min(
                    from + millisecondsPerHour - floorDivide(local, millisecondsPerHour).remainder, record.end
                )
                inHour(of: from, offsetMinutes: record.offsetMinutes) {
                    $0.figures.stages[record.stage] += to - from
                }
                from = to
            }
        }
        for sleep in Sleep.inOrder(records) {
            let date = CivilDate(milliseconds: sleep.end, offsetMinutes: sleep.offsetMinutes)
            days[date, default: Day()].figures.count += sleep.records
            days[date, default: Day()].figures.stages += sleep.stages
        }
    }

    private mutating func note(_ sample: PlacedSample) {
        if !sample.knowsItsOffset { days[sample.date, default: Day()].withoutOffset += 1 }
    }

    private mutating func inHour(of instant: Int64, offsetMinutes: Int, _ change: (inout Hour) -> Void) {
        let date = CivilDate(milliseconds: instant, offsetMinutes: offsetMinutes)
        let local = instant + Int64(offsetMinutes) * 60_000
        let key = HourKey(
            hour: Int(floorDivide(local, millisecondsPerDay).remainder / millisecondsPerHour),
            offsetMinutes: offsetMinutes)
        func enter(_ hour: inout Hour) {
            // All comes in order of time.
            hour.last = instant
            change(&hour)
        }
        enter(&days[date, default: Day()].hours[key, default: Hour(first: instant, last: instant)])
    }
}
