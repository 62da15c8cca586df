import IngestAPI

/// `Retry-After`: seconds or an HTTP date (RFC 9110, section 10.2.3), bounded, because nobody may switch a gateway off.
enum RetryAfter {
    /// Longest wait that a server can ask for.
    static let longest = Duration.seconds(3600)

    /// Nil when there is none or it can't be read.
    ///
    /// - Parameter date: the answer's `Date`, which beats `wallTime`: a gateway's clock may be years off.
    static func duration(_ text: String?, date: String?, wallTime: APITime) -> Duration? {
        guard let text = text.map({ HTTPDate.trimmed($0) }), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // Digits that do not fit an Int are more than the bound.
            return min(longest, .seconds(Int64(text) ?? .max / 1000))
        }
        guard let until = HTTPDate.time(String(text)) else { return nil }
        let now = date.flatMap { HTTPDate.time($0) } ?? wallTime
        let wait = Duration.milliseconds(until.milliseconds - now.milliseconds)
        return min(longest, max(.zero, wait))
    }
}
