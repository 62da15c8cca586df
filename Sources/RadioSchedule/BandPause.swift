/// How long a band is left alone after a failure. It outlives reconnects, and restarts by what is stored of it.
public struct BandPause: Equatable, Sendable {
    /// Failures in a row.
    public internal(set) var failures: Int
    /// Milliseconds from the last failure to the next try; 0 = none.
    public internal(set) var pause: Int64

    static let first: Int64 = 1_000
    static let most: Int64 = 300_000
    /// Where only a person can help: often enough to notice that one did.
    static let help: Int64 = 900_000

    public init(failures: Int = 0, pause: Int64 = 0) {
        self.failures = max(0, failures)
        // Whatever was stored: no band is locked out for longer than a failure now would do.
        self.pause = max(0, min(pause, Self.help + Self.help / 4))
    }

    /// What is left of it. `sinceFailure` is by the wall clock, which may have been stepped: it shortens the pause or leaves it.
    public func left(sinceFailure: Int64) -> Int64 {
        guard sinceFailure > 0 else { return pause }
        return sinceFailure >= pause ? 0 : pause - sinceFailure
    }

    /// Doubles with each failure in a row, with up to a quarter of jitter so that many bands do not march in step.
    ///
    /// - Parameters:
    ///   - jitter: 0 to 1.
    ///   - atMost: milliseconds before jitter.
    mutating func failed(jitter: Double, needsHelp: Bool, atMost: Int64) {
        let doubled = Self.first << Int64(min(failures, 20))
        let whole = needsHelp ? max(Self.help, 0) : min(doubled, Self.most, max(Self.first, atMost))
        failures += 1
        pause = whole + Int64(Double(whole) * max(0, min(1, jitter)) / 4)
    }

    mutating func worked() { self = BandPause() }
}
