import BandProfile

/// How a band is treated, because an ack is destructive.
public enum BandMode: String, Sendable, CaseIterable {
    /// Ack after commit: only for bands named by address.
    case own
    /// Store and upload, never ack.
    case observe
}

/// When the owner of a band acknowledges: an ack lets the band free what it holds.
public enum AckPolicy: String, Sendable, CaseIterable {
    /// As soon as records are durable here.
    case stored
    /// When the server has confirmed them: the band keeps its copy until then, so that a stolen gateway loses nothing.
    case upload
}

/// What `status` shows of one band. Times are wall clock; nil = never or not known.
public struct BandStatus: Equatable, Sendable {
    public var address: BluetoothAddress
    public var device: DeviceID
    public var name: String?
    public var mode: BandMode
    /// Of a band that is owned.
    public var ack = AckPolicy.stored
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
    /// The oldest seq that the band still holds, as far as is known: what was read from it, or what it may not free yet.
    public var oldestSeq: UInt32?
    /// Records that the band has room for.
    public var capacity: UInt32?
    /// First seq not yet read, and the newest that the band was seen to hold: progress of a history.
    public var nextSeq: UInt32?
    public var stored: Int
    /// Stored and not yet confirmed by the server.
    public var pending: Int
    /// When the oldest of them was recorded that may go up; nil = there is none, or it is not known here.
    public var oldestPendingAt: Timestamp?
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

extension BandStatus {
    /// Of a band that this gateway owns, and that keeps its records until the server has them.
    public var room: BandRoom? {
        guard adopted, mode == .own, lease?.isOurs != false, ack == .upload, let newestSeq, let oldestSeq,
            let capacity
        else { return nil }
        return BandRoom(ackPoint: max(1, oldestSeq) - 1, newest: newestSeq, capacity: capacity)
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
