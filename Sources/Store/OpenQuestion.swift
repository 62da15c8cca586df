import BandProfile
import GatewayModel

/// Seqs gone from a band, of which the server has not yet been asked whether another gateway brought them.
public struct OpenQuestion: Equatable, Sendable {
    public var device: DeviceID
    /// The gap that it is if nobody has the records.
    public var suspect: SuspectedGap

    public init(device: DeviceID, suspect: SuspectedGap) {
        self.device = device
        self.suspect = suspect
    }
}

/// What became of a part of an open question.
public enum QuestionAnswer: Equatable, Sendable {
    /// The server has these records.
    case heldByServer(ClosedRange<UInt32>)
    /// Nobody has them.
    case gap(Gap)
}
