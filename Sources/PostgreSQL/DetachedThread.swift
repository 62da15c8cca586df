import Dispatch
import Glibc
import Locking

/// A thread for a call of libpq that can't be given a deadline; nobody joins it.
enum DetachedThread {
    enum Outcome<Value> {
        case finished(Value)
        /// The call still runs.
        case deadlinePassed
        case noThread
    }

    private enum Hand<Value> {
        case empty, holding(Value), abandoned
    }

    /// What `work` returns, if it does by then. What it returns later goes to `late`, on its own thread.
    static func run<Value: Sendable>(
        until limit: ContinuousClock.Instant, _ work: @escaping @Sendable () -> Value,
        late: @escaping @Sendable (Value) -> Void
    ) -> Outcome<Value> {
        let hand = Guarded(Hand<Value>.empty)
        let done = DispatchSemaphore(value: 0)
        let hasStarted = start {
            let value = work()
            let isLate = hand.withLock { hand in
                if case .abandoned = hand { return true }
                hand = .holding(value)
                return false
            }
            if isLate { late(value) }
            done.signal()
        }
        guard hasStarted else { return .noThread }
        _ = done.wait(timeout: .now() + .milliseconds(Int(limit.millisecondsLeft)))
        return hand.withLock { hand in
            defer { hand = .abandoned }
            guard case .holding(let value) = hand else { return .deadlinePassed }
            return .finished(value)
        }
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
