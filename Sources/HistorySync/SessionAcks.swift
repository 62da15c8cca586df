import BandProfile
import GatewayModel

/// Acks, silence and the window.
extension HistorySession {
    /// Everything taken so far may be acked.
    var mayAckAll: Bool { mode == .own && ackPoint >= expected - 1 }

    /// One ack, if it frees more than the last one did.
    mutating func acknowledge() -> [SessionAction] {
        guard mode == .own, isLinkUp, ackPoint > lastAcked else { return [] }
        lastAcked = ackPoint
        summary.acks += 1
        if mayAckAll { outstanding = 0 }
        return [.ack(ackPoint)]
    }

    /// The last ack that this gateway was entitled to: the one before may have been lost on the air.
    mutating func repeatAck() -> [SessionAction] {
        guard mode == .own, isLinkUp, ackPoint > 0 else { return [] }
        lastAcked = max(lastAcked, ackPoint)
        summary.acks += 1
        return [.ack(ackPoint)]
    }

    /// A question was answered, or the server confirmed more: acks may go further now.
    mutating func ackPointRaised(to seq: UInt32) -> [SessionAction] {
        ackPoint = max(ackPoint, min(seq, durableThrough))
        return acknowledgeIfOpen()
    }

    /// An owner acks what it may at once; one that is none any more falls silent in the middle of a stream.
    mutating func modeChanged(to mode: BandMode) -> [SessionAction] {
        guard mode != self.mode else { return [] }
        self.mode = mode
        return acknowledgeIfOpen()
    }

    private mutating func acknowledgeIfOpen() -> [SessionAction] {
        switch state {
        case .opening, .streaming, .committing, .recordingTry, .aborting, .awaitingEnd:
            return summary.streams > 0 ? acknowledge() : []
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .finished:
            // Info may still say that these are not the records that were meant: acks carry no ring id.
            return []
        }
    }

    /// The run is used up and nothing of it is left to commit.
    mutating func windowWithoutCommit() -> [SessionAction] {
        guard let window = info?.window, window > 0, outstanding >= Int(window) else { return [] }
        if givenUpAt == expected {
            // Unreadable bytes fill the window: no ack can free it. Each notification covered a record at least.
            let (next, overflow) = max(probe ?? expected, expected).addingReportingOverflow(UInt32(window))
            probe = overflow ? .max : next
            return close(then: .reopen)
        }
        if windowIsExhausted {
            guard emptyStreams <= rules.refusals else { return close(then: .finish(.stalled)) }
            return close(then: .reopen)
        }
        // A window full of what was known already brings no commit, and so no ack: the band would wait for nothing.
        outstanding = 0
        return repeatAck()
    }

    /// A gateway that may not ack takes a window's worth, ABORTs, and asks for the next. Duty 6.
    var windowIsExhausted: Bool {
        guard let window = info?.window, window > 0, !mayAckAll else { return false }
        return outstanding >= Int(window)
    }

    mutating func deadlinePassed(_ now: MonotonicTime) -> [SessionAction] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .streaming where !silenceWasAnswered:
            silenceWasAnswered = true
            let acks = repeatAck()
            return acks + [.note(.silence(acked: !acks.isEmpty))]
        case .streaming:
            stalls += 1
            guard stalls < rules.stalls else { return close(then: .finish(.stalled)) }
            return [.note(.stalled(at: expected))] + close(then: .readInfo)
        case .awaitingEnd(let next, _):
            return closed(next)
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .opening,
            .committing,
            .recordingTry, .aborting, .finished:
            return []
        }
    }
}
