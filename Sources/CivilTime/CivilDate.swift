/// A day of the calendar that people live by, without a zone: `2026-10-27`.
public struct CivilDate: Hashable, Sendable {
    /// Since 1970-01-01 of the same calendar; always within the years 0000 to 9999.
    public let days: Int

    private static let earliest = Int(daysSinceEpoch(year: 0, month: 1, day: 1))
    private static let latest = Int(daysSinceEpoch(year: 9999, month: 12, day: 31))

    /// Days beyond the four-digit years are moved to the nearest one that can be written.
    public init(days: Int) {
        self.days = min(max(days, Self.earliest), Self.latest)
    }

    /// `month` is 1 to 12, `day` at least 1; a day beyond the end of its month runs on into the next.
    public init(year: Int, month: Int, day: Int) {
        self.init(days: Int(daysSinceEpoch(year: year, month: month, day: day)))
    }

    /// The day that a clock shows which is `offsetMinutes` ahead of UTC.
    public init(milliseconds: Int64, offsetMinutes: Int) {
        let local = milliseconds + Int64(offsetMinutes) * 60_000
        self.init(days: Int(floorDivide(local, millisecondsPerDay).quotient))
    }

    public var year: Int { civilDate(daysSinceEpoch: Int64(days)).year }
    public var month: Int { civilDate(daysSinceEpoch: Int64(days)).month }
    public var day: Int { civilDate(daysSinceEpoch: Int64(days)).day }

    /// Midnight of this day on a clock that is `offsetMinutes` ahead of UTC, in milliseconds since 1970 UTC.
    public func midnight(offsetMinutes: Int) -> Int64 {
        Int64(days) * millisecondsPerDay - Int64(offsetMinutes) * 60_000
    }
}

extension CivilDate: Comparable, Strideable {
    public static func < (left: Self, right: Self) -> Bool { left.days < right.days }
    public func distance(to other: Self) -> Int { other.days - days }
    public func advanced(by days: Int) -> Self { CivilDate(days: self.days + days) }
}

// MARK: text

extension CivilDate: LosslessStringConvertible {
    /// Reads `2026-10-27` and nothing else; nil also for a day that its month does not have.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]),
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day)
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    public var description: String {
        let date = civilDate(daysSinceEpoch: Int64(days))
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
    }
}

extension CivilDate: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let date = CivilDate(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date")
        }
        self = date
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

private func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        value = value * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return value
}

private func padded(_ value: Int, _ digits: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
