/// How long something took or is ago, as people say it.
public enum SpanText {
    /// One unit, rounded down: `12 s`, `3 min`, `5 h`, `2 days`.
    public static func text(seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3600) h"
        case ..<172_800: "1 day"
        default: "\(seconds / 86_400) days"
        }
    }
}
