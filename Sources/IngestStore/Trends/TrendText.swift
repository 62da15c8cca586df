import CivilTime
import IngestAPI
import SampleChunks
import Trends

/// How days were kept before `TrendCode`: a line for each type and wearer, a tab between wearer, type and numbers.
///
/// Numbers are in decimal, a space between them, `-` where there is none: version, samples without an offset, figures, and
/// for each hour: hour, offset, first, last, figures. Figures are count, sum, min, max, resting sum, resting count; of
/// sleep, count and the milliseconds of each stage.
enum TrendText {
    private static let version: Int64 = 1

    /// Nil for what can't be read.
    static func day(_ content: [UInt8], date: CivilDate) -> DeviceDay? {
        var day = DeviceDay()
        for line in content.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 3, let type = Int(words[1]).flatMap(APISampleType.init(code:)),
                let own = self.day(words[2], type: type, date: date)
            else { return nil }
            day[type, words[0].isEmpty ? nil : OpaqueID(words[0])] = own
        }
        return day.isEmpty ? nil : day
    }

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
