import CivilTime
import IngestAPI
import Trends

/// How a day is kept in `trend_days`: numbers in decimal, a space between them, `-` where there is none.
///
/// Version, samples without an offset, figures, and for each hour: hour, offset, first, last, figures. Figures are
/// count, sum, min, max, resting sum, resting count; of sleep, count and the milliseconds of each stage. JSON says the
/// same, but to read a month of it takes longer than all the rest of an answer.
enum TrendCode {
    /// Rises when the same text means something else. Days of another version are computed again.
    private static let version: Int64 = 1

    static func text(_ day: TrendDay) -> String {
        var numbers: [Int64?] = [version, Int64(day.withoutOffset)]
        append(day.figures, day.type, to: &numbers)
        for hour in day.hours {
            numbers += [Int64(hour.hour), Int64(hour.offsetMinutes), hour.first, hour.last]
            append(hour.figures, day.type, to: &numbers)
        }
        return numbers.map { $0.map(String.init) ?? "-" }.joined(separator: " ")
    }

    /// Nil for what this version can't read.
    static func day(_ text: String, type: APISampleType, date: CivilDate) -> TrendDay? {
        var reader = NumberReader(text)
        guard reader.number() == version, let withoutOffset = reader.int(),
            let figures = figures(type, &reader)
        else { return nil }
        var day = TrendDay(type: type, date: date, figures: figures, withoutOffset: withoutOffset)
        while !reader.isAtEnd {
            guard let hour = reader.int(), let offset = reader.int(), let first = reader.number(),
                let last = reader.number(), let figures = self.figures(type, &reader)
            else { return nil }
            day.hours.append(
                TrendHour(hour: hour, offsetMinutes: offset, first: first, last: last, figures: figures))
        }
        return day
    }

    private static func append(_ figures: TrendFigures, _ type: APISampleType, to numbers: inout [Int64?]) {
        numbers.append(Int64(figures.count))
        if type == .sleepStage {
            numbers += SleepStage.allCases.map { figures.stages[$0] }
        } else {
            numbers += [
                figures.sum, figures.min.map(Int64.init), figures.max.map(Int64.init), figures.resting?.sum,
                figures.resting.map { Int64($0.count) },
            ]
        }
    }

    private static func figures(_ type: APISampleType, _ reader: inout NumberReader) -> TrendFigures? {
        var figures = TrendFigures()
        guard let count = reader.int() else { return nil }
        figures.count = count
        if type == .sleepStage {
            for stage in SleepStage.allCases {
                guard let time = reader.number() else { return nil }
                figures.stages[stage] = time
            }
            return figures
        }
        guard let sum = reader.number() else { return nil }
        figures.sum = sum
        figures.min = reader.int()
        figures.max = reader.int()
        switch (reader.number(), reader.int()) {
        case (nil, nil): break
        case (let sum?, let count?) where count > 0: figures.resting = RestingWindow(sum: sum, count: count)
        default: return nil
        }
        return reader.isBroken ? nil : figures
    }
}
