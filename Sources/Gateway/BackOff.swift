/// How long a band is left alone after a session. Pure; the random source is the caller's.
struct BackOff: Equatable, Sendable {
    private(set) var failures = 0
    var first: Duration = .seconds(1)
    var most: Duration = .seconds(300)

    mutating func succeeded() { failures = 0 }

    /// Doubles with each failure in a row, with up to a quarter of jitter so that many bands do not march in step.
    mutating func failed(jitter: Double) -> Duration {
        let factor = 1 << min(failures, 20)
        failures += 1
        let pause = min(first * factor, most)
        return pause + pause * max(0, min(1, jitter)) / 4
    }
}
