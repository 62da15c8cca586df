import BandModel
import BandProfile
import DBus
import Dispatch

/// A faithful `org.bluez` with simulated bands behind it, on any bus.
///
/// It shares the queue of its bus connection: every call, timer and packet is handled there, in order.
public actor BusSimulator {
    public nonisolated let options: BusSimulatorOptions
    nonisolated let bus: BusConnection
    nonisolated let tree = ObjectTree(root: "/")
    var adapterPath = "/org/bluez/hci0"
    var devices: [SimulatedDevice]
    var control: SimulatorControl?
    private var systemd: SimulatedSystemd?
    // Adapter
    var isPlugged = true
    var isPowered = true
    var trouble = AdapterTrouble()
    var discovery = DiscoverySessions()
    var agents = AgentRegistry()
    /// Applications with client GattProfile1 objects: whom BlueZ connects by itself.
    var profiles: [String: [String]] = [:]
    private var isStopped = false
    /// Calls of each method of the adapter, for its fault script.
    private var adapterCalls: [String: UInt64] = [:]
    /// How tests want calls of the adapter to be answered.
    var adapterAnswers = ScriptedAnswers()
    /// Of an adapter without bands that was plugged in beside.
    var foreignAdapterPath: String?
    var saveIsScheduled = false

    public nonisolated var unownedExecutor: UnownedSerialExecutor { bus.unownedExecutor }

    private init(_ options: BusSimulatorOptions, bus: BusConnection, keepers: [BandKeeper]) {
        self.options = options
        self.bus = bus
        devices = keepers.map { SimulatedDevice($0, adapterPath: "/org/bluez/hci0") }
    }

    /// Takes the name `org.bluez` and serves it until `stop`.
    public static func start(_ options: BusSimulatorOptions) async throws -> BusSimulator {
        try await start(options, alsoOn: [])[0]
    }

    /// Takes the name `org.bluez` on several buses, each a host with a BlueZ and an adapter of its own. All of them hear the
    /// same bands, and a band has one link at a time.
    public static func start(
        _ options: BusSimulatorOptions, alsoOn others: [BusAddress]
    ) async throws -> [BusSimulator] {
        let keepers = try BandKeeper.all(options)
        let bus = try await BusConnection.open(options.address)
        var simulators = [BusSimulator(options, bus: bus, keepers: keepers)]
        for (index, address) in others.enumerated() {
            // On the queue of the first, which is the bands'.
            let other = try await BusConnection.open(address, executor: bus.executor)
            simulators.append(
                BusSimulator(options.further(host: index + 1, at: address), bus: other, keepers: keepers))
        }
        for simulator in simulators { try await simulator.serve() }
        return simulators
    }

    private func serve() async throws {
        for device in devices { prepare(device) }
        tree.export("/org/bluez", [BlueZInterfaces.agentManager], signal: false)
        exportAdapter(signal: false)
        for device in devices where !device.isTemporary { exportDevice(device) }
        answerAdapterCalls()
        answerDeviceCalls()
        answerValueCalls()
        answerNotifyCalls()
        answerAgentCalls()
        answerProfileCalls()
        tree.onSet { [weak self] call, interface, name, value in
            guard let self else { return .refuse(BlueZError.notReady) }
            return self.assumeIsolated { $0.set(call, interface, name, value) }
        }
        await bus.serve(tree)
        await bus.setSignalHandler { [weak self] signal in
            self?.assumeIsolated { $0.clientMayBeGone(signal) }
        }
        try await bus.addMatch(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged'")
        guard try await bus.requestName("org.bluez") else {
            throw SimulatorError("org.bluez is taken on this bus: stop bluetoothd or use another bus")
        }
        control = try await SimulatorControl.start(options.address, simulator: self)
        if options.systemd { systemd = try await SimulatedSystemd.start(options.address, simulator: self) }
        writeTruth()
        if let interval = options.recordEvery { measure(every: interval) }
    }

    func prepare(_ device: SimulatedDevice) {
        device.reach = { [weak self] body in self?.assumeIsolated { body($0) } }
    }

    /// Saves the bands and leaves the bus; every link ends.
    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        for device in devices {
            if device.isConnected { linkLost(device, reason: .local) }
            device.keeper.save()
            device.keeper.remove(device)
        }
        writeTruth()
        await control?.stop()
        await systemd?.stop()
        await bus.flush()
        await bus.close()
    }

    // MARK: timers

    /// BlueZ's own delays run faster with the time scale.
    func scaled(_ duration: Duration) -> Duration { duration / options.timeScale }

    /// Runs `body` here after a delay that is not scaled.
    @discardableResult
    func after(
        _ delay: Duration, _ body: @escaping @Sendable (isolated BusSimulator) -> Void
    ) -> DispatchWorkItem {
        let item = DispatchWorkItem { [weak self] in
            self?.assumeIsolated { simulator in
                guard !simulator.isStopped else { return }
                body(simulator)
            }
        }
        let (seconds, attoseconds) = delay.components
        let deadline =
            DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
        bus.executor.queue.asyncAfter(deadline: deadline, execute: item)
        return item
    }

    // MARK: bands

    func device(_ address: BluetoothAddress) -> SimulatedDevice? {
        devices.first { $0.address == address }
    }

    /// The device that a path names or lies below.
    func device(at path: String) -> SimulatedDevice? {
        devices.first { path.hasPrefix($0.path) && $0.isExported }
    }

    /// Answers calls of one method, unless the script has other plans for them.
    func on(
        _ interface: String, _ member: String,
        _ body: @escaping @Sendable (isolated BusSimulator, MethodCall) -> CallOutcome
    ) {
        tree.onCall(interface, member) { [weak self] call in
            guard let self else { return .never }
            return self.assumeIsolated { simulator in
                guard !simulator.isStopped else { return .never }
                // It hears nobody, whatever is asked of it.
                if call.path == simulator.foreignAdapterPath { return .reply([]) }
                guard let device = simulator.device(at: call.path) else {
                    if let outcome = simulator.adapterFault(member) { return outcome }
                    return body(simulator, call)
                }
                if let error = device.answers.take(member) { return .failure(error) }
                if device.strikes(.neverAnswer, method: member) != nil { return .never }
                if device.strikes(.failCall, method: member) != nil { return .failure(BlueZError.att(0x0e)) }
                if interface == BlueZInterfaces.characteristic.name, device.strikes(.vanish) != nil {
                    simulator.removeDevice(device)
                    return .never
                }
                return body(simulator, call)
            }
        }
    }

    /// What the script of the adapter has in mind for this call.
    private func adapterFault(_ member: String) -> CallOutcome? {
        let count = (adapterCalls[member] ?? 0) + 1
        adapterCalls[member] = count
        if let error = adapterAnswers.take(member) { return .failure(error) }
        if options.adapterFaults.strikes(.neverAnswer, count: count, seed: 1, method: member) != nil {
            return .never
        }
        guard options.adapterFaults.strikes(.failCall, count: count, seed: 1, method: member) != nil else {
            return nil
        }
        return .failure(BlueZError.failed("Input/output error"))
    }

    func reply(_ call: UInt64, _ values: [BusValue] = []) { bus.reply(to: call, with: .reply(values)) }
    func fail(_ call: UInt64, _ error: BusError) { bus.reply(to: call, with: .failure(error)) }
}
