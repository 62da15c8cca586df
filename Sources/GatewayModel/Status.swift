import BandProfile

/// How a band is treated, because an ack is destructive.
public enum BandMode: String, Sendable, CaseIterable {
    /// Ack after commit: only for bands named by address.
    case own
    /// Store and upload, never ack.
    case observe
}

/// What `status` shows of one band. Times are wall clock; nil = never or not known.
public struct BandStatus: Equatable, Sendable {
    public var address: BluetoothAddress
    public var device: DeviceID
    public var name: String?
    public var mode: BandMode
    /// Named in the configuration file, so `forget` is refused.
    public var configured: Bool
    /// False after `forget`: rows are kept and go on uploading.
    public var adopted: Bool
    public var connected: Bool
    public var syncing: Bool
    /// ATT MTU of the last connection.
    public var mtu: Int?
    public var lastContact: Timestamp?
    /// Percent.
    public var battery: Int?
    public var firmware: String?
    public var ring: RingID?
    public var newestSeq: UInt32?
    public var newestRecordedAt: Timestamp?
    /// First seq not yet read, and the newest that the band was seen to hold: progress of a history.
    public var nextSeq: UInt32?
    public var stored: Int
    /// Stored and not yet confirmed by the server.
    public var pending: Int
    public var quarantined: Int
    public var conflicts: Int
    public var undecodable: Int
    public var gaps: Int
    /// Who owns it, as the server last said; nil = it has not said so.
    public var lease: BandLease?
    /// Code, sentence and what to do; nil when all is well.
    public var problem: Problem?

    public init(address: BluetoothAddress, device: DeviceID, mode: BandMode) {
        self.address = address
        self.device = device
        self.mode = mode
        configured = false
        adopted = true
        connected = false
        syncing = false
        stored = 0
        pending = 0
        quarantined = 0
        conflicts = 0
        undecodable = 0
        gaps = 0
    }
}

/// What `status` shows of the gateway as a whole.
public struct GatewayStatus: Equatable, Sendable {
    public var version: String
    public var stateDirectory: String
    public var running: Bool
    /// Where samples go; nil when no server is configured.
    public var uploadURL: String?
    public var lastUpload: Timestamp?
    /// The comparison with the server that is under way.
    public var reconciling: ReconcileProgress?
    public var problems: [Problem]
    public var bands: [BandStatus]

    public init(version: String, stateDirectory: String, running: Bool) {
        self.version = version
        self.stateDirectory = stateDirectory
        self.running = running
        problems = []
        bands = []
    }
}
