import Glibc
import Locking
import Synchronization
import Threading

/// One POSIX thread for blocking work, which would starve Swift's shared pool.
final class WorkerThread: Sendable {
    private let isFinished = Atomic<Bool>(false)
    private let handle = Guarded<pthread_t?>(nil)

    /// Returns false when no thread could be made.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        handle.withLock { handle in
            guard handle == nil else { return true }
            handle = POSIXThread.start {
                body()
                self.isFinished.store(true, ordering: .releasing)
            }
            return handle != nil
        }
    }

    /// Waits until the body has returned, at most until the deadline or the task's cancellation. False = it still
    /// runs. Any number of callers may wait.
    func join(within deadline: Duration) async -> Bool {
        guard handle.withLock({ $0 }) != nil else { return true }
        let end = ContinuousClock.now + deadline
        while !isFinished.load(ordering: .acquiring) {
            guard ContinuousClock.now < end, !Task.isCancelled else { return false }
            try? await Task.sleep(for: .milliseconds(10))
        }
        handle.withLock { handle in
            // The body is done, so this takes no time; a second caller finds nothing to join.
            guard let thread = handle else { return }
            pthread_join(thread, nil)
            handle = nil
        }
        return true
    }
}
