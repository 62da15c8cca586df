import BandProfile
import DBus
import GatewayBus
import GatewayConfiguration
import GatewayModel
import Locking
import RadioSchedule
import Store
import Systemd
import Timekeeping
import ZoneDatabase

/// The gateway as a whole: opens the store, runs what needs it, shows its status, answers commands, stops cleanly.
///
/// While the store can't be opened it stays up, says so, and touches no band.
public actor GatewayDaemon {
    let settings: GatewaySettings
    let meter = GatewayMeter()
    private let lock: StateDirectoryLock
    private let changes = WakeGate()
    private let stopGate = WakeGate()
    private var isStopping = false
    private let opener = StoreOpener()
    private var running: RunningGateway?
    /// It is being stopped because its database broke.
    private var ending: RunningGateway?
    private var busService: GatewayBusService?
    /// Of the gateway as such; bands and upload have their own.
    private var storeProblem: Problem?
    private var busProblem: Problem?

    /// Throws when another daemon has the state directory, or it can't be used.
    public init(settings: GatewaySettings) throws {
        self.settings = settings
        lock = try StateDirectoryLock.acquire(directory: settings.configuration.stateDirectory)
    }

    /// Returns after `stop`, with everything ended.
    public func run() async {
        let publishing = Task { await publishChanges() }
        await openBusService()
        let onBus = Task { await keepOnBus() }
        let metrics = openMetrics()
        let watchdog = Task { await keepWatchdog() }
        await startFirst()
        while !isStopping {
            await keepStoreOpen()
            await stopGate.wait(atMost: .seconds(5))
        }
        ServiceManager.stopping(status: "Stopping")
        await running?.stop()
        watchdog.cancel()
        publishing.cancel()
        onBus.cancel()
        await metrics?.stop(within: .seconds(1))
        await busService?.close()
        settings.log.notice("stopped")
    }

    public func stop() {
        isStopping = true
        stopGate.signal()
    }

    // MARK: the store

    /// The service has started when the store is open, or shown not to open, or a check or salvage of it takes long:
    /// systemd would give up waiting and start anew what has to be finished.
    private func startFirst() async {
        let announced = Guarded(false)
        @Sendable func announce(_ status: String) {
            let isFirst = announced.withLock { known in
                defer { known = true }
                return !known
            }
            if isFirst { ServiceManager.ready(status: status) }
        }
        let waiting = Task {
            guard (try? await Task.sleep(for: .seconds(20))) != nil else { return }
            announce("Looking at the database")
        }
        await keepStoreOpen()
        waiting.cancel()
        announce("Running")
    }

    /// Opens it, or opens it again after it broke; what can't be opened now is tried again at the next call.
    private func keepStoreOpen() async {
        if let running {
            guard await running.hasLostStore() else { return }
            self.running = nil
            ending = running
            await running.stop()
            meter.radioEnded(running.radioCounters)
            ending = nil
        }
        do {
            let store = try await opener.open(settings)
            if let salvage = store.salvage { report(salvage) }
            let running = RunningGateway(
                settings: settings, store: store, facts: try await hostClockFacts(store), meter: meter
            ) { [changes] in changes.signal() }
            try await running.adoptConfigured()
            self.running = running
            storeProblem = nil
            await running.start()
        } catch {
            let problem = Problem.unexpected(error)
            if storeProblem?.code != problem.code {
                settings.log.error(
                    "the database can't be opened: no band is synced", [("error", .error(error))])
            }
            storeProblem = problem
        }
        changes.signal()
    }

    private func report(_ salvage: SalvageReport) {
        settings.log.error(
            "the database was damaged: what could be read of it was brought over into a new one",
            [
                ("samples", .count(salvage.samples)), ("lost", .count(salvage.lostSamples)),
                ("orphans", .count(salvage.orphans)),
                ("tables", .text(salvage.damagedTables.joined(separator: " "))),
                ("kept_as", .text(salvage.keptAs)),
            ])
    }

    private func hostClockFacts(_ store: Store) async throws -> HostClockFacts {
        HostClockFacts(
            notBefore: max(try await store.latestTrustedTime() ?? Bandferry.written, Bandferry.written),
            hasBatteryClock: settings.clock.hasBatteryClock,
            isVouchedFor: settings.configuration.trustsHostClock)
    }

    // MARK: org.bandferry

    /// A bus that was too slow or was restarted, a name that another daemon had, a policy that was not there yet: each may be over.
    private func keepOnBus() async {
        while true {
            try? await Task.sleep(for: .seconds(5))
            guard !Task.isCancelled, !isStopping else { return }
            await openBusService()
        }
    }

    /// Does nothing where the name is owned.
    private func openBusService() async {
        let before = busProblem
        if let service = busService, await service.isConnected {
            guard before != nil else { return }
            busProblem = problem(of: await service.takeName())
        } else {
            await busService?.close()
            busService = nil
            do {
                let service = try await GatewayBusService.open(
                    settings.bus, commands: self, status: await status())
                // Nobody would close it.
                guard !isStopping else { return await service.close() }
                busService = service
                busProblem = problem(of: await service.takeName())
            } catch {
                busProblem = .busUnavailable(error)
            }
        }
        guard busProblem != before else { return }
        changes.signal()
        if let busProblem {
            settings.log.warning(
                "the command line can't reach this daemon over the bus",
                [("reason", .text(busProblem.text)), ("remedy", .text(busProblem.remedy))])
        } else {
            settings.log.notice("the command line can reach this daemon over the bus again")
        }
    }

    private func problem(of outcome: GatewayBusService.NameOutcome) -> Problem? {
        switch outcome {
        case .owned: nil
        case .taken: .busNameTaken
        case .notPermitted(let file): .busPolicyMissing(file)
        case .failed(let error): .busUnavailable(error)
        }
    }

    private func publishChanges() async {
        var gate = StatusLineGate()
        while !Task.isCancelled {
            await changes.wait(atMost: .seconds(5))
            guard !Task.isCancelled else { return }
            let status = await status()
            await busService?.publish(status)
            let line = StatusLine.text(status, now: settings.clock.wall())
            // Not over "Stopping".
            if !isStopping, let line = gate.take(line, now: settings.clock.monotonic().milliseconds) {
                ServiceManager.status(line)
            }
            // Whatever came meanwhile goes out together.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    func status() async -> GatewayStatus {
        var status = GatewayStatus(
            version: settings.version, stateDirectory: settings.configuration.stateDirectory, running: true)
        status.uploadURL = settings.configuration.upload?.url
        status.problems = [storeProblem, busProblem].compactMap { $0 }
        await running?.fill(&status)
        return status
    }

    /// Since the start; nil until the store was opened once.
    func radioCounters() -> RadioCounters? { meter.radio((running ?? ending)?.radioCounters) }

    // MARK: the watchdog

    /// Pings only after a round trip through every part that must be alive. sd_watchdog_enabled(3).
    private func keepWatchdog() async {
        guard let interval = ServiceManager.watchdogInterval else { return }
        while !Task.isCancelled {
            await running?.roundTrip()
            guard !Task.isCancelled else { return }
            ServiceManager.watchdog()
            try? await Task.sleep(for: interval / 3)
        }
    }
}

/// Everything that a daemon is started with.
public struct GatewaySettings: Sendable {
    public var configuration: Configuration
    public var configurationFile: String
    public var bus: BusAddress
    public var version: String
    public var log: Log
    public var clock: HostClock
    public var zones = ZoneDatabase()

    public init(
        configuration: Configuration, configurationFile: String, bus: BusAddress = .system, version: String,
        log: Log, clock: HostClock = .system()
    ) {
        self.configuration = configuration
        self.configurationFile = configurationFile
        self.bus = bus
        self.version = version
        self.log = log
        self.clock = clock
    }
}

// MARK: commands

extension GatewayDaemon: GatewayCommands {
    func ready() async throws -> RunningGateway {
        // The name is on the bus before the database is open: a command that comes in between waits for it.
        for _ in 0..<100 where running == nil && storeProblem == nil && !isStopping {
            try? await Task.sleep(for: .milliseconds(100))
        }
        guard let running else {
            let problem = storeProblem ?? (isStopping ? .stopping : .storeOpening)
            throw CommandFailure(.notReady, "\(problem.text) \(problem.remedy)")
        }
        return running
    }

    public func scan(seconds: Int) async throws -> [SeenBand] { try await ready().scan(seconds: seconds) }

    public func adopt(_ request: AdoptRequest, asking person: (any PairingPerson)?) async throws {
        try await ready().adopt(request, asking: person)
    }

    public func pair(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        try await ready().pairAgain(address, asking: person)
    }

    public func forget(_ address: BluetoothAddress) async throws { try await ready().forget(address) }

    public func sync(_ address: BluetoothAddress?, noAck: Bool) async throws -> [SyncReport] {
        try await ready().sync(address, noAck: noAck)
    }
}
