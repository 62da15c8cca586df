import BandModel
import BandProfile
import DBus
import Dispatch

/// One band as BlueZ's Device1 sees it: presence, link, GATT objects.
///
/// Used on the queue of its simulator only, which is why closures may carry it.
final class SimulatedDevice: @unchecked Sendable {
    enum Link: Equatable {
        case down
        /// A Connect or a Pair waits for the link, or BlueZ connects by itself.
        case connecting
        case up
        /// Disconnect was asked for and BlueZ's two seconds run.
        case disconnecting
    }

    let keeper: BandKeeper
    let path: String
    /// Which of the hosts that hear the band this is, from 0.
    let host: Int
    /// Does something to this device on its simulator, which the other hosts of the band do not know.
    var reach: ((@Sendable (isolated BusSimulator) -> Void) -> Void)?
    /// In range and switched on.
    var isPresent = true
    /// The Device1 object exists.
    var isExported = false
    var isTemporary = true
    var isBlocked = false
    var link = Link.down
    /// Rises with each link, so that what was started under an earlier one is forgotten.
    var linkNumber: UInt64 = 0
    var servicesResolved = false
    /// The band answers no ATT request any more (fault "silent").
    var isSilent = false
    /// BlueZ gave up on the ATT bearer while the link still stands.
    var isBearerShut = false
    var areServicesExported = false
    let services: [(definition: GATTLayout.Service, path: String, characteristics: [SimulatedCharacteristic])]
    var connectCall: UInt64?
    var disconnectCalls: [UInt64] = []
    /// Acquire calls that wait for services to be resolved.
    var afterResolution: [@Sendable (isolated BusSimulator) -> Void] = []
    /// Continues a Pair once the link is there; nil error = it is.
    var afterConnecting: (@Sendable (isolated BusSimulator, BusError?) -> Void)?
    var pairCall: UInt64?
    var isPairing = false
    /// Requests that wait for a bond which BlueZ makes by itself.
    var afterPairing: [AfterPairing] = []
    /// Who is asked for the pairing that runs.
    var pairingAgent: AgentRegistry.Agent?
    var temporaryTimer: DispatchWorkItem?
    var connectTimer: DispatchWorkItem?
    var rssi: Int16
    /// The RSSI that was last signalled; nil = it is not known now.
    var signalledRSSI: Int16?
    var pump = StreamPump()
    /// How many calls of each kind there were, for the fault script.
    var counts: [String: UInt64] = [:]
    /// How tests want calls of it to be answered.
    var answers = ScriptedAnswers()
    /// ATT MTU of the link that is.
    var mtu = 23
    /// Notifications that a full socket dropped, over all links.
    var dropped: UInt64 = 0
    var heartRateTimer: DispatchWorkItem?

    /// The same band for a host whose adapter has got another name.
    convenience init(replacing old: SimulatedDevice, adapterPath: String) {
        self.init(old.keeper, adapterPath: adapterPath, host: old.host)
        old.keeper.replace(old, by: self)
        isPresent = old.isPresent
        isTemporary = !stored.isKnown
    }

    convenience init(_ keeper: BandKeeper, adapterPath: String) {
        self.init(keeper, adapterPath: adapterPath, host: keeper.devices.count)
        keeper.add(self)
        isTemporary = !stored.isKnown
    }

    private init(_ keeper: BandKeeper, adapterPath: String, host: Int) {
        self.keeper = keeper
        self.host = host
        let address = keeper.setup.address.description
        let path = adapterPath + "/dev_" + address.map { $0 == ":" ? "_" : String($0) }.joined()
        self.path = path
        services = GATTLayout.services.map { service in
            let servicePath = path + "/service" + GATTPath.hexadecimal(service.handle)
            return (
                service, servicePath,
                service.characteristics.map { SimulatedCharacteristic($0, service: servicePath) }
            )
        }
        rssi = -50 - Int16(keeper.setup.address.bits & 0xf)
    }

    /// What this host's BlueZ keeps of it.
    var stored: HostStorage {
        get { keeper.stored.hosts[host] }
        set { keeper.stored.hosts[host] = newValue }
    }

    var address: BluetoothAddress { keeper.setup.address }
    var isConnected: Bool { link == .up || link == .disconnecting }
    /// Reads and writes can be sent.
    var hasGATT: Bool { isConnected && !isBearerShut }
    /// A band advertises whenever it may and nobody holds its link.
    var isAdvertising: Bool { isPresent && keeper.linked == nil }
    /// It would answer a connection now.
    var isConnectable: Bool { isPresent && (keeper.linked == nil || keeper.linked === self) }
    var characteristics: [SimulatedCharacteristic] { services.flatMap(\.characteristics) }

    func characteristic(_ role: GATTLayout.Role) -> SimulatedCharacteristic? {
        characteristics.first { $0.definition.role == role }
    }

    /// Counts an event of this kind, and says whether the script strikes it.
    func strikes(_ kind: FaultKind, method: String? = nil) -> Fault? {
        let options = keeper.band.options
        guard options.faults.contains(kind) else { return nil }
        let name = kind.rawValue + (method.map { ":" + $0 } ?? "")
        let count = (counts[name] ?? 0) + 1
        counts[name] = count
        return options.faults.strikes(kind, count: count, seed: options.seed, method: method)
    }
}

/// A request that waits for a bond.
struct AfterPairing {
    var goOn: @Sendable (isolated BusSimulator) -> Void
    var refuse: @Sendable (isolated BusSimulator) -> Void
}

/// The pace of one stream.
struct StreamPump {
    var isScheduled = false
    /// Notifications that may go now, when there is a rate.
    var credit = 0.0
    /// Monotonic nanoseconds of the last top-up; nil = the stream was idle.
    var lastTopUp: Int64?
    /// Reused for every notification.
    var buffer: [UInt8] = []

    /// Most notifications in one go: a late timer must not become a burst that overflows the socket.
    static let burst = 64

    /// How many may go now at `rate` a second; 0 = no limit but the burst.
    mutating func allowance(rate: Int, now: Int64) -> Int {
        guard rate > 0 else { return Self.burst }
        let elapsed = lastTopUp.map { now - $0 } ?? 0
        if lastTopUp == nil { credit = 1 }
        lastTopUp = now
        credit = min(Double(Self.burst), credit + Double(elapsed) * Double(rate) / 1_000_000_000)
        return Int(credit)
    }

    mutating func spend(_ count: Int) { credit -= Double(count) }
    mutating func idle() { lastTopUp = nil }
}
