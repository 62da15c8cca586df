import BandModel
import BandProfile
import DBus
import Dispatch

/// One band on the air: a GATT application and an advertisement of a real bluetoothd.
///
/// It shares the queue of its bus connection. One central at a time.
public actor RadioSimulator {
    public nonisolated let options: RadioOptions
    nonisolated let bus: BusConnection
    nonisolated let tree = ObjectTree(root: RadioApplication.root)
    nonisolated let adapterPath: String
    let keeper: BandKeeper
    /// The Device1 object of whoever is connected.
    var central: String?
    /// What bluetoothd forwards to the central's subscription.
    var socket: PacketSocket?
    /// The other way: bluetoothd watches the characteristic's Value.
    var isNotifying = false
    /// Live heart rate is subscribed to.
    var isBeating = false
    var pump = StreamPump()
    /// A notification that the full socket did not take.
    var unsent: [UInt8]?
    private var saveIsScheduled = false
    private var isStopped = false

    public nonisolated var unownedExecutor: UnownedSerialExecutor { bus.unownedExecutor }

    private init(_ options: RadioOptions, bus: BusConnection, band: BandSetup) throws(SimulatorError) {
        self.options = options
        self.bus = bus
        adapterPath = "/org/bluez/" + options.adapter
        if let directory = options.stateDirectory { try BandFile.prepare(directory: directory) }
        let log: LineFile? =
            if let path = options.ackLog { try LineFile(path: path, truncate: false) } else { nil }
        keeper = try BandKeeper(band, stateDirectory: options.stateDirectory, ackLog: log)
    }

    /// Advertises until `stop`.
    public static func start(_ options: RadioOptions) async throws -> RadioSimulator {
        let bus = try await BusConnection.open(options.address)
        var band = options.band
        band.address = try await address(of: options.adapter, bus)
        let radio = try RadioSimulator(options, bus: bus, band: band)
        try await radio.serve()
        if let path = options.addressFile {
            try LineFile(path: path, truncate: true).add(band.address.description)
        }
        return radio
    }

    private static func address(of adapter: String, _ bus: BusConnection) async throws -> BluetoothAddress {
        let reply: [BusValue]
        do {
            reply = try await bus.call(
                "org.bluez", path: "/org/bluez/" + adapter, interface: "org.freedesktop.DBus.Properties",
                "Get",
                [.string(BlueZInterfaces.adapter.name), .string("Address")], deadline: .seconds(10))
        } catch {
            throw SimulatorError(
                "\(adapter): bluetoothd does not offer this adapter (\(error)); see bluetoothctl list")
        }
        guard let address = reply.first?.text.flatMap({ BluetoothAddress($0) }) else {
            throw SimulatorError("\(adapter): its address can't be read")
        }
        return address
    }

    private func serve() async throws {
        RadioApplication.export(
            on: tree, name: options.band.name, encrypted: options.requireEncryption,
            acquireNotify: options.acquireNotify)
        answerCalls()
        await bus.serve(tree)
        await bus.setSignalHandler { [weak self] signal in
            self?.assumeIsolated { $0.handle(signal) }
        }
        try await bus.addMatch(
            "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',"
                + "member='PropertiesChanged'")
        try await bus.addMatch(
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'")
        try await register()
        writeTruth()
        if let interval = options.recordEvery { measure(every: interval) }
    }

    /// Everything that bluetoothd forgets when it restarts.
    private func register() async throws {
        try await call(
            "org.freedesktop.DBus.Properties", "Set",
            [.string(BlueZInterfaces.adapter.name), .string("Powered"), .variant(.bool(true))])
        if options.requireEncryption {
            // Somebody has to allow the pairing on this side too: just works.
            _ = try? await bus.call(
                "org.bluez", path: "/org/bluez", interface: BlueZInterfaces.agentManager.name,
                "RegisterAgent",
                [.objectPath("/org/bandferry/agent"), .string("NoInputNoOutput")], deadline: .seconds(10))
        }
        try await call(
            BlueZInterfaces.gattManager.name, "RegisterApplication",
            [.objectPath(RadioApplication.root), .properties([:])])
        try await advertise()
    }

    private func advertise() async throws {
        try await call(
            "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement",
            [.objectPath(RadioApplication.advertisement), .properties([:])])
    }

    /// A call of the adapter.
    private func call(_ interface: String, _ member: String, _ arguments: [BusValue]) async throws {
        do {
            _ = try await bus.call(
                "org.bluez", path: adapterPath, interface: interface, member, arguments,
                deadline: .seconds(30))
        } catch {
            throw SimulatorError("\(options.adapter): \(member) failed: \(error)")
        }
    }

    public func stop() async {
        guard !isStopped else { return }
        isStopped = true
        if let central { await disconnect(central) }
        keeper.save()
        writeTruth()
        await bus.close()
    }

    public var band: SimulatedBand { keeper.band }

    // MARK: the link

    private func handle(_ signal: BusSignal) {
        if signal.member == "NameOwnerChanged" { return ownerChanged(signal) }
        guard signal.path.hasPrefix(adapterPath + "/"),
            signal.arguments.first?.text == BlueZInterfaces.deviceName,
            signal.arguments.count > 1, let isConnected = signal.arguments[1].properties?["Connected"]?.flag
        else { return }
        if isConnected { linkUp(signal.path) } else { linkDown(signal.path) }
    }

    private func ownerChanged(_ signal: BusSignal) {
        if let central { linkDown(central) }
        guard signal.arguments.last?.text?.isEmpty == false else { return }
        registerAgain()
    }

    /// bluetoothd is back, but its adapter may take a while.
    private func registerAgain() {
        Task {
            while !isStopped {
                do { return try await register() } catch { try? await Task.sleep(for: .seconds(1)) }
            }
        }
    }

    func linkUp(_ device: String) {
        guard central == nil else { return }
        central = device
        keeper.band.linkUp(mtu: 23)
        // A bonded central's subscription outlives its links, and so does the socket.
        if socket != nil || isNotifying { keeper.band.enableNotifications(true) }
    }

    private func linkDown(_ device: String) {
        guard central == device else { return }
        central = nil
        keeper.band.linkDown()
        keeper.touch()
        unsent = nil
        saveSoon()
        guard !isStopped else { return }
        Task {
            // Controllers stop advertising when somebody connects; not all kernels start again.
            _ = try? await call(
                "org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement",
                [.objectPath(RadioApplication.advertisement)])
            _ = try? await advertise()
        }
    }

    func disconnect(_ device: String) async {
        _ = try? await bus.call(
            "org.bluez", path: device, interface: BlueZInterfaces.deviceName, "Disconnect",
            deadline: .seconds(10))
    }

    // MARK: measuring and files

    private func measure(every interval: Duration) {
        after(interval) { radio in
            radio.keeper.band.record(1, now: SystemClock.wallMilliseconds)
            radio.saveSoon()
            radio.send()
            radio.measure(every: interval)
        }
    }

    func saveSoon() {
        keeper.saveIfUrgent()
        guard keeper.isDirty, !saveIsScheduled else { return }
        saveIsScheduled = true
        after(.milliseconds(50)) { radio in
            radio.saveIsScheduled = false
            radio.keeper.save()
        }
    }

    private func writeTruth() {
        guard let path = options.truthFile, let file = try? LineFile(path: path, truncate: true) else {
            return
        }
        BandRecords.writeTruth(of: keeper.band, address: keeper.setup.address) { file.add($0) }
    }

    func after(_ delay: Duration, _ body: @escaping @Sendable (isolated RadioSimulator) -> Void) {
        let (seconds, attoseconds) = delay.components
        let deadline =
            DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
        bus.executor.queue.asyncAfter(deadline: deadline) { [weak self] in
            self?.assumeIsolated { radio in
                guard !radio.isStopped else { return }
                body(radio)
            }
        }
    }
}
