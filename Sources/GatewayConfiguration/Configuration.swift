import BandProfile
import GatewayModel
import UploadDecisions

/// What the configuration file says, checked; every key that it leaves out has its default.
public struct Configuration: Equatable, Sendable {
    public var stateDirectory = "/var/lib/bandferry"
    /// Empty = every adapter that is powered.
    public var adapters: [BluetoothAddress] = []
    /// Between two syncs of a band that is in range.
    public var syncInterval: Duration = .seconds(900)
    /// Links over one adapter at the same time: adapters hold few, many of them only five to eight.
    public var maxLinks = 8
    /// systemd may be asked to restart bluetooth.service when nothing else helps.
    public var restartsBluetooth = false
    public var logLevel = LogDetail.info
    /// Bands named by address, in `adopt` or by a section of their own, in the order of the file.
    public var bands: [ConfiguredBand] = []
    /// Every band that advertises the service is taken in, observed only.
    public var adoptsAny = false
    /// The host's clock is taken as true whatever the kernel says of it: `trust = always`.
    public var trustsHostClock = false
    /// Nil = nothing is uploaded.
    public var upload: UploadSettings?
    public var storage = StorageSettings()
    /// Where metrics are shown; nil = nowhere.
    public var metrics: MetricsListener?

    public init() {}

    public func band(_ address: BluetoothAddress) -> ConfiguredBand? { bands.first { $0.address == address } }
}

/// How much of the medium the database may take.
public struct StorageSettings: Equatable, Sendable {
    /// Free bytes of the state directory's file system below which nothing is synced; 0 = none is kept free.
    public var freeSpaceFloor: Int64 = 67_108_864
    /// Days for which samples that the server has confirmed stay here; nil = for ever.
    public var keepDays: Int? = 365

    public init() {}
}

/// Who may read the metrics: this host alone, in either case.
public enum MetricsListener: Equatable, Sendable {
    /// A socket file, for the daemon's user and group.
    case socket(path: String)
    /// `127.0.0.1` or `::1`.
    case loopback(host: String, port: UInt16)
}

/// The words are syslog's.
public enum LogDetail: String, Sendable, CaseIterable {
    case error
    case warning
    case notice
    case info
    case debug
}

public struct ConfiguredBand: Equatable, Sendable {
    public var address: BluetoothAddress
    public var mode: BandMode
    public var ack: AckPolicy
    public var device: DeviceID
    public var name: String?
    /// Where the file names it, in its order.
    public var places: [BandPlace]
    public var lines: [Int] { places.map(\.line) }

    public init(
        address: BluetoothAddress, mode: BandMode = .own, ack: AckPolicy = .stored, device: DeviceID? = nil,
        name: String? = nil, places: [BandPlace] = []
    ) {
        self.address = address
        self.mode = mode
        self.ack = ack
        self.device = device ?? DeviceID(address)
        self.name = name
        self.places = places
    }
}

public struct UploadSettings: Equatable, Sendable {
    /// Without a slash at the end.
    public var url: String
    public var tokenFile: String
    /// Certificates to trust instead of the system's.
    public var caFile: String?
    /// Both or neither: what a server is shown that asks for a certificate.
    public var clientCertificate: String?
    public var clientKey: String?
    public var proxy = ProxySetting.none
    /// One line `user:password`.
    public var proxyCredentialsFile: String?
    /// Samples a request, 1 to 500.
    public var batchSize: Int
    /// Of 1,000 bytes; nil = no cap.
    public var maxKilobytesPerSecond: Int?
    public var meteredHours = MeteredHours()
    public var onMetered = OnMetered.upload
    /// How long a band stays this gateway's at the server when the gateway is not heard of.
    public var leaseSeconds = 3_600

    public init(url: String, tokenFile: String, caFile: String? = nil, batchSize: Int = 500) {
        self.url = url
        self.tokenFile = tokenFile
        self.caFile = caFile
        self.batchSize = batchSize
    }
}

/// Who carries the upload.
public enum ProxySetting: Equatable, Sendable {
    case none
    /// As `https_proxy`, `all_proxy` and `no_proxy` of the service say.
    case environment
    /// `http://`, `https://` or `socks5h://` with host and port.
    case server(String)
}
