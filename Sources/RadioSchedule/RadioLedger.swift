import BandProfile
import HistorySync

/// Counts what the radio does, and for how long.
struct RadioLedger: Sendable {
    private var counted = RadioCounters()
    /// Adapters that scan, attempts and links, each with when its sum was last brought up to date.
    private var scanning = 0
    private var attempts = 0
    private var links: Set<BluetoothAddress> = []
    private var known: Set<BluetoothAddress> = []
    private var at: MonotonicTime?

    var scans: Int {
        get { counted.scans }
        set { counted.scans = newValue }
    }
    var failedScans: Int {
        get { counted.failedScans }
        set { counted.failedScans = newValue }
    }
    var missedLooks: Int {
        get { counted.missedLooks }
        set { counted.missedLooks = newValue }
    }

    mutating func scanning(_ adapters: Int, _ now: MonotonicTime) {
        bringUpToDate(now)
        scanning = adapters
    }

    mutating func began(_ now: MonotonicTime) {
        bringUpToDate(now)
        attempts += 1
        counted.attempts += 1
    }

    mutating func linked(_ band: BluetoothAddress, _ now: MonotonicTime) {
        bringUpToDate(now)
        attempts -= 1
        links.insert(band)
        if !known.insert(band).inserted { counted.reconnects += 1 }
    }

    mutating func ended(_ band: BluetoothAddress, _ outcome: SyncOutcome, _ now: MonotonicTime) {
        bringUpToDate(now)
        if links.remove(band) == nil {
            attempts -= 1
            counted.failedAttempts += 1
        }
        if outcome == .caughtUp { counted.caughtUp += 1 }
        if outcome == .noSlot { counted.refusedLinks += 1 }
    }

    func counters(at now: MonotonicTime) -> RadioCounters {
        var ledger = self
        ledger.bringUpToDate(now)
        return ledger.counted
    }

    private mutating func bringUpToDate(_ now: MonotonicTime) {
        let passed = now.milliseconds - (at ?? now).milliseconds
        at = now
        guard passed > 0 else { return }
        counted.scanMilliseconds += passed * Int64(scanning)
        counted.attemptMilliseconds += passed * Int64(attempts)
        counted.linkMilliseconds += passed * Int64(links.count)
    }
}
