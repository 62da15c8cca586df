import IngestAPI

/// `Retry-After`: seconds or an HTTP date (RFC 9110, section 10.2.3), bounded, because nobody may switch a gateway off.
enum RetryAfter {
    /// Longest wait that a server can ask for.
    static let longest = Duration.seconds(3600)

    /// Nil when there is none or it can't be read.
    ///
    /// - Parameter date: the answer's `Date`, which beats `wallTime`: a gateway's clock may be years off.
    static func duration(_ text: String?, date: String?, wallTime: APITime) -> Duration? {
        guard let text = text.map({ trimmed($0) }), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // Digits that do not fit an Int are more than the bound.
            return min(longest, .seconds(Int64(text) ?? .max / 1000))
        }
        guard let until = httpDate(text) else { return nil }
        let now = date.flatMap { httpDate(trimmed($0)) } ?? wallTime
        let wait = Duration.milliseconds(until.milliseconds - now.milliseconds)
        return min(longest, max(.zero, wait))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the form that senders must use (RFC 9110, section 5.6.7).
    static func httpDate(_ text: Substring) -> APITime? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].count == 4, parts[0].last == ",", parts[5] == "GMT",
            let month = months.firstIndex(of: String(parts[2])), parts[1].utf8.count == 2
        else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        return APITime("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static func trimmed(_ text: String) -> Substring {
        var text = text[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
