import IngestAPI

/// Just enough JSON to write; keys keep their order. RFC 8259.
public indirect enum JSONText: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number with one decimal, and none when it is whole.
    case tenths(Int)
    case string(String)
    case array([JSONText])
    case object([(String, JSONText)])

    static func number(_ value: some BinaryInteger) -> JSONText { .integer(Int64(clamping: value)) }
    static func optional<Value>(_ value: Value?, _ convert: (Value) -> JSONText) -> JSONText {
        value.map(convert) ?? .null
    }

    /// On one line.
    public var text: String {
        var result = ""
        append(to: &result)
        return result
    }

    private func append(to result: inout String) {
        switch self {
        case .null: result += "null"
        case .bool(let value): result += value ? "true" : "false"
        case .integer(let value): result += String(value)
        case .tenths(let value): result += Tenths(tenths: value).description
        case .string(let value): Self.appendQuoted(value, to: &result)
        case .array(let elements):
            result += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { result += "," }
                element.append(to: &result)
            }
            result += "]"
        case .object(let members):
            result += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { result += "," }
                Self.appendQuoted(member.0, to: &result)
                result += ":"
                member.1.append(to: &result)
            }
            result += "}"
        }
    }

    private static func appendQuoted(_ text: String, to result: inout String) {
        result += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        result += "\""
    }
}
