import Dispatch
import Locking

/// Takes lines from anywhere and writes them in order on its own queue, so that a stuck reader of the log
/// never stops the one who logs. Bounded: beyond `limit` waiting lines new ones are dropped and counted.
final class LogQueue: Sendable {
    private struct State {
        var waiting = 0
        var dropped = 0
    }

    private let sink: any LogSink
    private let limit: Int
    private let queue = DispatchQueue(label: "org.bandferry.log")
    private let state = Guarded(State())

    init(sink: any LogSink, limit: Int = 1000) {
        self.sink = sink
        self.limit = limit
    }

    func append(_ entry: LogEntry) {
        let dropped: Int? = state.withLock { state in
            guard state.waiting < limit else {
                state.dropped += 1
                return nil
            }
            state.waiting += 1
            defer { state.dropped = 0 }
            return state.dropped
        }
        guard let dropped else { return }
        queue.async {
            if dropped > 0 {
                let lost = LogEntry(
                    level: .warning, message: "log lines dropped: the log was not read in time",
                    fields: [("count", .count(dropped))])
                self.sink.write(lost)
            }
            self.sink.write(entry)
            self.state.withLock { $0.waiting -= 1 }
        }
    }

    /// Waits until what was logged so far is written, at most for `deadline`.
    func flush(deadline: Duration) {
        let done = Wakeup()
        queue.async { done.signal() }
        done.wait(atMost: deadline)
    }
}
