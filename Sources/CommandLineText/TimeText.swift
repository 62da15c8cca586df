import GatewayModel
import IngestAPI

/// Times as people say them and as programs read them.
public enum TimeText {
    /// `just now`, `3 min ago`, `5 h ago`, `2 days ago`, `in 4 min`.
    public static func ago(_ time: Timestamp?, now: Timestamp) -> String {
        guard let time else { return "never" }
        let seconds = (now.milliseconds - time.milliseconds) / 1000
        if seconds.magnitude < 10 { return "just now" }
        return seconds > 0 ? "\(span(seconds)) ago" : "in \(span(-seconds))"
    }

    /// One unit, rounded down: `12 s`, `3 min`, `5 h`, `2 days`.
    public static func span(_ seconds: Int64) -> String { SpanText.text(seconds: seconds) }

    /// RFC 3339 in UTC with milliseconds.
    public static func exact(_ time: Timestamp) -> String {
        APITime(milliseconds: time.milliseconds).description
    }

    /// Minutes and `Z` are enough for a person: `2026-10-27 05:31Z`.
    public static func short(_ time: Timestamp?) -> String {
        guard let time else { return "?" }
        let text = exact(time)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))Z"
    }
}

/// `1,234,567`.
func grouped(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var result = ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
        result.append(digit)
    }
    return number < 0 ? "-" + result : result
}

/// `1 gap`, `2 gaps`.
func counted(_ number: Int, _ noun: String) -> String {
    "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
}
