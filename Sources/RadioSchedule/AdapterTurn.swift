import BandProfile
import HistorySync

/// One adapter: what it does, and how many more links it takes.
struct AdapterTurn: Equatable, Sendable {
    var isUsable: Bool
    var connected: Set<BluetoothAddress>
    /// The band that it is connecting to: a controller makes one connection at a time.
    var attempt: BluetoothAddress?
    /// Where it refused one more link.
    var learnedLimit: (links: Int, until: MonotonicTime)?
    var scanFailures = 0
    var noScanUntil: MonotonicTime?
    /// When a band was last heard over it; nil = never.
    var heardAt: MonotonicTime?
    var silenceToldAt: MonotonicTime?

    init(_ view: RadioView.Adapter) {
        isUsable = view.isPowered
        connected = view.connected
    }

    func limit(_ settings: RadioSettings, at now: MonotonicTime) -> Int {
        guard let learnedLimit, now < learnedLimit.until else { return settings.maxLinks }
        return min(settings.maxLinks, max(1, learnedLimit.links))
    }

    func mayScan(at now: MonotonicTime) -> Bool { isUsable && (noScanUntil ?? now) <= now }

    static func == (left: AdapterTurn, right: AdapterTurn) -> Bool {
        left.isUsable == right.isUsable && left.connected == right.connected && left.attempt == right.attempt
            && left.learnedLimit?.links == right.learnedLimit?.links
            && left.learnedLimit?.until == right.learnedLimit?.until
            && left.scanFailures == right.scanFailures && left.noScanUntil == right.noScanUntil
            && left.heardAt == right.heardAt && left.silenceToldAt == right.silenceToldAt
    }
}

/// The discovery that runs.
struct ScanTurn: Equatable, Sendable {
    var since: MonotonicTime
    var until: MonotonicTime
    var adapters: Set<BluetoothAddress>
    /// Whom it looks for.
    var bands: Set<BluetoothAddress>
    /// Connections wait for it.
    var isExclusive: Bool
}
