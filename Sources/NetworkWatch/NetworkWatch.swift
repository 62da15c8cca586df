import DBus
import Threading
import UploadDecisions

/// Listens to NetworkManager and systemd-networkd, whichever runs, and tells when the network comes. Neither is started, and
/// neither has to be there: without them, or without a bus, nothing is told.
///
/// A connection of its own, which only listens: trouble with it is no trouble for anything else.
public actor NetworkWatch {
    /// Waits of the watch; tests shorten them.
    public struct Timings: Sendable {
        /// Between two tries to reach the bus, doubling.
        public var firstRetry: Duration
        public var longestRetry: Duration
        public var call: Duration

        public init(
            firstRetry: Duration = .seconds(1), longestRetry: Duration = .seconds(60),
            call: Duration = .seconds(10)
        ) {
            self.firstRetry = firstRetry
            self.longestRetry = longestRetry
            self.call = call
        }
    }

    public nonisolated let executor = QueueExecutor(label: "bandferry.network")
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let bus: BusAddress
    private let timings: Timings
    private let changed: @Sendable (NetworkState, _ came: Bool) -> Void
    private var view = NetworkView()
    private var told = NetworkState()
    /// Unique names of the two services; signals of others are not believed.
    private var owners: [NetworkService: String] = [:]
    /// What was there at the start is known.
    private(set) var isWatching = false

    /// - Parameter changed: called on the watch's queue when the state is another, or the network came; must return at once.
    public init(
        bus: BusAddress, timings: Timings = Timings(),
        changed: @escaping @Sendable (NetworkState, _ came: Bool) -> Void
    ) {
        self.bus = bus
        self.timings = timings
        self.changed = changed
    }

    /// Runs until its task is cancelled.
    public func run() async {
        var wait = timings.firstRetry
        while !Task.isCancelled {
            let (losses, loss) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            if let connection = try? await connect(onLoss: { loss.finish() }) {
                wait = timings.firstRetry
                for await _ in losses {}
                await connection.close()
                forgetAll()
            }
            try? await Task.sleep(for: wait)
            wait = min(wait * 2, timings.longestRetry)
        }
    }

    private func connect(onLoss: @escaping @Sendable () -> Void) async throws(BusError) -> BusConnection {
        let connection = try await BusConnection.open(bus, executor: executor, deadline: timings.call)
        do throws(BusError) {
            await connection.setSignalHandler { [weak self, weak connection] signal in
                guard let connection else { return }
                self?.assumeIsolated { $0.received(signal, on: connection) }
            }
            await connection.setDisconnectHandler(onLoss)
            // Subscribed first, read afterwards: nothing falls between.
            for service in NetworkService.allCases {
                try await connection.addMatch(
                    "type='signal',sender='\(service.name)',path='\(service.path)'")
                try await connection.addMatch(
                    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                        + "member='NameOwnerChanged',arg0='\(service.name)'")
            }
            for service in NetworkService.allCases { try await findOwner(of: service, on: connection) }
        } catch {
            await connection.close()
            throw error
        }
        for service in NetworkService.allCases { await read(service, on: connection) }
        view.looked()
        isWatching = true
        return connection
    }

    // MARK: owners

    /// The answer counts where it stands among the signals: a change after it is newer.
    private func findOwner(of service: NetworkService, on connection: BusConnection) async throws(BusError) {
        do throws(BusError) {
            _ = try await connection.call(
                "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
                "GetNameOwner", [.string(service.name)], deadline: timings.call
            ) { [weak self] reply in
                self?.assumeIsolated { $0.owners[service] = reply.first?.text }
            }
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
        }
    }

    private func ownerChanged(of service: NetworkService, to owner: String, on connection: BusConnection) {
        owners[service] = owner.isEmpty ? nil : owner
        apply(service, nil)
        guard !owner.isEmpty else { return }
        Task { await self.read(service, on: connection) }
    }

    private func forgetAll() {
        isWatching = false
        owners = [:]
        for service in NetworkService.allCases { apply(service, nil) }
    }

    // MARK: properties

    /// What it does not answer now, it signals later.
    private func read(_ service: NetworkService, on connection: BusConnection) async {
        guard let owner = owners[service] else { return }
        // To its unique name: who owns the name by now may be another.
        _ = try? await connection.call(
            owner, path: service.path, interface: "org.freedesktop.DBus.Properties", "GetAll",
            [.string(service.interface)], deadline: timings.call
        ) { [weak self] reply in
            guard let properties = reply.first?.properties else { return }
            self?.assumeIsolated { $0.apply(service, properties) }
        }
    }

    private func received(_ signal: BusSignal, on connection: BusConnection) {
        if signal.sender == "org.freedesktop.DBus" {
            guard signal.member == "NameOwnerChanged", signal.arguments.count == 3,
                let service = NetworkService.allCases.first(where: { $0.name == signal.arguments[0].text })
            else { return }
            return ownerChanged(of: service, to: signal.arguments[2].text ?? "", on: connection)
        }
        guard signal.interface == "org.freedesktop.DBus.Properties", signal.member == "PropertiesChanged",
            signal.arguments.count == 3,
            let service = NetworkService.allCases.first(where: {
                $0.path == signal.path && $0.interface == signal.arguments[0].text
            }), let owner = owners[service], signal.sender == owner,
            let properties = signal.arguments[1].properties
        else { return }
        apply(service, properties)
    }

    /// Nil = it is gone.
    private func apply(_ service: NetworkService, _ properties: BusProperties?) {
        let came =
            switch service {
            case .networkManager: view.networkManager(properties.map { .init($0) })
            case .networkd: view.networkd(properties.map { .init($0) })
            }
        guard came || view.state != told else { return }
        told = view.state
        changed(told, came)
    }
}
