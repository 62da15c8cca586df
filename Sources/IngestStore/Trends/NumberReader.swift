/// Takes numbers in decimal from the front of a text, one space between them.
struct NumberReader {
    private let bytes: [UInt8]
    private var offset = 0
    /// Something was not a number and not `-`.
    private(set) var isBroken = false

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { offset >= bytes.count }

    /// Nil for `-`, at the end, and for what is no number, which breaks the reader.
    mutating func number() -> Int64? {
        let isNegative = take("-")
        var value: Int64 = 0
        var digits = 0
        while offset < bytes.count, bytes[offset] != UInt8(ascii: " ") {
            let digit = Int64(bytes[offset]) - Int64(UInt8(ascii: "0"))
            digits += 1
            offset += 1
            guard (0...9).contains(digit), digits <= 18 else {
                isBroken = true
                return nil
            }
            value = value * 10 + digit
        }
        offset += 1
        if digits == 0 {
            isBroken = isBroken || !isNegative
            return nil
        }
        return isNegative ? -value : value
    }

    mutating func int() -> Int? { number().map { Int($0) } }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }
}
