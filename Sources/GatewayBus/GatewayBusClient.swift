import BandProfile
import DBus
import GatewayModel
import Locking

/// Why the daemon did not do what was asked over the bus.
public enum GatewayBusFailure: Error, Equatable, Sendable {
    /// Not even the bus can be reached.
    case noBus(String)
    /// Nobody owns `org.bandferry`: no daemon, or one without the bus policy.
    case notRunning
    /// The bus does not let this user talk to the daemon.
    case notPermitted
    case command(CommandFailure)
    /// No answer, or one that makes no sense.
    case broken(BusError)
}

/// The daemon as a program on the same bus sees it.
public final class GatewayBusClient: Sendable {
    let connection: BusConnection
    /// Where `pairingNews` go.
    let news = Guarded<AsyncStream<PairingNews>.Continuation?>(nil)

    private init(connection: BusConnection) { self.connection = connection }

    /// Connects and makes sure that a daemon is there.
    public static func connect(_ address: BusAddress = .system) async throws(GatewayBusFailure)
        -> GatewayBusClient
    {
        let connection: BusConnection
        do throws(BusError) {
            connection = try await BusConnection.open(address)
        } catch {
            throw .noBus(error.message)
        }
        do throws(BusError) {
            if try await connection.owner(of: GatewayBusNames.service) != nil {
                return GatewayBusClient(connection: connection)
            }
        } catch {
            throw .broken(error)
        }
        await connection.close()
        throw .notRunning
    }

    /// Ends `pairingNews` after what came before.
    public func close() async {
        await connection.close()
        news.withLock { $0 }?.finish()
    }

    public func status(within deadline: Duration = .seconds(20)) async throws(GatewayBusFailure)
        -> GatewayStatus
    {
        let objects = try await managedObjects(within: deadline)
        guard let gateway = objects[GatewayBusNames.gatewayPath]?[GatewayBusNames.gatewayInterface] else {
            throw .broken(
                BusError(name: "org.bandferry.Error.Failed", message: "the daemon shows no gateway"))
        }
        let bands = objects.values.compactMap { $0[GatewayBusNames.bandInterface].flatMap { BandStatus($0) } }
        return GatewayStatus(gateway, bands: bands.sorted { $0.address < $1.address })
    }

    public func scan(seconds: Int) async throws(GatewayBusFailure) -> [SeenBand] {
        let reply = try await call(
            "Scan", [.uint32(UInt32(clamping: seconds))], deadline: .seconds(seconds + 60))
        return reply.first?.elements?.compactMap(\.properties).compactMap { SeenBand($0) } ?? []
    }

    public func adopt(_ request: AdoptRequest) async throws(GatewayBusFailure) {
        let options = BusValue.properties(request.options)
        _ = try await call("Adopt", [.string(request.address.description), options], deadline: .seconds(60))
    }

    public func forget(_ address: BluetoothAddress) async throws(GatewayBusFailure) {
        _ = try await call("Forget", [.string(address.description)], deadline: .seconds(60))
    }

    /// Nil = every band. Returns when it has ended: a whole history of many bands may take hours.
    public func sync(_ address: BluetoothAddress?, noAck: Bool) async throws(GatewayBusFailure)
        -> [SyncReport]
    {
        let options: BusProperties = noAck ? ["NoAck": .bool(true)] : [:]
        let reply = try await call(
            "Sync", [.string(address?.description ?? ""), .properties(options)], deadline: .seconds(12 * 3600)
        )
        return reply.first?.elements?.compactMap(\.properties).compactMap { SyncReport($0) } ?? []
    }

    /// Every change of a band, from now on. When the reader is slow, old states are dropped: the newest counts.
    public func bandChanges() async throws(GatewayBusFailure) -> AsyncStream<BandStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: BandStatus.self, bufferingPolicy: .bufferingNewest(64))
        let follower = BandFollower()
        await connection.setSignalHandler { signal in
            if let band = follower.take(signal) { continuation.yield(band) }
        }
        await connection.setDisconnectHandler { continuation.finish() }
        do throws(BusError) {
            try await connection.addMatch("type='signal',sender='\(GatewayBusNames.service)'")
        } catch {
            throw Self.failure(error)
        }
        // Subscribed first, then read: no change is missed.
        for (path, interfaces) in try await managedObjects() {
            guard let properties = interfaces[GatewayBusNames.bandInterface] else { continue }
            if let band = follower.learn(path, properties) { continuation.yield(band) }
        }
        return stream
    }

    private func managedObjects(within deadline: Duration = .seconds(20)) async throws(GatewayBusFailure)
        -> [String: [String: BusProperties]]
    {
        let reply = try await call(
            "GetManagedObjects", [], path: "/", interface: "org.freedesktop.DBus.ObjectManager",
            deadline: deadline)
        var result: [String: [String: BusProperties]] = [:]
        for entry in reply.first?.entries ?? [] {
            guard let path = entry.key.text else { continue }
            for interface in entry.value.entries ?? [] {
                guard let name = interface.key.text, let properties = interface.value.properties else {
                    continue
                }
                result[path, default: [:]][name] = properties
            }
        }
        return result
    }

    func call(
        _ member: String, _ arguments: [BusValue], path: String = GatewayBusNames.gatewayPath,
        interface: String = GatewayBusNames.gatewayInterface, deadline: Duration
    ) async throws(GatewayBusFailure) -> [BusValue] {
        do throws(BusError) {
            return try await connection.call(
                GatewayBusNames.service, path: path, interface: interface, member, arguments,
                deadline: deadline)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: BusError) -> GatewayBusFailure {
        if let failure = CommandFailure(error) { return .command(failure) }
        return switch error.name {
        case "org.freedesktop.DBus.Error.AccessDenied": .notPermitted
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            .notRunning
        default: .broken(error)
        }
    }
}
