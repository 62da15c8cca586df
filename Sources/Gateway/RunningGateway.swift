import BandProfile
import BlueZ
import BlueZModel
import DBus
import GatewayBus
import GatewayConfiguration
import GatewayModel
import Locking
import RadioSchedule
import RadioSwitches
import Store
import Systemd
import Timekeeping
import Uplink
import UploadDecisions
import ZoneDatabase

/// Everything that needs the store: the bands, the upload, BlueZ.
actor RunningGateway {
    private let settings: GatewaySettings
    let store: Store
    var zones: ZoneDatabase { settings.zones }
    var bus: BusAddress { settings.bus }
    var log: Log { settings.log }
    var configurationFile: String { settings.configurationFile }
    var configuration: Configuration { settings.configuration }
    var uploadURL: String? { settings.configuration.upload?.url }
    let blueZ: BlueZClient
    let uploader: Uploader?
    let parts: GatewayParts
    private(set) var keepers: [BluetoothAddress: BandKeeper] = [:]
    /// Bands that may pair with this gateway.
    private let adopted = AddressSet()
    /// Bands that a command pairs, adopts or forgets: until that is over and their new keeper stands, nobody else touches them.
    private var inTransition: Set<BluetoothAddress> = []
    /// What is being done of that on the radio.
    var pairingWork: [BluetoothAddress: Task<PairingProgress, any Error>] = [:]
    private var tasks: [Task<Void, Never>] = []
    private let hostWatch: HostClockWatch
    private let owners = DeviceRelay()
    private let acks = DeviceRelay()
    /// What BlueZ's view shows to be wrong.
    private var bluetoothProblem: Problem?
    /// Why there is no view.
    private var bluetoothError: Problem?
    /// Nobody knows yet which bands are to be kept.
    private var bandsProblem: Problem?
    private(set) var isStopping = false

    init(
        settings: GatewaySettings, store: Store, facts: HostClockFacts, meter: GatewayMeter,
        changed: @escaping @Sendable () -> Void
    ) {
        self.settings = settings
        self.store = store
        let configuration = settings.configuration
        blueZ = BlueZClient(bus: settings.bus, adapters: Set(configuration.adapters)) {
            [log = settings.log] text, fields in
            log.info("bluetooth", [("text", .text(text))] + fields.map { ($0.0, .text($0.1)) })
        }
        let hostWatch = HostClockWatch(clock: settings.clock, facts: facts, log: settings.log)
        self.hostWatch = hostWatch
        let relay = ServerStateRelay()
        let (owners, acks) = (owners, acks)
        uploader = configuration.upload.map { upload in
            Uploader(
                settings: Uplink.UploadSettings(upload),
                stateDirectory: configuration.stateDirectory,
                log: { event in
                    UploadLog(log: settings.log).write(event)
                    if case .runFailed(_, _, let cause, _, _) = event { meter.uploadFailed(cause) }
                    if let device = event.mayChangeAcks { acks.give(device) }
                },
                serverState: { device, state in relay.give(device, state) },
                serverDate: { hostWatch.served(date: $0, sent: $1, answered: $2) },
                // A mark that is not taken up now is at the next start.
                storeMarked: { Task { try? await store.takeUpMarks() } },
                ownerChanged: { owners.give($0) },
                storeDamaged: { error in Task { await store.damageWasMet(error) } },
                hostTrust: { hostWatch.stamp().trust },
                hostOffset: { [zones = settings.zones] in zones.hostOffset(at: $0) })
        }
        let resolver = QuestionResolver(store: store, uploader: uploader, log: settings.log, changed: changed)
        relay.connect { device, state in await resolver.apply(state, to: device) }
        let radio = Radio(
            blueZ: blueZ, store: store, clock: settings.clock,
            settings: RadioSettings(
                syncInterval: configuration.syncInterval.milliseconds, maxLinks: configuration.maxLinks),
            mayRestartService: configuration.restartsBluetooth, log: settings.log,
            jitter: { Double.random(in: 0...1) }, changed: changed)
        parts = GatewayParts(
            blueZ: blueZ, radio: radio, store: store,
            ownership: Ownership(store: store, uploader: uploader, hostWatch: hostWatch),
            resolver: resolver, clock: settings.clock, hostWatch: hostWatch, log: settings.log, meter: meter,
            changed: changed, uploadWake: { [uploader] in uploader?.wake() })
    }

    /// Writes the bands of the configuration to the store. Before `start`, and not in `init`: Swift 6.0.3 crashes on
    /// an actor's init that waits.
    func adoptConfigured() async throws {
        try await store.clearConfigured()
        for band in settings.configuration.bands {
            try await store.adopt(
                address: band.address, device: band.device, mode: band.mode, ack: band.ack, name: band.name,
                configured: true)
        }
        // The file may have named bands that were never met.
        try await store.dropEmptyBands()
    }

    func start() async {
        await parts.resolver.start { [weak self] device, _, _ in await self?.acksMayHaveChanged(device) }
        await store.onRevision { [uploader, changed = parts.changed] in
            uploader?.wake()
            changed()
        }
        tasks.append(
            Task { [hostWatch, store, zones = settings.zones, changed = parts.changed] in
                await hostWatch.run(store: store, zoneName: { zones.hostZoneName() }, changed: changed)
            })
        tasks.append(owners.connect { [weak self] device in await self?.ownerChanged(device) })
        tasks.append(acks.connect { [weak self] device in await self?.acksMayHaveChanged(device) })
        tasks.append(Task { [upkeep = StoreUpkeep(store: store, log: settings.log)] in await upkeep.run() })
        uploader?.start()
        if let uploader { tasks.append(watchNetwork(for: uploader)) }
        tasks.append(Task { await follow(blueZ.events) })
        // What can't be reached yet is tried again by itself.
        if await !connectBlueZ() { tasks.append(Task { await reconnect() }) }
        await parts.radio.start()
        if settings.configuration.adoptsAny { tasks.append(Task { await takeInAny() }) }
        if await !keepAdopted() { tasks.append(Task { await keepAdoptedLater() }) }
    }

    /// False: which they are could not be read.
    private func keepAdopted() async -> Bool {
        do {
            for band in try await store.adoptedBands() where !inTransition.contains(band.address) {
                keep(band)
            }
            bandsProblem = nil
        } catch {
            if bandsProblem == nil {
                settings.log.error("the adopted bands could not be read", [("error", .error(error))])
            }
            bandsProblem = Problem.unexpected(error)
        }
        parts.changed()
        return bandsProblem == nil
    }

    private func keepAdoptedLater() async {
        while !isStopping, !Task.isCancelled {
            try? await Task.sleep(for: .seconds(5))
            guard !isStopping else { return }
            if await keepAdopted() { return }
        }
    }

    /// Calls to a bluetoothd that hangs wait for their deadlines one after another. After so long its connection is closed, which
    /// ends them all: systemd kills what has not ended after `TimeoutStopSec=30`.
    private static let patienceWithBands = Duration.seconds(12)

    /// Bands are disconnected, nothing is half done.
    func stop() async {
        isStopping = true
        await parts.radio.beginNothingMore()
        for work in pairingWork.values { work.cancel() }
        let areCalm = OneShot<Void>()
        let bands = Task { [keepers, radio = parts.radio] in
            await withTaskGroup(of: Void.self) { group in
                for keeper in keepers.values { group.addTask { await keeper.stop() } }
                group.addTask { await radio.stop() }
            }
            areCalm.set(())
        }
        await areCalm.value(within: Self.patienceWithBands, else: ())
        for task in tasks { task.cancel() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [resolver = parts.resolver] in await resolver.stop() }
            group.addTask { [uploader] in _ = await uploader?.stop(deadline: .seconds(5)) }
            group.addTask { [blueZ] in await blueZ.stop() }
        }
        await bands.value
        do { try await store.close() } catch {
            settings.log.warning("the database was not closed cleanly", [("error", .error(error))])
        }
    }

    // MARK: BlueZ

    /// False: the bus can't be used, and nobody will tell when it can.
    private func connectBlueZ() async -> Bool {
        do {
            try await blueZ.start()
            bluetoothError = nil
        } catch {
            bluetoothError = error.problem
            settings.log.error("Bluetooth can't be reached", [("error", .error(error))])
            parts.changed()
            // A bluetoothd that hangs is asked again by the client, which tells when it is back.
            guard error.kind == .deadline else { return false }
        }
        do {
            try await blueZ.registerAgent { [adopted] in adopted.contains($0) }
        } catch {
            settings.log.warning("the pairing agent was not registered", [("error", .error(error))])
        }
        await lookAtBluetooth()
        return true
    }

    private func lookAtBluetooth() async {
        let failure: BlueZFailure?
        let adapters = await blueZ.usableAdapters()
        if await !blueZ.isServiceRunning {
            failure = BlueZFailure(kind: .serviceGone, during: .start)
        } else if !adapters.contains(where: \.powered) {
            let isBlocked = !adapters.isEmpty && RadioSwitches.blockBluetooth()
            failure = BlueZFailure(kind: isBlocked ? .blocked : .notReady, during: .start)
        } else {
            failure = nil
        }
        bluetoothProblem = failure?.problem
        if failure == nil { bluetoothError = nil }
        parts.changed()
    }

    private func follow(_ events: AsyncStream<BlueZEvent>) async {
        for await event in events {
            switch event {
            case .deviceSeen(let device):
                parts.radio.wake()
                await keepers[device.address]?.changedAtBlueZ()
                await takeIn(device)
            case .adaptersChanged, .bluetoothdGone, .bluetoothdBack:
                if event == .bluetoothdBack { bluetoothError = nil }
                parts.radio.wake()
                await lookAtBluetooth()
            case .linkLost:
                // Each session is told of its own link.
                parts.radio.wake()
            case .deviceGone(let address):
                parts.radio.wake()
                await keepers[address]?.changedAtBlueZ()
            case .bluetoothdSilent:
                bluetoothError = BlueZFailure(kind: .deadline, during: .start).problem
                parts.changed()
                await parts.radio.serviceIsSilent()
            case .busLost:
                parts.radio.wake()
                await reconnect()
            }
        }
    }

    /// The bus itself went away; systemd starts it again.
    private func reconnect() async {
        while !isStopping, !Task.isCancelled {
            if await connectBlueZ() { return parts.radio.wake() }
            try? await Task.sleep(for: .seconds(3))
        }
    }

    // MARK: bands

    func keep(_ band: AdoptedBand) {
        guard !isStopping, keepers[band.address] == nil else { return }
        adopted.insert(band.address)
        let keeper = BandKeeper(band: band, parts: parts)
        keepers[band.address] = keeper
        Task { await keeper.start() }
        parts.changed()
    }

    /// `adopt = any`: observed only, because an ack would take the data from whoever owns the band.
    private func takeIn(_ device: DeviceSnapshot) async {
        let address = device.address
        guard settings.configuration.adoptsAny, device.isBand, keepers[address] == nil,
            !inTransition.contains(address)
        else { return }
        do {
            try await store.takeIn(address: address, device: DeviceID(address), name: device.name)
            let bands = try await store.adoptedBands()
            // A command may have begun meanwhile: it keeps the band as it wants it.
            guard !inTransition.contains(address) else { return }
            for band in bands where band.address == address { keep(band) }
        } catch {
            settings.log.warning("a band could not be taken in", [("error", .error(error))])
        }
    }

    private func takeInAny() async {
        while !Task.isCancelled {
            try? await parts.radio.listen(for: .seconds(10))
            try? await Task.sleep(for: settings.configuration.syncInterval)
        }
    }

    private func acksMayHaveChanged(_ device: DeviceID) async {
        for keeper in keepers.values where keeper.band.device == device { await keeper.acksMayHaveChanged() }
    }

    private func ownerChanged(_ device: DeviceID) async {
        for keeper in keepers.values where keeper.band.device == device { await keeper.ownerChanged() }
        parts.changed()
    }

    // MARK: commands

    func scan(seconds: Int) async throws -> [SeenBand] {
        do {
            try await parts.radio.listen(for: .seconds(max(1, min(seconds, 300))))
        } catch {
            throw CommandFailure(.notReady, "\(error.problem.text) \(error.problem.remedy)")
        }
        return await blueZ.devices().filter { $0.isBand || keepers[$0.address] != nil }.map { device in
            SeenBand(
                address: device.address, name: device.name, rssi: device.rssi,
                mode: keepers[device.address]?.band.mode)
        }
    }

    func adopt(_ request: AdoptRequest, asking person: (any PairingPerson)?) async throws {
        if let band = settings.configuration.band(request.address) {
            throw CommandFailure(
                .inConfiguration,
                "\(band.address) is in \(settings.configurationFile), line \(band.lines.first ?? 0): change its mode there"
            )
        }
        if request.ack == .upload {
            guard request.mode == .own else {
                throw CommandFailure(
                    .invalidArguments, "a band that is observed is never acked; leave 'upload' out")
            }
            guard uploader != nil else {
                throw CommandFailure(
                    .invalidArguments,
                    "no server is configured that could confirm anything: the band would fill up; write [upload] in "
                        + "\(settings.configurationFile) first")
            }
        }
        let device = request.device ?? DeviceID(request.address)
        // Two bands under one id would be mixed up for good.
        if let other = keepers.values.first(where: { $0.band.device == device })?.band.address,
            other != request.address
        {
            throw CommandFailure(
                .taken,
                "\(device) is the id of \(other); choose another, or forget that band first")
        }
        let bands = try await storing { try await store.bandStatuses() }
        if let name = request.name, let other = bands.owner(ofName: name, besides: request.address) {
            throw CommandFailure(.taken, "'\(name)' is the name of \(other.address); choose another")
        }
        try await changing(request.address) {
            if let person { try await pairToAdopt(request.address, asking: person) }
            do {
                try await store.adopt(
                    address: request.address, device: device, mode: request.mode, ack: request.ack,
                    name: request.name, configured: false)
                try await keepAnew(request.address)
            } catch {
                throw CommandFailure(.failed, "\(error)")
            }
        }
    }

    /// One command at a time changes a band: keepers know the radio by address, and a late stop of an old one would take the
    /// new one's turns away.
    func changing(_ address: BluetoothAddress, _ body: () async throws -> Void) async throws {
        guard inTransition.insert(address).inserted else {
            throw CommandFailure(
                .inProgress,
                "\(address) is being paired, adopted or forgotten already; try again when that is over")
        }
        defer { inTransition.remove(address) }
        try await body()
    }

    /// True if it was kept. The band's link is free then.
    func stopKeeping(_ address: BluetoothAddress) async -> Bool {
        guard let keeper = keepers.removeValue(forKey: address) else { return false }
        await keeper.stop()
        return true
    }

    /// As the store says now. Where that can't be read, it is kept as it was.
    func keepAnew(_ address: BluetoothAddress) async throws {
        let bands = try await store.adoptedBands()
        _ = await stopKeeping(address)
        for band in bands where band.address == address { keep(band) }
    }

    func forget(_ address: BluetoothAddress) async throws {
        if let band = settings.configuration.band(address) {
            throw CommandFailure(
                .inConfiguration,
                "\(address) is in \(settings.configurationFile): \(band.removal); then restart the daemon"
            )
        }
        try await changing(address) { try await forgetNow(address) }
    }

    private func forgetNow(_ address: BluetoothAddress) async throws {
        guard let keeper = keepers.removeValue(forKey: address) else {
            throw CommandFailure(
                .notFound, "\(address) is not adopted here; `bandferry bands` lists those that are")
        }
        do { try await store.forget(address) } catch {
            keepers[address] = keeper
            throw CommandFailure(.failed, "\(error)")
        }
        adopted.remove(address)
        await keeper.stop()
        // Bond, trust and cache go too; that BlueZ does not know the device is no failure.
        do { try await blueZ.remove(address) } catch {
            settings.log.warning(
                "BlueZ still has the bond of a band that was forgotten: run `bluetoothctl remove` with its address",
                [("device", .text(keeper.band.device.text)), ("error", .error(error))])
        }
        // Its keeper wrote the last of it. What can't be deleted now goes at the next start.
        _ = try? await store.dropEmptyBands()
        parts.changed()
    }

    func wall() -> Timestamp { settings.clock.wall() }

    /// Something that is shown and uploaded is not as it was.
    func haveChanged() {
        parts.changed()
        parts.uploadWake()
    }

    // MARK: what is shown

    nonisolated var radioCounters: RadioCounters { parts.radio.board.withLock(\.counters) }

    func fill(_ status: inout GatewayStatus) async {
        if let problem = bandsProblem { status.problems.append(problem) }
        if let problem = bluetoothError ?? bluetoothProblem { status.problems.append(problem) }
        if let problem = parts.radio.board.withLock(\.problem) { status.problems.append(problem) }
        if let problem = Problem.hostClock(hostWatch.stamp().trust) { status.problems.append(problem) }
        if let snapshot = uploader?.snapshot {
            status.lastUpload = snapshot.lastSuccess
            status.reconciling = uploader?.reconciling
            status.problems += [snapshot.problem, snapshot.leaseProblem].compactMap { $0 }
        }
        if let shortage = await store.shortage() { status.problems.append(shortage.problem) }
        do {
            if let salvaged = try await store.gatewayProblem(), isRecent(salvaged) {
                status.problems.append(salvaged)
            }
            let record = try await store.uploadRecord()
            status.lastUpload = status.lastUpload ?? record.lastSuccess
            if let pause = record.pause, !pause.isOver(at: wall()) { status.problems.append(pause.problem) }
            status.bands = try await store.bandStatuses().map(withLive)
        } catch {
            status.problems.append(error.problem)
        }
    }

    /// Something that happened, and is no state that ends: it is shown for a week.
    private func isRecent(_ problem: Problem) -> Bool {
        guard let since = problem.since else { return true }
        return wall().milliseconds - since.milliseconds < 7 * 86_400_000
    }

    private func withLive(_ stored: BandStatus) -> BandStatus {
        var band = stored
        if uploader != nil, band.adopted, band.mode == .own { band.lease = band.lease ?? .unanswered }
        guard let live = keepers[stored.address]?.live.value else { return band }
        band.connected = live.connected
        band.syncing = live.syncing
        band.mtu = live.mtu ?? stored.mtu
        band.ring = live.ring ?? stored.ring
        band.nextSeq = live.nextSeq ?? stored.nextSeq
        band.newestSeq = live.newestSeq ?? stored.newestSeq
        band.problem = live.problem ?? stored.problem
        return band
    }

    /// Returns when the bus connection, the store's queue and every keeper have answered. The upload is left out:
    /// each of its requests has a deadline, and a slow server is no reason to restart the daemon.
    func roundTrip() async {
        await blueZ.roundTrip()
        await parts.radio.roundTrip()
        // An error is an answer too: a full disk must not look like a hang.
        _ = try? await store.checkHealth()
        for keeper in keepers.values { await keeper.roundTrip() }
    }

    /// True when the database broke while it was open: it has to be opened again, or restored first.
    func hasLostStore() async -> Bool {
        do throws(StoreError) {
            try await store.checkHealth()
            return false
        } catch {
            return [.corrupt, .closed, .moved].contains(error.kind)
        }
    }
}
