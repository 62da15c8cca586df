import Glibc
import ProcessSignals

/// SIGTERM, SIGINT and SIGHUP as something to wait for. Made first of all, so that an early one is not missed.
final class Signals: Sendable {
    enum Request: Sendable {
        case stop
        case reload
    }

    /// Of many requests the last few are enough: a stop is never dropped for reloads that came before it.
    private let stream: AsyncStream<Request>
    private let receiver: SignalReceiver

    init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Request.self, bufferingPolicy: .bufferingNewest(4))
        self.stream = stream
        receiver = SignalReceiver([SIGTERM, SIGINT, SIGHUP]) { number in
            continuation.yield(number == SIGHUP ? .reload : .stop)
        }
    }

    /// Calls `reload` for each SIGHUP; returns when it is asked to stop.
    func untilStop(reload: () -> Void) async {
        for await request in stream {
            switch request {
            case .stop: return
            case .reload: reload()
            }
        }
    }
}
