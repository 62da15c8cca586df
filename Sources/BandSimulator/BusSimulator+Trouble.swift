import BandModel
import BandProfile
import DBus

// What goes wrong with an adapter and with bluetoothd, as tests ask for it.

/// What an adapter goes through, and what it has done.
struct AdapterTrouble {
    /// rfkill's switch is set.
    var isBlocked = false
    /// bluetoothd answers nothing any more.
    var isWedged = false
    /// The controller has lost its discovery and bluetoothd believes in it: InProgress, until it is switched off and on.
    var discoveryIsStuck = false
    /// So many calls that would switch the adapter on fail.
    var powerOnRefusals = 0
    /// How long the controller takes to be switched off; bluetoothd is busy with it meanwhile.
    var powerOffDelay = Duration.zero
    var isPoweringOff = false
    var scanningSince: Int64?
    var scanNanoseconds: Int64 = 0
    var connects: UInt32 = 0
    /// Links that were dropped because one more was made than there are slots.
    var overflows: UInt32 = 0
    var mostLinks: UInt32 = 0
    var powerCycles: UInt32 = 0
    var restarts: UInt32 = 0

    mutating func scanning(_ isScanning: Bool, now: Int64) {
        if let since = scanningSince { scanNanoseconds += now - since }
        scanningSince = isScanning ? now : nil
    }
}

extension BusSimulator {
    /// The adapter is pulled out: its object, its devices and its links go.
    public func unplug() {
        guard isPlugged else { return }
        isPlugged = false
        for device in devices {
            if device.isConnected { linkLost(device, reason: .local) }
            removeDevice(device)
        }
        discovery = DiscoverySessions()
        trouble.scanning(false, now: SystemClock.monotonicNanoseconds)
        tree.remove(adapterPath)
    }

    /// It is plugged in again, under a number that the kernel gives it.
    public func plug(as number: Int) {
        guard !isPlugged else { return }
        isPlugged = true
        isPowered = !trouble.isBlocked
        trouble.discoveryIsStuck = false
        adapterPath = "/org/bluez/hci\(number)"
        devices = devices.map { old in
            let device = SimulatedDevice(replacing: old, adapterPath: adapterPath)
            prepare(device)
            return device
        }
        exportAdapter(signal: true)
        for device in devices where !device.isTemporary { exportDevice(device) }
    }

    /// Another adapter, of another address, under a number that may have been this one's.
    func plugForeign(as number: Int) {
        let path = "/org/bluez/hci\(number)"
        guard path != adapterPath || !isPlugged else { return }
        foreignAdapterPath = path
        exportAdapter(at: path, address: "00:AA:02:00:00:01", isPowered: true, signal: true)
    }

    /// Discovery of every client ends, as when somebody else or the kernel stops it.
    func endDiscovery() {
        for client in discovery.clients { endDiscovery(of: client) }
    }

    /// rfkill's switch. What it blocks can't be switched on over BlueZ.
    public func setBlocked(_ isBlocked: Bool) {
        trouble.isBlocked = isBlocked
        guard isBlocked, isPowered else { return }
        powerOff()
    }

    /// The next calls that would switch the adapter on fail, as when its firmware does not load.
    public func refusePowerOn(_ times: Int) { trouble.powerOnRefusals = max(0, times) }

    public func setWedged(_ isWedged: Bool) {
        trouble.isWedged = isWedged
        tree.setMute(isWedged)
    }

    /// bluetoothd does nothing any more; when it goes on it carries out what it was told meanwhile.
    public func setHung(_ isHung: Bool) {
        guard !isHung else { return tree.hold() }
        tree.letGo { bus.reply(to: $0.token, with: $1) }
    }

    /// From now on the controller takes so long to be switched off.
    public func slowPowerOff(_ delay: Duration) { trouble.powerOffDelay = delay }

    /// Whatever the adapter held ends.
    func powerOff() {
        isPowered = false
        for device in devices {
            if device.link == .connecting { connectFailed(device, BlueZError.connectCanceled) }
            if device.isConnected { linkLost(device, reason: .local) }
        }
        discovery = DiscoverySessions()
        trouble.discoveryIsStuck = false
        trouble.powerCycles += 1
        trouble.scanning(false, now: SystemClock.monotonicNanoseconds)
        setAdapter(["Powered": .bool(false), "Discovering": .bool(false)])
        for device in devices where device.isTemporary && device.isExported { removeDevice(device) }
    }

