/// A reading of a band's clock whose true time is known, within a bound.
public struct ClockPoint: Equatable, Sendable {
    public var clockID: UInt16
    /// ms since 1970 by the band's clock.
    public var bandTime: Int64
    /// True time at that moment, ms, and its bound.
    public var time: Int64
    public var bound: Int64
    /// The newest record that the band held shortly before, and how long before, ms: later records are measured later.
    public var newestSeq: UInt32
    public var newestAge: Int64

    public init(
        clockID: UInt16, bandTime: Int64, time: Int64, bound: Int64, newestSeq: UInt32, newestAge: Int64
    ) {
        self.clockID = clockID
        self.bandTime = bandTime
        self.time = time
        self.bound = bound
        self.newestSeq = newestSeq
        self.newestAge = newestAge
    }

    /// Add to band time to get true time.
    var offset: Int64 { time - bandTime }

    /// A clock that was slower than this in one direction of the air is no broken one.
    private static let tolerance: Int64 = 1_000

    /// Between two readings of one clock, the clock kept time.
    public func agrees(with other: ClockPoint) -> Bool {
        let drift = Drift.limit(over: time - other.time, ppm: Drift.brokenPPM)
        let allowed = bound + other.bound + drift + Self.tolerance
        return abs(offset - other.offset) <= allowed
    }
}
