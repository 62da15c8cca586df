/// When a sample was measured, as well as it can be said.
public struct TimeEstimate: Equatable, Sendable {
    /// ms since 1970-01-01T00:00:00Z.
    public var time: Int64
    /// The truth is within this many ms; nil = nothing is known.
    public var bound: Int64?
    /// No reading of the clock that timed it vouches for it.
    public var isUncertain: Bool

    public init(time: Int64, bound: Int64?, isUncertain: Bool) {
        self.time = time
        self.bound = bound
        self.isUncertain = isUncertain
    }

    /// The middle of where it can be.
    init(uncertainBetween low: Int64, and high: Int64) {
        let (low, high) = (min(low, high), max(low, high))
        time = low + (high - low) / 2
        bound = high - time
        isUncertain = true
    }

    /// Bounds are rounded up, so that neighbours mostly share one: to 10 ms, from 1 s on to 100 ms, from 1 min on to 1 s.
    static func rounded(_ bound: Int64) -> Int64 {
        let step: Int64 = bound < 1_000 ? 10 : bound < 60_000 ? 100 : 1_000
        return (bound + step - 1) / step * step
    }
}
