import CSQLite
import Dispatch

#if canImport(Glibc)
    import Glibc
#endif

/// Lets another thread end a check that runs.
public final class CheckStop: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var isRequested = false

    public init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    public func request() {
        pthread_mutex_lock(mutex)
        isRequested = true
        pthread_mutex_unlock(mutex)
    }

    public var wasRequested: Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return isRequested
    }
}

/// Interrupts what runs on a connection once a time is up or a stop was asked for, again and again until `end`: an
/// interrupt that comes between two statements is lost.
///
/// A progress handler alone is not enough: the check of one b-tree is one step of SQLite's virtual machine, however large
/// the tree is, and the handler is not asked meanwhile.
final class CheckAlarm: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let timer: any DispatchSourceTimer
    private let connection: Connection
    private let deadline: ContinuousClock.Instant
    private let stop: CheckStop?
    private var isOver = false

    private static let interval = DispatchTimeInterval.milliseconds(50)

    init(_ connection: Connection, deadline: ContinuousClock.Instant, stop: CheckStop?) {
        self.connection = connection
        self.deadline = deadline
        self.stop = stop
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now(), repeating: Self.interval)
        // It lives as long as it ticks, and with it the connection.
        timer.setEventHandler { @Sendable in self.tick() }
        timer.activate()
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Nothing is interrupted any more once this has returned.
    func end() {
        pthread_mutex_lock(mutex)
        isOver = true
        pthread_mutex_unlock(mutex)
        timer.setEventHandler(handler: nil)
        timer.cancel()
    }

    var isDue: Bool { deadline <= .now || stop?.wasRequested == true }

    private func tick() {
        pthread_mutex_lock(mutex)
        if !isOver, isDue { sqlite3_interrupt(connection.handle) }
        pthread_mutex_unlock(mutex)
    }
}
