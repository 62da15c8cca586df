/// One line: a constant text that can be searched for, and its data beside it.
public struct LogEntry: Sendable {
    public var level: LogLevel
    public var message: String
    /// Names are lower case, `[a-z0-9_]`; the journal has them as `BANDFERRY_NAME=`.
    public var fields: [(name: String, value: LogValue)]

    public init(level: LogLevel, message: String, fields: [(name: String, value: LogValue)] = []) {
        self.level = level
        self.message = message
        self.fields = fields
    }

    /// The text with its data, for people: `chunk committed (band=F4:F5, seq=120)`.
    public var text: String {
        guard !fields.isEmpty else { return Self.oneLine(message) }
        let data = fields.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
        return Self.oneLine("\(message) (\(data))")
    }

    /// As `NAME=value` strings for `sd_journal_sendv`.
    var journalFields: [String] {
        var result = [
            "MESSAGE=\(text)", "PRIORITY=\(level.rawValue)", "BANDFERRY_EVENT=\(message)",
        ]
        for field in fields {
            result.append("BANDFERRY_\(field.name.uppercased())=\(Self.raw(field.value))")
        }
        return result
    }

    private static func raw(_ value: LogValue) -> String {
        if case .duration(let duration) = value { return String(duration.inMilliseconds) }
        return value.description
    }

    /// What a peer or a file put into a field can't forge a second line, nor turn around how the line reads.
    private static func oneLine(_ text: String) -> String {
        let controls = text.unicodeScalars.contains(where: steers)
        guard controls else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { steers($0) ? " " : $0 }))
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x20, 0x7f..<0xa0: true
        // Ends of lines and paragraphs, and what sets the direction of text (Unicode, UAX #9).
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
