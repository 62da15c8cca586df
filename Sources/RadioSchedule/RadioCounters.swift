import BandProfile

/// What the radio has done since the start; for status, metrics and tests.
public struct RadioCounters: Equatable, Sendable {
    /// Connection attempts, and those that failed.
    public var attempts = 0
    public var failedAttempts = 0
    /// Links after the first of each band.
    public var reconnects = 0
    /// Sessions that read a band to its end.
    public var caughtUp = 0
    /// Sum over adapters, ms.
    public var scanMilliseconds: Int64 = 0
    public var attemptMilliseconds: Int64 = 0
    public var linkMilliseconds: Int64 = 0
    public var scans = 0
    public var failedScans = 0
    /// Looks that ended without a band that was looked for.
    public var missedLooks = 0
    /// Links that an adapter refused.
    public var refusedLinks = 0
    /// Now, by adapter.
    public var linksHeld: [BluetoothAddress: Int] = [:]
    /// Remedies taken, by adapter.
    public var remedies: [BluetoothAddress: [Remedy: Int]] = [:]

    public init() {}

    public var remediesTaken: [Remedy: Int] {
        remedies.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
}
