import BandProfile
import GatewayModel

/// Acks, silence and the window.
extension HistorySession {
    /// Everything taken so far may be acked.
    var mayAckAll: Bool { mode == .own && ackPoint >= expected - 1 }

    /// One ack, if it frees more than the last one did.
    mutating func acknowledge() -> [SessionAction] {
        guard mode == .own, ackPoint > lastAcked else { return [] }
        lastAcked = ackPoint
        summary.acks += 1
        if mayAckAll { outstanding = 0 }
        return [.ack(ackPoint)]
    }

    /// The last ack that this gateway was entitled to: the one before may have been lost on the air.
    mutating func repeatAck() -> [SessionAction] {
        guard mode == .own, ackPoint > 0 else { return [] }
        lastAcked = max(lastAcked, ackPoint)
        summary.acks += 1
        return [.ack(ackPoint)]
    }

    /// Unreadable bytes fill the window: no ack can free it, and the next readable record can't come by itself.
    var windowIsUnreadable: Bool {
        guard let window = info?.window, window > 0, givenUpAt == expected else { return false }
        return outstanding >= Int(window)
    }

    /// A window full of what was known already brings no commit, and so no ack: the band would wait for nothing.
    mutating func repeatAckForWindow() -> [SessionAction] {
        guard let window = info?.window, window > 0, outstanding >= Int(window), mayAckAll else { return [] }
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
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .opening, .committing,
            .recordingTry, .aborting, .finished:
            return []
        }
    }
}
