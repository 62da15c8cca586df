/// A token bucket: so many requests a minute, in bursts of as many as a quarter of that.
struct RateLimit: Sendable {
    private let perSecond: Double
    private let burst: Double
    private var tokens: Double
    private var last: ContinuousClock.Instant

    init(requestsPerMinute: Int, now: ContinuousClock.Instant) {
        perSecond = Double(max(1, requestsPerMinute)) / 60
        burst = max(1, Double(requestsPerMinute) / 4)
        tokens = burst
        last = now
    }

    /// Nil = go on; otherwise whole seconds to wait.
    mutating func take(now: ContinuousClock.Instant) -> Int? {
        refill(now)
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return max(1, Int(((1 - tokens) / perSecond).rounded(.up)))
    }

    private mutating func refill(_ now: ContinuousClock.Instant) {
        let elapsed = (now - last).components
        let seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
        tokens = min(burst, tokens + max(0, seconds) * perSecond)
        last = now
    }
}

/// A limit for each of many, of whom the last ones seen are remembered.
struct RateLimits<Key: Hashable> {
    private let requestsPerMinute: Int
    private var limits: RecencyMap<Key, RateLimit>

    init(requestsPerMinute: Int, capacity: Int = 65_536) {
        self.requestsPerMinute = requestsPerMinute
        limits = RecencyMap(capacity: capacity)
    }

    /// Nil = go on; otherwise whole seconds to wait.
    mutating func take(_ key: Key, now: ContinuousClock.Instant) -> Int? {
        var limit = limits.use(key) ?? RateLimit(requestsPerMinute: requestsPerMinute, now: now)
        let wait = limit.take(now: now)
        limits.set(limit, for: key)
        return wait
    }

    /// What `take` would say; takes nothing.
    func wait(_ key: Key, now: ContinuousClock.Instant) -> Int? {
        var limit = limits.peek(key)
        return limit?.take(now: now)
    }
}
