/// How long a question to the database may take, from when it is asked: its time in a queue and that of its statements.
struct TimeLimits: Sendable {
    /// One that has not begun by then is answered without being begun.
    var begin: Duration
    /// No statement goes on after that. What is left after `begin` is enough for any of them, so that a queue that is long
    /// costs no connection that is sound.
    var end: Duration
    /// A proof of room that failed answers for whoever asks for one so soon after it.
    var proof = Duration.seconds(1)

    /// Somebody waits for the answer.
    static let request = Self(begin: .seconds(10), end: .seconds(15))
    /// Nobody does.
    static let background = Self(begin: .seconds(60), end: .seconds(90))
}

/// When a request that another transaction's lock is in the way of is tried again. How long it is, `TimeLimits` say.
struct LockPauses: Sendable {
    /// Nobody waited for the lock. Each is twice the one before.
    var first = Duration.milliseconds(10)
    private static let doublings = 5
    /// The database waited for it already, in vain.
    var afterWait = Duration.seconds(1)

    func pause(after times: Int, waited: Bool) -> Duration {
        waited ? afterWait : first * (1 << min(times, Self.doublings))
    }
}

/// What a connection lets wait, and for how long.
struct WaitingRules: Sendable {
    private let limits: TimeLimits
    /// When the database last gave no answer in time, and the failure that it was.
    private var lateness: (at: ContinuousClock.Instant, failure: StorageFailure)?

    init(_ limits: TimeLimits) { self.limits = limits }

    /// Until when what was asked then may take.
    func end(_ asked: ContinuousClock.Instant) -> ContinuousClock.Instant { asked + limits.end }

    /// Why what was asked then is not begun any more; nil = it may begin.
    func refusal(_ asked: ContinuousClock.Instant, at now: ContinuousClock.Instant) -> StorageFailure? {
        // Whoever waited while the database hung has waited long enough.
        if let lateness, asked <= lateness.at { return lateness.failure }
        guard now - asked >= limits.begin else { return nil }
        return StorageFailure(.overloaded, "it waited too long for its turn")
    }

    mutating func note(_ failure: StorageFailure, at now: ContinuousClock.Instant) {
        if failure.isLate { lateness = (now, failure) }
    }
}