    /// bluetoothd is stopped and started again by systemd: all that clients had of it is lost.
    public func restart() async {
        trouble.restarts += 1
        setWedged(false)
        tree.letGo(carryingOut: false) { bus.reply(to: $0.token, with: $1) }
        trouble.isPoweringOff = false
        for device in devices {
            if device.link == .connecting { connectFailed(device, BlueZError.connectCanceled) }
            if device.isConnected { linkLost(device, reason: .local) }
            for characteristic in device.characteristics { characteristic.sessions = [] }
        }
        discovery = DiscoverySessions()
        trouble.discoveryIsStuck = false
        trouble.scanning(false, now: SystemClock.monotonicNanoseconds)
        agents = AgentRegistry()
        profiles = [:]
        try? await bus.releaseName("org.bluez")
        setAdapter(["Discovering": .bool(false), "Pairable": .bool(false)])
        try? await Task.sleep(for: scaled(.milliseconds(500)))
        _ = try? await bus.requestName("org.bluez")
    }

    /// One link more than there are slots: the controller drops another one, and says nothing of why.
    func overflow(besides device: SimulatedDevice) {
        let held = devices.filter(\.isConnected)
        trouble.mostLinks = max(trouble.mostLinks, UInt32(held.count))
        guard let slots = options.slots, held.count > slots, let victim = held.first(where: { $0 !== device })
        else { return }
        trouble.overflows += 1
        linkLost(victim, reason: .remote)
    }

    /// Carries out one call of the control interface of the adapter.
    func controlAdapter(_ call: MethodCall) async -> CallOutcome {
        let flag = call.arguments.first?.flag ?? false
        switch call.member {
        case "Unplug": unplug()
        case "Plug": plug(as: max(0, min(call.arguments.first?.integer ?? 0, 99)))
        case "Block": setBlocked(flag)
        case "Wedge": setWedged(flag)
        case "Hang": setHung(flag)
        case "SlowPowerOff": slowPowerOff(.milliseconds(call.arguments.first?.integer ?? 0))
        case "RefusePowerOn": refusePowerOn(call.arguments.first?.integer ?? 0)
        case "StickDiscovery":
            trouble.discoveryIsStuck = flag
            if flag { setAdapter(["Discovering": .bool(false)]) }
        case "Restart": await restart()
        case "EndDiscovery": endDiscovery()
        case "PlugForeign": plugForeign(as: max(0, min(call.arguments.first?.integer ?? 0, 99)))
        case "Answer": adapterAnswers.set(call.arguments)
        case "Status": return .reply([.properties(adapterStatus())])
        default: return .never
        }
        return .reply([])
    }

    private func adapterStatus() -> BusProperties {
        var now = trouble
        now.scanning(false, now: SystemClock.monotonicNanoseconds)
        return [
            "ScanMilliseconds": .uint64(UInt64(max(0, now.scanNanoseconds / 1_000_000))),
            "Connects": .uint32(now.connects), "SlotOverflows": .uint32(now.overflows),
            "MostLinks": .uint32(now.mostLinks), "PowerCycles": .uint32(now.powerCycles),
            "Restarts": .uint32(now.restarts), "Powered": .uint32(isPowered ? 1 : 0),
            "Discovering": .uint32(discovery.isActive ? 1 : 0),
        ]
    }
}

/// The one method of systemd that a gateway may call, on a connection of its own.
final class SimulatedSystemd: Sendable {
    private static let path = "/org/freedesktop/systemd1"
    private static let interface = InterfaceDescription(
        "org.freedesktop.systemd1.Manager",
        methods: [
            .init(
                "RestartUnit", takes: [.init("name", "s"), .init("mode", "s")], returns: [.init("job", "o")])
        ])

    private let bus: BusConnection

    private init(bus: BusConnection) { self.bus = bus }

    static func start(_ address: BusAddress, simulator: BusSimulator) async throws -> SimulatedSystemd {
        let bus = try await BusConnection.open(address)
        let tree = ObjectTree(root: path)
        tree.export(path, [interface])
        tree.onCall(interface.name, "RestartUnit") { [weak simulator] call in
            guard call.arguments.first?.text == "bluetooth.service" else {
                return .failure(
                    BusError(name: "org.freedesktop.systemd1.NoSuchUnit", message: "Unit not found."))
            }
            Task { await simulator?.restart() }
            return .reply([.objectPath(path + "/job/1")])
        }
        await bus.serve(tree)
        _ = try await bus.requestName("org.freedesktop.systemd1")
        return SimulatedSystemd(bus: bus)
    }

    func stop() async { await bus.close() }
}
