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
    /// Remedies taken, by adapter, and those that were for bluetoothd as such.
    public var remedies: [BluetoothAddress: [Remedy: Int]] = [:]
    public var serviceRemedies: [Remedy: Int] = [:]

    public init() {}

    public var remediesTaken: [Remedy: Int] {
        remedies.values.reduce(into: serviceRemedies) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// With what another radio has counted after this one. What is held now is the later one's.
    public func followed(by later: RadioCounters) -> RadioCounters {
        var sum = later
        sum.attempts += attempts
        sum.failedAttempts += failedAttempts
        sum.reconnects += reconnects
        sum.caughtUp += caughtUp
        sum.scanMilliseconds += scanMilliseconds
        sum.attemptMilliseconds += attemptMilliseconds
        sum.linkMilliseconds += linkMilliseconds
        sum.scans += scans
        sum.failedScans += failedScans
        sum.missedLooks += missedLooks
        sum.refusedLinks += refusedLinks
        sum.remedies.merge(remedies) { $0.merging($1, uniquingKeysWith: +) }
        sum.serviceRemedies.merge(serviceRemedies, uniquingKeysWith: +)
        return sum
    }
}
