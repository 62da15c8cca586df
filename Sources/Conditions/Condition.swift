/// Something that a person should know, declared once: code, how grave it is, what it says and the exact fix.
///
/// Status, log, bus, metrics and `bandferry doctor` all read it from here. The rows stand in the files beside this one, by
/// area; `docs/conditions.md` is made of them.
public struct Condition: Equatable, Sendable {
    /// How grave it is, the least first.
    public enum Severity: String, Sendable, CaseIterable, Comparable {
        /// Worth knowing; nothing has to be done.
        case notice
        /// Something is worse than it could be, or heals by itself.
        case warning
        /// Data does not come in or go up until it is mended.
        case error

        public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .notice: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// Stable, for programs.
    public let code: String
    public let severity: Severity
    /// Which of several sentences of one code this is; empty where there is one.
    public let variant: String
    /// What happened, in a sentence or two; `{name}` stands for what varies.
    public let text: String
    /// What to do about it, likewise.
    public let fix: String

    init(_ code: String, _ severity: Severity, _ text: String, fix: String) {
        self.init(code, severity, "", text, fix: fix)
    }

    init(_ code: String, _ severity: Severity, _ variant: String, _ text: String, fix: String) {
        self.code = code
        self.severity = severity
        self.variant = variant
        self.text = text
        self.fix = fix
    }

    /// What varies, by name.
    public typealias Parameters = KeyValuePairs<String, String>

    public func text(_ parameters: Parameters) -> String { Self.filled(text, parameters) }
    public func fix(_ parameters: Parameters) -> String { Self.filled(fix, parameters) }

    /// The names in braces, in the order in which they come first.
    public var parameterNames: [String] {
        var names: [String] = []
        for part in (text + " " + fix).split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            guard let end = part.firstIndex(of: "}") else { continue }
            let name = String(part[..<end])
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// In one pass: a value that holds braces itself stays as it is.
    private static func filled(_ template: String, _ parameters: Parameters) -> String {
        guard template.contains("{") else { return template }
        var result = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            result += rest[..<open]
            let name = rest[rest.index(after: open)..<close]
            result += parameters.first { $0.key == name }?.value ?? String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }
}
