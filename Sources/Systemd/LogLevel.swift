/// How much a line matters; the raw values are syslog's priorities, as the journal uses them.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7

    /// The word in the configuration file and on stderr.
    public var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }

    public init?(name: String) {
        guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = match
    }

    /// The more a line matters, the greater.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue > right.rawValue }
}
