import BandProfile
import GatewayModel
import UploadDecisions

/// What the doctor looks at, each by a probe of its own.
public enum DoctorCheck: String, Sendable, CaseIterable {
    case configuration
    case daemon
    case bluetooth
    case rfkill
    case bluetoothdVersion = "bluetoothd_version"
    case bluetoothConfiguration = "bluetooth_configuration"
    case clock
    case disk
    case server

    /// For a sentence.
    public var words: String {
        switch self {
        case .configuration: "the configuration"
        case .daemon: "bandferryd"
        case .bluetooth: "Bluetooth"
        case .rfkill: "rfkill"
        case .bluetoothdVersion: "the version of bluetoothd"
        case .bluetoothConfiguration: "BlueZ's configuration"
        case .clock: "this host's clock"
        case .disk: "the disk"
        case .server: "the server"
        }
    }
}

/// What was found out. Nil = it was not looked at, or could not be.
public struct DoctorFacts: Equatable, Sendable {
    public var configuration: ConfigurationFacts
    public var daemon = DaemonFacts()
    public var bluetooth: BluetoothFacts?
    public var rfkill: [RadioSwitch]?
    public var bluetoothd: BluetoothdFacts?
    public var mainConfiguration: MainConfigurationFacts?
    public var clock: HostTrust?
    public var disk: DiskFacts?
    public var server: ServerFacts?
    /// Checks that ended in time, whatever they found.
    public var done: [DoctorCheck] = []
    /// Checks that did not, and what they were given.
    public var unfinished: [DoctorCheck: Duration] = [:]
    /// Checks that this user may not do, and the system's words.
    public var notPermitted: [DoctorCheck: String] = [:]

    public init(configuration: ConfigurationFacts) { self.configuration = configuration }
}

public struct ConfigurationFacts: Equatable, Sendable {
    public var file: String
    /// What keeps the daemon from starting, and lines that are ignored; each with its place.
    public var errors: [String]
    public var warnings: [String]
    /// Empty = whichever is there.
    public var adapters: [BluetoothAddress]
    public var maxLinks: Int
    /// Bytes; with less room than this the daemon stores nothing. 0 = none is kept.
    public var freeSpaceFloor: Int64

    public init(
        file: String, errors: [String] = [], warnings: [String] = [],
        adapters: [BluetoothAddress] = [],
        maxLinks: Int = 8, freeSpaceFloor: Int64 = 0
    ) {
        self.file = file
        self.errors = errors
        self.warnings = warnings
        self.adapters = adapters
        self.maxLinks = maxLinks
        self.freeSpaceFloor = freeSpaceFloor
    }
}

/// What the daemon, or in its absence its state directory, says.
public struct DaemonFacts: Equatable, Sendable {
    public enum State: String, Equatable, Sendable {
        case running
        /// It has the state directory, and not its name on the bus.
        case offTheBus = "off_the_bus"
        case stopped
        /// On the bus, without an answer.
        case silent
        /// The bus does not let this user ask.
        case notPermitted = "not_permitted"
        case unknown
    }

    public var state: State
    /// Why there is no answer.
    public var reason: String
    public var status: GatewayStatus?

    public init(_ state: State = .unknown, reason: String = "", status: GatewayStatus? = nil) {
        self.state = state
        self.reason = reason
        self.status = status
    }

    /// Asked before BlueZ was read and again after it: a band that the daemon held at any moment between counts as held.
    public func asked(again later: DaemonFacts) -> DaemonFacts {
        guard let status, var shown = later.status else { return later.state == .running ? later : self }
        for index in shown.bands.indices {
            guard let before = status.bands.first(where: { $0.address == shown.bands[index].address }) else {
                continue
            }
            // A session that began and ended meanwhile shows in the last contact.
            if before.connected || before.lastContact != shown.bands[index].lastContact {
                shown.bands[index].connected = true
            }
        }
        return DaemonFacts(later.state, reason: later.reason, status: shown)
    }
}

/// `org.bluez` as it is now.
public enum BluetoothFacts: Equatable, Sendable {
    case noBus(String)
    /// The bus does not let this user ask, or bluetoothd does not.
    case notPermitted(String)
    case notRunning
    case silent(String)
    case running(BluetoothView)
}

public struct BluetoothView: Equatable, Sendable {
    public struct Adapter: Equatable, Sendable {
        public var address: BluetoothAddress
        /// `hci0`: for people only.
        public var name: String
        public var isPowered: Bool

        public init(address: BluetoothAddress, name: String, isPowered: Bool) {
            self.address = address
            self.name = name
            self.isPowered = isPowered
        }
    }

    public struct Device: Equatable, Sendable {
        public var address: BluetoothAddress
        public var adapter: String
        /// It shows the Band History service.
        public var isBand = false
        public var isConnected = false
        public var isBonded = false
        public var areServicesResolved = false
        /// dBm, while BlueZ listens.
        public var rssi: Int?
        /// Band History's characteristics are among its objects.
        public var showsHistory = false
        /// Somebody has subscribed to the history.
        public var isNotifying = false

        public init(address: BluetoothAddress, adapter: String) {
            self.address = address
            self.adapter = adapter
        }
    }

    public var adapters: [Adapter]
    public var devices: [Device]

    public init(adapters: [Adapter] = [], devices: [Device] = []) {
        self.adapters = adapters
        self.devices = devices
    }
}

public struct BluetoothdFacts: Equatable, Sendable {
    /// Nil = it could not be found out.
    public var version: BlueZVersionNumber?

    public init(version: BlueZVersionNumber?) { self.version = version }
}

/// What `main.conf` says that matters here.
public struct MainConfigurationFacts: Equatable, Sendable {
    public var file: String
    public var exchangeMTU: String?

    public init(file: String, exchangeMTU: String? = nil) {
        self.file = file
        self.exchangeMTU = exchangeMTU
    }
}

public struct DiskFacts: Equatable, Sendable {
    public var directory: String
    /// Microseconds that each synced write took; empty = none could be made.
    public var syncMicroseconds: [Int64]
    /// The time for it was used up before all writes were made.
    public var ranOutOfTime: Bool
    /// Bytes that may still be written; nil = the system does not say.
    public var freeBytes: Int64?
    /// Bytes of them that the database's log does not need: what the daemon compares with its floor. Nil = not known.
    public var roomBytes: Int64?

    public init(
        directory: String, syncMicroseconds: [Int64] = [], ranOutOfTime: Bool = false,
        freeBytes: Int64? = nil,
        roomBytes: Int64? = nil
    ) {
        self.directory = directory
        self.syncMicroseconds = syncMicroseconds
        self.ranOutOfTime = ranOutOfTime
        self.freeBytes = freeBytes
        self.roomBytes = roomBytes
    }
}

public struct ServerFacts: Equatable, Sendable {
    /// Nil = it answered as it should, and took the token.
    public var problem: UploadProblem?

    public init(problem: UploadProblem? = nil) { self.problem = problem }
}
