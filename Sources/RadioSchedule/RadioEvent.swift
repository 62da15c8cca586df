import BandProfile
import HistorySync

/// What happens to the radio.
public enum RadioEvent: Equatable, Sendable {
    /// A band is to be kept synced; it is due at once, or when what is left of its pause and of its rest (ms) is over.
    /// While it rests it may be looked for all the same: see `SyncOutcome.doubtfulRest`.
    case kept(
        BluetoothAddress, BandPause = BandPause(), left: Int64 = 0, rest: Int64 = 0,
        isLookedForAtRest: Bool = false)
    /// It is not any more. A link that it has is ended by whoever has it.
    case dropped(BluetoothAddress)
    /// Somebody wants it synced now, pause or not.
    case asked(BluetoothAddress)
    /// It has become worth while to sync it: now, or when its pause is over.
    case due(BluetoothAddress)
    /// Why it was left alone has ended.
    case restEnded(BluetoothAddress)
    /// What BlueZ shows.
    case seen(RadioView)
    /// Discovery could not be started on an adapter, or stopped there by itself.
    case scanFailed(BluetoothAddress)
    /// The attempt that `connect` asked for is over: the band is linked. Its services are still to be found.
    case linked(BluetoothAddress)
    /// What `connect` asked for is over, and the link is gone.
    case ended(BluetoothAddress, SyncOutcome, jitter: Double)
    /// Somebody wants to know who is there: discovery for so long, ms.
    case listen(Int64)
    case timePassed
}

/// What is to be done with the radio. Each is done in order for one adapter.
public enum RadioAction: Equatable, Sendable {
    case startScan(BluetoothAddress)
    case stopScan(BluetoothAddress)
    /// Connect the band over the adapter, transfer all, disconnect; then `ended`.
    case connect(BluetoothAddress, on: BluetoothAddress)
    /// A band was looked for and not heard: the first time in a row, or somebody waits for it.
    case notHeard(BluetoothAddress)
    /// Somebody waits for a band and no adapter can be used.
    case noAdapter(BluetoothAddress)
    /// Somebody has waited for a band for long, and it gets no turn for a reason that nothing here will end.
    case refused(BluetoothAddress, RadioHindrance)
    /// An adapter that used to hear bands has heard none for very long.
    case deaf(BluetoothAddress)
}

/// What keeps a band from its turn on every adapter.
public enum RadioHindrance: Equatable, Sendable {
    /// Other programs hold all links that the adapters take.
    case noSlot
    /// Discovery fails, so that no band is heard.
    case noDiscovery
}

/// How a connection ended, for its band's next turn.
public enum SyncOutcome: Equatable, Sendable {
    case caughtUp
    /// Only a new connection goes on, and nothing is wrong with the band.
    case again
    /// - moved: something was stored, so the band and the radio work.
    case failed(moved: Bool)
    /// Only a person can help.
    case needsHelp
    /// It is to be left alone so long, ms: only a person can help, and each try has somebody asked for nothing.
    case rest(Int64)
    /// The same, ms, where its distance may be the cause: it is looked for now and then, and whoever keeps it is told when it
    /// is not heard.
    case doubtfulRest(Int64)
    /// The adapter, bluetoothd or the bus: not the band's fault.
    case radioFault
    /// The adapter would not hold one more link. Where it holds none, that is a failure like any other.
    case noSlot
    /// BlueZ had forgotten the band before the attempt began: nothing was on the air.
    case forgotten
}

/// What BlueZ shows of the radio at a moment.
public struct RadioView: Equatable, Sendable {
    public struct Adapter: Equatable, Sendable {
        public var address: BluetoothAddress
        public var isPowered: Bool
        /// Discovery runs, whoever asked for it.
        public var isDiscovering: Bool
        /// Whatever is connected over it, bands or not.
        public var connected: Set<BluetoothAddress>
        /// The bands that BlueZ knows there, heard or not; nil = not told.
        public var known: Set<BluetoothAddress>?

        public init(
            address: BluetoothAddress, isPowered: Bool, isDiscovering: Bool = false,
            connected: Set<BluetoothAddress> = [], known: Set<BluetoothAddress>? = nil
        ) {
            self.address = address
            self.isPowered = isPowered
            self.isDiscovering = isDiscovering
            self.connected = connected
            self.known = known
        }
    }

    /// An advertisement.
    public struct Sighting: Equatable, Sendable {
        public var band: BluetoothAddress
        public var adapter: BluetoothAddress
        /// dBm.
        public var rssi: Int
        public var at: MonotonicTime

        public init(band: BluetoothAddress, adapter: BluetoothAddress, rssi: Int, at: MonotonicTime) {
            self.band = band
            self.adapter = adapter
            self.rssi = rssi
            self.at = at
        }
    }

    /// Those that may be used.
    public var adapters: [Adapter]
    public var sightings: [Sighting]

    public init(adapters: [Adapter] = [], sightings: [Sighting] = []) {
        self.adapters = adapters
        self.sightings = sightings
    }
}
