import IngestStore

/// Counts what may happen thousands of times a second, to be told at most once a minute.
struct RefusalSummary {
    private static let interval = Duration.seconds(60)

    private var count = 0
    private var lastTold: ContinuousClock.Instant?

    /// How many there were since the last time that this returned a number; nil = not now.
    mutating func note(now: ContinuousClock.Instant) -> Int? {
        count += 1
        if let lastTold, now - lastTold < Self.interval { return nil }
        lastTold = now
        defer { count = 0 }
        return count
    }
}

/// The same for each kind of failure.
struct FailureSummary {
    private var summaries: [StorageFailure.Kind: RefusalSummary] = [:]

    mutating func note(_ kind: StorageFailure.Kind, now: ContinuousClock.Instant) -> Int? {
        summaries[kind, default: RefusalSummary()].note(now: now)
    }
}
