import GatewayModel
import HistorySync
import Locking

/// What reaches a running session from outside its own actions: a stop, a lost link, an ack point that rose.
final class SessionInbox: Sendable {
    struct News {
        var stop = false
        var linkLost = false
        var ackPoint: UInt32?
        var mode: BandMode?
    }

    private let news = Guarded(News())
    private let gate = WakeGate()

    func wake() { gate.signal() }

    func stop() {
        news.withLock { $0.stop = true }
        gate.signal()
    }

    func linkLost() {
        news.withLock { $0.linkLost = true }
        gate.signal()
    }

    func ackPointRaised(to seq: UInt32) {
        news.withLock { $0.ackPoint = max($0.ackPoint ?? 0, seq) }
        gate.signal()
    }

    func modeChanged(to mode: BandMode) {
        news.withLock { $0.mode = mode }
        gate.signal()
    }

    /// The stop, the ack point and the mode are given once; a lost link stays lost.
    func take() -> News {
        news.withLock { news in
            defer {
                news.stop = false
                news.ackPoint = nil
                news.mode = nil
            }
            return news
        }
    }

    func wait(until deadline: MonotonicTime?, now: MonotonicTime) async {
        await gate.wait(atMost: deadline.map { .milliseconds($0.milliseconds - now.milliseconds) })
    }
}
