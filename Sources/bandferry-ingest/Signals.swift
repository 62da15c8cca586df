import Glibc
import Locking
import ProcessSignals

/// SIGTERM, SIGINT and SIGHUP as something to wait for. Only for a server: whatever else the program does, a signal ends.
final class Signals: Sendable {
    /// What was asked for and is not done. A stop stays, whatever comes after it; any number of reloads are one.
    private struct Asked {
        var stop = false
        var reload = false
    }

    private let asked = Guarded(Asked())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let receiver: SignalReceiver

    init() {
        // A wake is only a reason to look.
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.wakes, self.wake) = (wakes, wake)
        let asked = asked
        receiver = SignalReceiver([SIGTERM, SIGINT, SIGHUP]) { number in
            asked.withLock { if number == SIGHUP { $0.reload = true } else { $0.stop = true } }
            wake.yield()
        }
    }

    /// What `work` comes to; nil when a stop is asked for before that, and the work is left to itself.
    func unlessStopped<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        let result = Guarded(Value?.none)
        let wake = wake
        Task {
            let value = await work()
            result.withLock { $0 = value }
            wake.yield()
        }
        for await _ in wakes {
            if let value = result.withLock({ $0 }) { return value }
            if asked.withLock({ $0.stop }) { return nil }
        }
        return nil
    }

    /// Calls `reload` when it is asked for one; returns when it is asked to stop.
    func untilStop(reload: () -> Void) async {
        var wakes = wakes.makeAsyncIterator()
        repeat {
            let now = asked.withLock { asked in
                defer { asked.reload = false }
                return asked
            }
            if now.stop { return }
            if now.reload { reload() }
        } while await wakes.next() != nil
    }
}
