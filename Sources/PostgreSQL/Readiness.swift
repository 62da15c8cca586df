import Glibc

/// Waiting for a socket with a deadline on the monotonic clock.
enum Readiness {
    enum Outcome {
        /// Something can be read or written, or the other side has gone.
        case ready(canRead: Bool)
        case deadlinePassed
    }

    static func wait(_ socket: Int32, reading: Bool, writing: Bool, until limit: ContinuousClock.Instant)
        -> Outcome
    {
        var descriptor = pollfd(
            fd: socket, events: (reading ? Int16(POLLIN) : 0) | (writing ? Int16(POLLOUT) : 0), revents: 0)
        while true {
            let milliseconds = limit.millisecondsLeft
            let count = poll(&descriptor, 1, milliseconds)
            if count > 0 { return .ready(canRead: descriptor.revents & ~Int16(POLLOUT) != 0) }
            if count == 0, milliseconds == 0 { return .deadlinePassed }
        }
    }
}

extension ContinuousClock.Instant {
    /// Rounded up, 0 once it has passed, an hour at most: the caller looks again.
    var millisecondsLeft: Int32 {
        let left = ContinuousClock.now.duration(to: self)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        guard seconds < 3600 else { return 3_600_000 }
        return Int32(seconds) * 1000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
    }
}
