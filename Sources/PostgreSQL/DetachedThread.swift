import Glibc
import Locking
import Threading

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
        let done = Wakeup()
        let thread = POSIXThread.start {
            let value = work()
            let isLate = hand.withLock { hand in
                if case .abandoned = hand { return true }
                hand = .holding(value)
                return false
            }
            if isLate { late(value) }
            done.signal()
        }
        guard let thread else { return .noThread }
        pthread_detach(thread)
        done.wait(atMost: limit - .now)
        return hand.withLock { hand in
            defer { hand = .abandoned }
            guard case .holding(let value) = hand else { return .deadlinePassed }
            return .finished(value)
        }
    }
}
