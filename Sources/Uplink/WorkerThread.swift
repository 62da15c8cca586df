import Glibc
import Synchronization

/// One POSIX thread for blocking work, which would starve Swift's shared pool.
final class WorkerThread: Sendable {
    private let finished = OneShot<Bool>()
    private let handle = Mutex<pthread_t?>(nil)

    /// Returns false when no thread could be made.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(
            Work {
                body()
                self.finished.set(true)
            })
        return handle.withLock { handle in
            guard handle == nil else { return true }
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
            handle = thread
            return true
        }
    }

    /// Waits until the body has returned, at most until the deadline. False = it still runs.
    func join(within deadline: Duration) async -> Bool {
        guard let thread = handle.withLock({ $0 }) else { return true }
        guard await finished.value(within: deadline, else: false) else { return false }
        handle.withLock { handle in
            // The body is done, so this takes no time; a second stop finds nothing to join.
            guard handle != nil else { return }
            pthread_join(thread, nil)
            handle = nil
        }
        return true
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
