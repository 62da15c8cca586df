import Glibc

/// Wakes one thread that waits. A signal that nobody waits for is kept; two that nobody waited for are one.
///
/// In place of `DispatchSemaphore`, whose waits with a limit are waits for a time of the wall clock on Linux: where that is
/// set back meanwhile, they last longer by as much. These follow a clock that nobody sets, which stands still in a suspend.
public final class Wakeup: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isSignalled = false

    public init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, Self.clock)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    public func signal() {
        pthread_mutex_lock(mutex)
        isSignalled = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the calling thread. True = signalled, false = the time is over.
    @discardableResult
    public func wait(atMost limit: Duration) -> Bool {
        var end = Self.time(after: limit)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // EINTR is none of its results; anything else than a wake-up ends the wait.
        while !isSignalled {
            guard pthread_cond_timedwait(condition, mutex, &end) == 0 else { break }
        }
        defer { isSignalled = false }
        return isSignalled
    }

    private static let clock = CLOCK_MONOTONIC
    /// Far beyond any wait, and far from where seconds overflow.
    private static let longest = Duration.seconds(1 << 31)

    private static func time(after limit: Duration) -> timespec {
        var now = timespec()
        clock_gettime(clock, &now)
        let wait = max(.zero, min(limit, longest)).components
        let nanoseconds = now.tv_nsec + Int(wait.attoseconds / 1_000_000_000)
        return timespec(
            tv_sec: now.tv_sec + Int(wait.seconds) + nanoseconds / 1_000_000_000,
            tv_nsec: nanoseconds % 1_000_000_000)
    }
}
