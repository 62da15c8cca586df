import CivilTime
import IngestAPI
import SampleChunks
import Trends

/// How a day of a device is kept in `trend_days`: an hour of a type comes to some ten bytes.
///
/// Version, wearers, and for each type first what is whoever wore the band, then each wearer's; of a wearer to whom all
/// of it belongs nothing is kept but that. In it each field of the day and of its hours is a column, as in a chunk of
/// samples, and what is most often the same or small is made so: times count from the beginning of their hour, sums and
/// greatest values from the least.
///
/// Before version 2 it was text (`TrendText`), which no version begins like.
enum TrendCode {
    /// Rises when the same bytes mean something else. Days of another version are computed again.
    private static let version: UInt8 = 2
    private static let mostHours = 1 << 16
    /// No value is so low.
    private static let none = Int64.min

    static func bytes(_ day: DeviceDay) -> [UInt8] {
        let persons = day.persons.sorted()
        var writer = ByteWriter(capacity: 1024)
        writer.byte(version)
        writer.varint(UInt64(persons.count))
        for person in persons { writer.text(person.text) }
        for type in APISampleType.allCases.sorted(by: { $0.code < $1.code }) {
            let common = day[type, nil]
            for (number, person) in ([nil] + persons.map(Optional.some)).enumerated() {
                guard let own = day[type, person] else { continue }
                writer.varint(UInt64(number) << typeBits | UInt64(type.code))
                // A day has bytes, so none of them means "the same".
                writer.part(person != nil && own == common ? [] : bytes(own))
            }
        }
        return writer.bytes
    }

    private static let typeBits: UInt64 = 3

    private static func bytes(_ day: TrendDay) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.varint(UInt64(day.withoutOffset))
        writer.varint(UInt64(day.hours.count))
        func column(_ values: [Int64]) { ColumnCoder.write(values, to: &writer) }
        column(day.hours.map { Int64($0.hour) })
        column(day.hours.map { Int64($0.offsetMinutes) })
        column(day.hours.map { $0.first - begin(of: $0.hour, $0.offsetMinutes, day.date) })
        column(day.hours.map { $0.last - begin(of: $0.hour, $0.offsetMinutes, day.date) })
        let all = [day.figures] + day.hours.map(\.figures)
        column(all.map { Int64($0.count) })
        guard day.type != .sleepStage else {
            for stage in SleepStage.allCases { column(all.map { $0.stages[stage] }) }
            return writer.bytes
        }
        let least = all.map { Int64($0.min ?? 0) }
        column(zip(all, least).map { $0.sum &- Int64($0.count) &* $1 })
        column(all.map { $0.min.map(Int64.init) ?? none })
        column(zip(all, least).map { figures, least in figures.max.map { Int64($0) &- least } ?? none })
        guard day.type == .heartRate else { return writer.bytes }
        column(all.map { Int64($0.resting?.count ?? 0) })
        column(
            zip(all, least).map { figures, least in
                figures.resting.map { $0.sum &- Int64($0.count) &* least } ?? 0
            })
        return writer.bytes
    }

    /// All of it, or no more than what one subject needs. Throws for what this version can't read.
    static func day(
        _ content: [UInt8], date: CivilDate, only key: DeviceDay.Key? = nil
    ) throws(DamagedChunk) -> DeviceDay {
        guard content.first == version else {
            guard let day = TrendText.day(content, date: date) else { throw DamagedChunk() }
            return day
        }
        let result = content.withUnsafeBufferPointer { buffer in
            Result { () throws(DamagedChunk) in try day(ByteReader(buffer), date, key) }
        }
        return try result.get()
    }

    private static func day(
        _ whole: ByteReader, _ date: CivilDate, _ only: DeviceDay.Key?
    ) throws(DamagedChunk) -> DeviceDay {
        var reader = whole
        _ = try reader.byte()
        var persons: [OpaqueID?] = [nil]
        for _ in 0..<(try reader.count(atMost: mostHours)) { persons.append(OpaqueID(try reader.text())) }
        var day = DeviceDay()
        while !reader.isAtEnd {
            let code = try reader.varint()
            var part = try reader.part()
            guard let type = APISampleType(code: Int(code & (1 << typeBits - 1))),
                let number = Int(exactly: code >> typeBits), persons.indices.contains(number)
            else { throw DamagedChunk() }
            let person = persons[number]
            guard only.map({ $0.type == type && (person == nil || person == $0.person) }) ?? true else {
                continue
            }
            guard part.isAtEnd else {
                day[type, person] = try self.day(type, date, &part)
                continue
            }
            guard let common = day[type, nil] else { throw DamagedChunk() }
            day[type, person] = common
        }
        return day
    }

    private static func day(
        _ type: APISampleType, _ date: CivilDate, _ reader: inout ByteReader
    ) throws(DamagedChunk) -> TrendDay {
        var day = TrendDay(type: type, date: date, withoutOffset: try reader.count(atMost: .max))
        let hours = try reader.count(atMost: mostHours)
        func column(_ count: Int) throws(DamagedChunk) -> [Int64] {
            try ColumnCoder.read(count: count, from: &reader)
        }
        let (hour, offset) = (try column(hours), try column(hours))
        let (first, last) = (try column(hours), try column(hours))
        let all = try figures(type, hours + 1, &reader)
        guard reader.isAtEnd else { throw DamagedChunk() }
        day.figures = all[0]
        for index in 0..<hours {
            guard (0..<24).contains(hour[index]), APISample.validOffsets.contains(Int(offset[index])) else {
                throw DamagedChunk()
            }
            let begin = begin(of: Int(hour[index]), Int(offset[index]), date)
            day.hours.append(
                TrendHour(
                    hour: Int(hour[index]), offsetMinutes: Int(offset[index]), first: begin &+ first[index],
                    last: begin &+ last[index], figures: all[index + 1]))
        }
        return day
    }

    private static func figures(
        _ type: APISampleType, _ count: Int, _ reader: inout ByteReader
    ) throws(DamagedChunk) -> [TrendFigures] {
        func column() throws(DamagedChunk) -> [Int64] { try ColumnCoder.read(count: count, from: &reader) }
        var all = [TrendFigures](repeating: TrendFigures(), count: count)
        for (index, value) in try column().enumerated() { all[index].count = Int(value) }
        guard type != .sleepStage else {
            for stage in SleepStage.allCases {
                for (index, value) in try column().enumerated() { all[index].stages[stage] = value }
            }
            return all
        }
        let (sum, min, max) = (try column(), try column(), try column())
        let least = min.map { $0 == none ? 0 : $0 }
        for index in all.indices {
            all[index].sum = sum[index] &+ Int64(all[index].count) &* least[index]
            all[index].min = min[index] == none ? nil : Int(min[index])
            all[index].max = max[index] == none ? nil : Int(max[index] &+ least[index])
        }
        guard type == .heartRate else { return all }
        let (resting, restingSum) = (try column(), try column())
        for index in all.indices where resting[index] != 0 {
            all[index].resting = RestingWindow(
                sum: restingSum[index] &+ resting[index] &* least[index], count: Int(resting[index]))
        }
        return all
    }

    private static func begin(of hour: Int, _ offsetMinutes: Int, _ date: CivilDate) -> Int64 {
        date.midnight(offsetMinutes: offsetMinutes) + Int64(hour) * millisecondsPerHour
    }
}
