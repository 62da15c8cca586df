import Dispatch
import Glibc

/// SIGTERM and SIGINT as something to wait for. Made first of all, so that an early one is not missed.
///
/// The sources are only kept alive, never touched again.
final class StopSignals: @unchecked Sendable {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        let queue = DispatchQueue(label: "stop-signals")
        sources = [SIGTERM, SIGINT].map { number in
            // The default action would end the process before the source sees the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in continuation.yield() }
            source.resume()
            return source
        }
    }

    func first() async {
        for await _ in stream { return }
    }
}
