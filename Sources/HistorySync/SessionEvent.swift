import BandProfile
import GatewayModel

/// What happened to a session: results of its actions, notifications, time, the link.
public enum SessionEvent: Equatable, Sendable {
    /// The link is up and the Band History service is there. `takenOver`: a link that somebody else left open.
    case started(takenOver: Bool)
    case infoRead([UInt8])
    case progressLoaded(RingProgress)
    case rewound
    /// Nil when the clock could not be read; samples are then stored with a time that is not to be trusted.
    case clockRead(ClockReading?)
    case subscribed
    /// The band answered a Control Point write; nil = success.
    case controlPointAnswered(ControlPointError?)
    /// Whole notifications, oldest first. Given only while `wantsNotifications`.
    case notifications([[UInt8]])
    case committed(CommitOutcome)
    case tryRecorded(Attempts)
    /// An open question was answered, or the server confirmed more: acks may go further now.
    case ackPointRaised(UInt32)
    /// The server said who owns the band, and it is another gateway than before.
    case modeChanged(BandMode)
    case deadlinePassed
    /// After every notification that came before it was given.
    case linkLost
    case stopRequested
    /// An action failed for good.
    case failed(SessionFailure)
}

/// What a session asks for. Every action but `ack`, `note` and `finish` is answered by one event.
public enum SessionAction: Equatable, Sendable {
    case readInfo
    case loadProgress(RingInfo)
    case readClock
    case subscribe
    case write(ControlPointCommand)
    case commit(Chunk)
    case ack(UInt32)
    case recordTry(RingID, seq: UInt32, unreadable: Bool)
    case rewind(RingID, to: UInt32)
    case note(SessionNote)
    case finish(SessionEnd)
}

/// Something worth a log line: no health values, only seqs.
public enum SessionNote: Equatable, Sendable {
    case ringRolledBack(committed: UInt32, newest: UInt32)
    case lateEnd(lastSeq: UInt32)
    case silence(acked: Bool)
    case stalled(at: UInt32)
    case framingFault(at: UInt32, reason: String)
    case hole(at: UInt32, next: UInt32)
    case gaveUp(first: UInt32, last: UInt32, cause: GapCause)
}

/// Why an action could not be done. Decides whether the store or the link is to blame.
public enum SessionFailure: Error, Equatable, Sendable {
    /// BlueZ or the band; a sentence for people.
    case link(Problem)
    /// Nothing may be acked until the store is well again.
    case store(Problem)
}

/// How a session ended.
public enum SessionEnd: Equatable, Sendable {
    /// Everything that the band holds is committed.
    case caughtUp
    case linkLost
    case stopped
    /// The same record failed twice on this connection: the third try needs another one.
    case retryOnNewConnection
    /// The ring changed under an open link, which the profile rules out: begin again.
    case ringChanged
    case stalled
    /// The band broke the profile in a way that reading again does not heal; a sentence.
    case protocolFault(String)
    case failed(SessionFailure)
}
