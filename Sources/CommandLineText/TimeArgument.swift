import GatewayModel
import IngestAPI

/// A moment as a person writes it on the command line.
public enum TimeArgument: Hashable, Sendable {
    /// When the command runs.
    case now
    case at(Timestamp)

    public func timestamp(now: Timestamp) -> Timestamp {
        switch self {
        case .now: now
        case .at(let time): time
        }
    }

    /// Why a text is no time, as the end of a sentence that begins with the text.
    struct Refusal: Error, Equatable {
        var reason: String
    }

    /// `now`, or RFC 3339 whose seconds may be left out. An offset is required: a time without one could be
    /// anybody's.
    init(_ text: String) throws(Refusal) {
        if text == "now" {
            self = .now
            return
        }
        if let time = Self.time(text) {
            guard time.milliseconds >= 0 else { throw Refusal(reason: "is before 1970") }
            self = .at(time)
        } else if Self.time(text + "T00:00Z") != nil {
            throw Refusal(
                reason: "has no time of day; write \(text)T00:00Z, or your own offset in place of Z")
        } else if Self.time(text + "Z") != nil {
            throw Refusal(
                reason: "has no UTC offset; write \(text)Z, or your own offset, such as \(text)+02:00")
        } else {
            throw Refusal(
                reason: "is no time; write it as 2026-10-03T09:00Z or 2026-10-03T11:00+02:00, or write now")
        }
    }

    /// RFC 3339, with a blank in place of T as its section 5.6 allows, and without seconds, which it does not.
    private static func time(_ text: String) -> Timestamp? {
        var characters = Array(text)
        guard characters.count >= 17 else { return nil }
        if characters[10] == " " { characters[10] = "T" }
        if characters[16] != ":" { characters.insert(contentsOf: ":00", at: 16) }
        return APITime(String(characters)).map { Timestamp(milliseconds: $0.milliseconds) }
    }
}
