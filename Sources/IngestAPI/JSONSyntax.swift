/// Judges whether bytes are JSON (RFC 8259), without recursion and in one pass.
///
/// It stands before `JSONDecoder`, whose releases up to Swift 6.0 trap on a key that is not UTF-8 or has a bad
/// escape: what comes from a network may not end a program.
struct JSONSyntax {
    /// Deeper than anything of the API, and far from any decoder's own limit.
    static let deepest = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset = 0
    /// For each open level, whether it is an object.
    private var levels: [Bool] = []

    static func isJSON(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        return bytes.withUnsafeBufferPointer { buffer in
            var syntax = JSONSyntax(bytes: buffer)
            return syntax.document()
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private mutating func document() -> Bool {
        guard value() else { return false }
        while let isObject = levels.last {
            skipSpace()
            if take(",") {
                guard isObject ? member() : value() else { return false }
            } else {
                guard take(isObject ? "}" : "]") else { return false }
                levels.removeLast()
            }
        }
        skipSpace()
        return offset == bytes.count
    }

    /// A scalar, an empty container, or a container up to the end of its first element, which is open then.
    private mutating func value() -> Bool {
        while true {
            skipSpace()
            guard offset < bytes.count else { return false }
            switch bytes[offset] {
            case UInt8(ascii: "\""): return string()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isObject = bytes[offset] == UInt8(ascii: "{")
                guard levels.count < Self.deepest else { return false }
                offset += 1
                skipSpace()
                if take(isObject ? "}" : "]") { return true }
                levels.append(isObject)
                if isObject { guard key() else { return false } }
            case UInt8(ascii: "t"): return word("true")
            case UInt8(ascii: "f"): return word("false")
            case UInt8(ascii: "n"): return word("null")
            default: return number()
            }
        }
    }

    private mutating func member() -> Bool { key() && value() }

    private mutating func key() -> Bool {
        skipSpace()
        guard string() else { return false }
        skipSpace()
        return take(":")
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard escape() else { return false }
            case 0..<0x20: return false
            default: break
            }
        }
        return false
    }

    /// What follows a backslash. A surrogate must have its other half.
    private mutating func escape() -> Bool {
        guard offset < bytes.count else { return false }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard let unit = codeUnit() else { return false }
            switch unit {
            case 0xd800...0xdbff:
                guard take("\\"), take("u"), let low = codeUnit() else { return false }
                return (0xdc00...0xdfff).contains(low)
            case 0xdc00...0xdfff: return false
            default: return true
            }
        default: return false
        }
    }

    private mutating func codeUnit() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                unit = unit << 4 | UInt16(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                unit = unit << 4 | UInt16(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return unit
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") { guard digits() else { return false } }
        if take(".") { guard digits() else { return false } }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            guard digits() else { return false }
        }
        return true
    }

    /// At least one.
    private mutating func digits() -> Bool {
        let start = offset
        while offset < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[offset]) {
            offset += 1
        }
        return offset > start
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard offset + count <= bytes.count else { return false }
        for index in 0..<count where bytes[offset + index] != word.utf8Start[index] { return false }
        offset += count
        return true
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }
}
