import CivilTime

/// An instant of the ingest API: RFC 3339 in UTC with milliseconds on the wire.
///
/// Reading accepts any UTC offset and a fraction of any length; writing gives `2026-10-27T05:31:00.000Z`.
public struct APITime: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z; always within the four-digit years.
    public let milliseconds: Int64

    /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: what RFC 3339 can say.
    public static let earliest = APITime(unchecked: -62_167_219_200_000)
    public static let latest = APITime(unchecked: 253_402_300_799_999)

    private init(unchecked milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Times beyond the four-digit years are moved to the nearest one that can be written.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Self.earliest.milliseconds), Self.latest.milliseconds)
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The UTC day that the instant falls on, `2026-10-27`.
    public var day: String { String(description.prefix(10)) }

    /// Days since 1970-01-01, rounded down.
    public var dayNumber: Int64 { floorDivide(milliseconds, millisecondsPerDay).quotient }
}

// MARK: reading

extension APITime {
    /// Reads RFC 3339, section 5.6; nil for anything else, a day that its month does not have included.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let time = text.withUTF8({ APITime(bytes: $0) }) else { return nil }
        self = time
    }

    /// The same, of a text's bytes.
    init?(bytes: UnsafeBufferPointer<UInt8>) {
        var text = DigitReader(bytes)
        guard let year = text.number(digits: 4), text.take("-"),
            let month = text.number(digits: 2), text.take("-"),
            let day = text.number(digits: 2), text.take("T") || text.take("t"),
            let hour = text.number(digits: 2), text.take(":"),
            let minute = text.number(digits: 2), text.take(":"),
            let second = text.number(digits: 2),
            let fraction = text.milliseconds(), let offset = text.offsetMinutes(), text.isAtEnd,
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = Int64(CivilDate(year: year, month: month, day: day).days)
        let minutes = days * 1440 + Int64(hour * 60 + minute - offset)
        // A leap second ends a UTC day and nothing else. It has no number of its own in Unix time: it is taken
        // for the second after it.
        guard second < 60 || floorDivide(minutes, 1440).remainder == 1439 else { return nil }
        let total = minutes * 60_000 + Int64(second) * 1000 + Int64(second == 60 ? 0 : fraction)
        guard (Self.earliest.milliseconds...Self.latest.milliseconds).contains(total) else { return nil }
        milliseconds = total
    }
}

/// Takes an RFC 3339 text apart from its front.
private struct DigitReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func digit() -> Int? {
        guard offset < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) else {
            return nil
        }
        offset += 1
        return Int(bytes[offset - 1] - UInt8(ascii: "0"))
    }

    mutating func number(digits: Int) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The fraction of a second, cut to milliseconds; 0 without one, nil when the point has no digit after it.
    mutating func milliseconds() -> Int? {
        guard take(".") else { return 0 }
        guard var value = digit() else { return nil }
        var digits = 1
        while let next = digit() {
            if digits < 3 { value = value * 10 + next }
            digits += 1
        }
        while digits < 3 {
            value *= 10
            digits += 1
        }
        return value
    }

    mutating func offsetMinutes() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign = take("+") ? 1 : take("-") ? -1 : 0
        guard sign != 0, let hours = number(digits: 2), take(":"), let minutes = number(digits: 2),
            hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}

// MARK: writing

extension APITime: CustomStringConvertible {
    public var description: String {
        let (days, rest) = floorDivide(milliseconds, millisecondsPerDay)
        let date = CivilDate(days: Int(days))
        var text: [UInt8] = []
        text.reserveCapacity(24)
        append(date.year, digits: 4, to: &text, then: "-")
        append(date.month, digits: 2, to: &text, then: "-")
        append(date.day, digits: 2, to: &text, then: "T")
        append(Int(rest / 3_600_000), digits: 2, to: &text, then: ":")
        append(Int(rest / 60_000 % 60), digits: 2, to: &text, then: ":")
        append(Int(rest / 1000 % 60), digits: 2, to: &text, then: ".")
        append(Int(rest % 1000), digits: 3, to: &text, then: "Z")
        return String(decoding: text, as: UTF8.self)
    }

    private func append(_ value: Int, digits: Int, to text: inout [UInt8], then separator: Unicode.Scalar) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
        text.append(UInt8(ascii: separator))
    }
}

extension APITime: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = APITime(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
