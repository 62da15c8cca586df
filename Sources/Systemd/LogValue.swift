/// The data of a log line: counts, durations, seqs and names. Never a health value, never a token.
public enum LogValue: Equatable, Sendable {
    case text(String)
    case number(Int64)
    case duration(Duration)
}

extension LogValue {
    public static func count(_ value: some BinaryInteger) -> LogValue { .number(Int64(clamping: value)) }

    /// A band by the last two octets of its address: enough to tell bands apart at home, not to find a person.
    public static func band(_ address: some CustomStringConvertible) -> LogValue {
        .text(String(address.description.suffix(5)))
    }

    /// An error's own words.
    public static func error(_ error: any Error) -> LogValue { .text("\(error)") }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .number(value) }
}

extension LogValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        case .duration(let duration): "\(duration.inMilliseconds) ms"
        }
    }
}

extension Duration {
    var inMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
