/// Whether a band whose history has been read to its end is well, or has stopped recording: both look the same from
/// "nothing new".
public enum RecordingState: String, Sendable, CaseIterable {
    /// It was never read, or nothing tells when it recorded last.
    case unknown
    /// It holds records that are not here yet.
    case behind
    /// All that it recorded is here, and it recorded lately.
    case caughtUp = "caught_up"
    /// All that it recorded is here, and that was long before it was in contact.
    case stopped

    /// A band that lies in a drawer or charges overnight records nothing either.
    public static let longestRest: Int64 = 24 * 3_600_000
}

extension BandStatus {
    public var recording: RecordingState {
        guard let unread, let contact = lastContact else { return .unknown }
        guard unread == 0 else { return .behind }
        guard let recorded = newestRecordedAt else { return .unknown }
        let rest = contact.milliseconds - recorded.milliseconds
        return rest > RecordingState.longestRest ? .stopped : .caughtUp
    }

    /// Records that the band holds and that are not here yet, where it was seen lately.
    public var unread: Int? {
        guard let next = nextSeq, let newest = newestSeq else { return nil }
        return newest >= next ? Int(newest - next) + 1 : 0
    }
}
