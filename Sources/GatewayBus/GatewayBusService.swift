import BandProfile
import DBus
import GatewayModel

/// The gateway on the bus: its objects follow `publish`, its methods call `GatewayCommands`.
///
/// It has a connection of its own and runs on that connection's queue.
public actor GatewayBusService {
    /// What came of asking for the name `org.bandferry`.
    public enum NameOutcome: Equatable, Sendable {
        case owned
        /// Another daemon has it.
        case taken
        /// The bus does not let this user own it: the policy belongs in this file. docs/dbus-api.md.
        case notPermitted(policyFile: String)
        case failed(BusError)
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

    nonisolated let connection: BusConnection
    private nonisolated let tree = ObjectTree(root: "/")
    let commands: any GatewayCommands
    private let clock: any Clock<Duration>
    /// PropertiesChanged at most this often; what changes in between is sent together.
    private let interval: Duration

    private var waiting: GatewayStatus?
    private var isPausing = false
    private var commandsRunning = 0
    var pairings: [BluetoothAddress: PairingTalk] = [:]
    private var scansRunning = 0
    /// More at once are refused; people don't need them, and each holds a reply slot of the bus.
    private static let commandLimit = 16

    private init(
        connection: BusConnection, commands: any GatewayCommands, clock: any Clock<Duration>,
        interval: Duration
    ) {
        self.connection = connection
        self.commands = commands
        self.clock = clock
        self.interval = interval
    }

    /// Connects and exports the objects; nobody finds them before `takeName`.
    public static func open(
        _ address: BusAddress, commands: any GatewayCommands, status: GatewayStatus,
        clock: any Clock<Duration> = ContinuousClock(), interval: Duration = .milliseconds(250)
    ) async throws(BusError) -> GatewayBusService {
        let connection = try await BusConnection.open(address)
        let service = GatewayBusService(
            connection: connection, commands: commands, clock: clock, interval: interval)
        await service.start(status)
        return service
    }

    /// May be called again, for example after a reload of the bus's configuration.
    public func takeName() async -> NameOutcome {
        do throws(BusError) {
            return try await connection.requestName(GatewayBusNames.service) ? .owned : .taken
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.AccessDenied" else { return .failed(error) }
            return .notPermitted(policyFile: GatewayBusNames.policyFile)
        }
    }

    /// Shows a new state; of states that come faster than the interval the newest is shown.
    public func publish(_ status: GatewayStatus) {
        waiting = status
        if !isPausing { flush() }
    }

    /// Called once when the bus drops us; the gateway syncs on without it.
    public func setDisconnectHandler(_ handler: @escaping @Sendable () -> Void) async {
        await connection.setDisconnectHandler(handler)
    }

    /// True while the bus connection lives; part of the watchdog's round trip.
    public var isConnected: Bool { get async { await connection.isConnected } }

    public func close() async {
        await connection.flush()
        await connection.close()
    }

    // MARK: objects

    private func start(_ status: GatewayStatus) async {
        var properties = status.properties
        properties["Scanning"] = .bool(false)
        tree.export(
            GatewayBusNames.gatewayPath, [GatewayInterfaces.gateway],
            properties: [GatewayBusNames.gatewayInterface: properties])
        show(status)
        handle("Scan") { try await $0.scan($1) }
        handle("Adopt") { try await $0.adopt($1) }
        handle("Forget") { try await $0.forget($1) }
        handle("Sync") { try await $0.sync($1) }
        handle("Sync", interface: GatewayBusNames.bandInterface) { try await $0.syncBand($1) }
        servePairing()
        servePeople()
        serveUpload()
        serveReconcile()
        serveReplace()
        await watchClients()
        await connection.serve(tree)
    }

    private func flush() {
        guard let status = waiting else { return }
        waiting = nil
        show(status)
        isPausing = true
        Task { [clock, interval] in
            // Cancelled or not, the pause is over.
            try? await clock.sleep(for: interval, tolerance: nil)
            self.pauseEnded()
        }
    }

    private func pauseEnded() {
        isPausing = false
        flush()
    }

    private func show(_ status: GatewayStatus) {
        update(
            GatewayBusNames.gatewayPath, GatewayInterfaces.gateway, status.properties, keeping: ["Scanning"])
        var paths: Set<String> = [GatewayBusNames.gatewayPath]
        for band in status.bands {
            let path = GatewayBusNames.bandPath(band.address)
            paths.insert(path)
            update(path, GatewayInterfaces.band, band.properties)
        }
        for path in tree.paths where !paths.contains(path) { tree.remove(path) }
    }

    private func update(
        _ path: String, _ interface: InterfaceDescription, _ properties: BusProperties,
        keeping: Set<String> = []
    ) {
        guard let old = tree.properties(path, interface.name) else {
            return tree.export(path, [interface], properties: [interface.name: properties])
        }
        let change = PropertyChange(from: old.filter { !keeping.contains($0.key) }, to: properties)
        guard !change.isEmpty else { return }
        tree.setProperties(path, interface.name, change.changed, invalidated: change.invalidated)
    }

    // MARK: methods

    /// A method runs as a task of its own; its reply follows when it has ended.
    func handle(
        _ member: String, interface: String = GatewayBusNames.gatewayInterface,
        _ body: @escaping @Sendable (isolated GatewayBusService, MethodCall) async throws -> [BusValue]
    ) {
        tree.onCall(interface, member) { [weak self, connection] call in
            Task {
                let outcome = await self?.outcome(of: call, body) ?? .never
                connection.reply(to: call.token, with: outcome)
            }
            return .later
        }
    }

    private func outcome(
        of call: MethodCall,
        _ body: @Sendable (isolated GatewayBusService, MethodCall) async throws -> [BusValue]
    ) async -> CallOutcome {
        guard commandsRunning < Self.commandLimit else {
            let busy = CommandFailure(.inProgress, "too many commands at once; try again when one has ended")
            return .failure(busy.busError)
        }
        commandsRunning += 1
        defer { commandsRunning -= 1 }
        do {
            return .reply(try await body(self, call))
        } catch let failure as CommandFailure {
            return .failure(failure.busError)
        } catch {
            return .failure(CommandFailure(.failed, "\(error)").busError)
        }
    }

    private func scan(_ call: MethodCall) async throws -> [BusValue] {
        guard let seconds = call.arguments.first?.integer, (1...300).contains(seconds) else {
            throw CommandFailure(.invalidArguments, "seconds must be from 1 to 300")
        }
        setScanning(by: 1)
        defer { setScanning(by: -1) }
        let bands = try await commands.scan(seconds: seconds)
        return [.array(element: "a{sv}", bands.map { .properties($0.properties) })]
    }

    private func setScanning(by change: Int) {
        scansRunning += change
        tree.setProperties(
            GatewayBusNames.gatewayPath, GatewayBusNames.gatewayInterface,
            ["Scanning": .bool(scansRunning > 0)])
    }

    private func adopt(_ call: MethodCall) async throws -> [BusValue] {
        let request = try AdoptRequest(
            address: call.arguments.first?.text ?? "", options: call.arguments.last?.properties ?? [:])
        guard request.isInteractive else {
            try await commands.adopt(request, asking: nil)
            return [.objectPath(GatewayBusNames.bandPath(request.address))]
        }
        try await talking(about: request.address, with: call) { [commands] in
            try await commands.adopt(request, asking: $0)
        }
        return [.objectPath(GatewayBusNames.bandPath(request.address))]
    }

    private func forget(_ call: MethodCall) async throws -> [BusValue] {
        try await commands.forget(try Self.address(call.arguments.first?.text ?? ""))
        return []
    }

    private func sync(_ call: MethodCall) async throws -> [BusValue] {
        let text = call.arguments.first?.text ?? ""
        let reports = try await commands.sync(
            text.isEmpty ? nil : try Self.address(text),
            noAck: try Self.noAck(call.arguments.last?.properties ?? [:]))
        return [.array(element: "a{sv}", reports.map { .properties($0.properties) })]
    }

    private func syncBand(_ call: MethodCall) async throws -> [BusValue] {
        guard let address = GatewayBusNames.address(ofPath: call.path) else {
            throw CommandFailure(.notFound, "not a band")
        }
        let reports = try await commands.sync(
            address, noAck: try Self.noAck(call.arguments.first?.properties ?? [:]))
        return [.properties(reports.first?.properties ?? SyncReport(address: address, stored: 0).properties)]
    }

    static func address(_ text: String) throws(CommandFailure) -> BluetoothAddress {
        guard let address = BluetoothAddress(text) else {
            throw CommandFailure(.invalidArguments, "not an address; write it as F0:F1:F2:F3:F4:F5")
        }
        return address
    }

    private static func noAck(_ options: BusProperties) throws(CommandFailure) -> Bool {
        for (key, value) in options {
            guard key == "NoAck", let flag = value.flag else {
                throw CommandFailure(.invalidArguments, "unknown option or wrong type: \(key.prefix(40))")
            }
            return flag
        }
        return false
    }
}
