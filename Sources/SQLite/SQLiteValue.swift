/// A value to bind or one that was read, for the paths where convenience matters more than speed.
public enum SQLiteValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Any integer that fits 64 bits with a sign.
    public static func int(_ value: some BinaryInteger) -> SQLiteValue { .integer(Int64(value)) }

    /// NULL for nil.
    public static func optional(_ value: (some BinaryInteger)?) -> SQLiteValue {
        value.map { .integer(Int64($0)) } ?? .null
    }

    public static func optional(_ value: String?) -> SQLiteValue {
        value.map { .text($0) } ?? .null
    }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}
