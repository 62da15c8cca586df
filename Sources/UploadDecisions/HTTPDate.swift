import IngestAPI

/// The date of an HTTP header, in the one form that senders must use: IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`
/// (RFC 9110, section 5.6.7). The two obsolete forms and anything else are none.
public enum HTTPDate {
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Nil for anything but a whole date whose weekday is right. White space around it does not count.
    public static func time(_ text: String) -> APITime? {
        let parts = trimmed(text).split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", parts[0].utf8.count == 4, parts[0].last == ",",
            let weekday = weekdays.firstIndex(of: String(parts[0].prefix(3))),
            let month = months.firstIndex(of: String(parts[2])),
            parts[1].utf8.count == 2, parts[3].utf8.count == 4, parts[4].utf8.count == 8
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        let date = "\(parts[3])-\(number)-\(parts[1])T"
        guard let time = APITime("\(date)\(parts[4])Z"), let day = APITime("\(date)00:00:00Z") else {
            return nil
        }
        // The epoch was a Thursday. The day of a leap second is the one that it ends.
        let found = (day.dayNumber + 4) % 7
        return Int(found < 0 ? found + 7 : found) == weekday ? time : nil
    }

    static func trimmed(_ text: String) -> Substring {
        var text = text[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
