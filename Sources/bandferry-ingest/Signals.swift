import Dispatch
import Glibc

/// SIGTERM, SIGINT and SIGHUP as something to wait for. Made first of all, so that an early one is not missed.
///
/// The sources are only kept alive, never touched again.
final class Signals: @unchecked Sendable {
    enum Request: Sendable {
        case stop
        case reload
    }

    /// Of many requests the last few are enough: a stop is never dropped for reloads that came before it.
    private let stream: AsyncStream<Request>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Request.self, bufferingPolicy: .bufferingNewest(4))
        self.stream = stream
        let queue = DispatchQueue(label: "signals")
        let requests: [(Int32, Request)] = [(SIGTERM, .stop), (SIGINT, .stop), (SIGHUP, .reload)]
        sources = requests.map { number, request in
            // The default action would end the process before the source sees the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in continuation.yield(request) }
            source.resume()
            return source
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
