/// How long to wait after failures in a row: doubling, capped, with jitter so that gateways do not come back as one.
public struct BackOff: Equatable, Sendable {
    public struct Limits: Equatable, Sendable {
        public var first: Duration
        public var longest: Duration

        public init(first: Duration = .seconds(1), longest: Duration = .seconds(900)) {
            self.first = first
            self.longest = longest
        }
    }

    public let limits: Limits
    public private(set) var failures = 0

    public init(limits: Limits = Limits()) { self.limits = limits }

    /// One more failure; the wait is between half the doubled time and all of it, and never under `retryAfter`.
    public mutating func next(
        retryAfter: Duration? = nil, using random: inout some RandomNumberGenerator
    ) -> Duration {
        var full = limits.first
        for _ in 0..<failures where full < limits.longest { full *= 2 }
        full = min(full, limits.longest)
        failures += 1
        let wait = full * Double.random(in: 0.5...1, using: &random)
        guard let retryAfter else { return wait }
        return max(wait, retryAfter * Double.random(in: 1...1.1, using: &random))
    }

    public mutating func reset() { failures = 0 }
}
