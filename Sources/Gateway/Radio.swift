import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import HistorySync
import Locking
import RadioSchedule
import Store
import Systemd

/// Owns the radio: discovery, connection attempts and slots of all adapters, and what is done when one misbehaves.
///
/// `RadioSchedule` and `RecoveryLadder` decide; this performs what they say, each adapter's discovery in order.
actor Radio {
    let blueZ: BlueZClient
    let clock: HostClock
    let log: Log
    private let store: Store
    let mayRestartService: Bool
    private let jitter: @Sendable () -> Double
    /// Something that `status` shows has changed.
    let changed: @Sendable () -> Void

    var schedule: RadioSchedule
    var ladders: [BluetoothAddress: RecoveryLadder] = [:]
    /// Of bluetoothd as a whole, where no adapter is concerned.
    var serviceLadder = RecoveryLadder()
    var restartProblem: Problem?
    private var members: [BluetoothAddress: RadioMember] = [:]
    private var turns: [BluetoothAddress: Task<Void, Never>] = [:]
    /// The last thing that was asked of each adapter's discovery.
    private var discoveries: [BluetoothAddress: Task<Void, Never>] = [:]
    /// Since when discovery is said to run.
    private var scanningSince: [BluetoothAddress: MonotonicTime] = [:]
    private var lastScanFailure: (failure: BlueZFailure, at: MonotonicTime)?
    private var loop: Task<Void, Never>?
    private var isStopping = false
    private nonisolated let gate = WakeGate()
    nonisolated let board = Guarded(RadioBoard())

    /// Discovery that was started and is not seen for so long does not run, ms.
    private static let unseenScan: Int64 = 3_000

    init(
        blueZ: BlueZClient, store: Store, clock: HostClock, settings: RadioSettings, mayRestartService: Bool,
        log: Log, jitter: @escaping @Sendable () -> Double, changed: @escaping @Sendable () -> Void
    ) {
        self.blueZ = blueZ
        self.store = store
        self.clock = clock
        schedule = RadioSchedule(settings: settings)
        self.mayRestartService = mayRestartService
        self.log = log
        self.jitter = jitter
        self.changed = changed
    }

    func start() {
        guard loop == nil else { return }
        loop = Task { await run() }
    }

    /// Starts nothing new. Turns that run are ended by whoever has them.
    func stop() async {
        isStopping = true
        gate.signal()
        await loop?.value
        report()
        for task in turns.values { await task.value }
    }

    /// Something changed at BlueZ: it is looked at soon.
    nonisolated func wake() { gate.signal() }

    /// Answers when this is not stuck.
    func roundTrip() {}

    // MARK: bands

    /// From now on the band has its turns. The pause of an earlier run goes on, and it is left alone while it rests.
    /// `looking`: it is looked for all the same, so that it is known when it is away.
    func keep(
        _ band: BluetoothAddress, resting: Duration = .zero, looking: Bool = false, _ member: RadioMember
    ) async {
        var pause = BandPause()
        var left: Int64 = 0
        if let stored = try? await store.pause(of: member.device) {
            pause = BandPause(failures: stored.failures, pause: stored.milliseconds)
            left = pause.left(sinceFailure: clock.wall().milliseconds - stored.failedAt.milliseconds)
        }
        guard !isStopping else { return }
        members[band] = member
        handle(
            .kept(band, pause, left: left, rest: resting.milliseconds, isLookedForAtRest: looking))
        gate.signal()
    }

    /// Returns when its last turn is over.
    func drop(_ band: BluetoothAddress) async {
        members[band] = nil
        handle(.dropped(band))
        await turns[band]?.value
    }

    /// Somebody waits for it.
    func ask(for band: BluetoothAddress) async {
        await look()
        handle(.asked(band))
        gate.signal()
    }

    /// It is worth while to sync it now.
    func isDue(_ band: BluetoothAddress) {
        handle(.due(band))
        gate.signal()
    }

    /// It need not be left alone any more.
    func endRest(of band: BluetoothAddress) {
        handle(.restEnded(band))
        gate.signal()
    }

    /// Discovers for so long; what was heard is in the client's view then.
    func listen(for limit: Duration) async throws(BlueZFailure) {
        await look()
        guard schedule.hasUsableAdapter else { throw await noAdapter() }
        let started = clock.monotonic()
        handle(.listen(limit.milliseconds))
        gate.signal()
        while !isStopping, !Task.isCancelled {
            let passed = clock.monotonic().milliseconds - started.milliseconds
            guard passed < limit.milliseconds else { return }
            if let last = lastScanFailure, last.at >= started, !schedule.isScanning { throw last.failure }
            try? await Task.sleep(for: .milliseconds(min(500, limit.milliseconds - passed)))
        }
    }

    // MARK: the loop

    private func run() async {
        while !isStopping {
            await look()
            let now = clock.monotonic()
            let most: Int64 = schedule.isScanning ? 1_000 : 30_000
            let due = schedule.deadline(after: now).map { $0.milliseconds - now.milliseconds } ?? most
            await gate.wait(atMost: .milliseconds(max(1, min(due, most))))
        }
    }

    /// Takes what BlueZ shows, and does what follows from it and from the time.
    private func look() async {
        let snapshot = await blueZ.radio(of: Set(members.keys))
        let now = clock.monotonic()
        let view = RadioView(
            adapters: snapshot.adapters.map {
                .init(
                    address: $0.adapter.address, isPowered: $0.adapter.powered,
                    isDiscovering: $0.adapter.discovering, connected: $0.connected)
            },
            sightings: snapshot.sightings.map {
                .init(
                    band: $0.band, adapter: $0.adapter, rssi: $0.rssi, at: now + -$0.ago.milliseconds)
            })
        handle(.seen(view))
        for adapter in view.adapters where adapter.isPowered {
            // Seen once, it runs: BlueZ pauses it now and then.
            if adapter.isDiscovering { scanningSince[adapter.address] = nil }
            guard let since = scanningSince[adapter.address], since + Self.unseenScan <= now else { continue }
            scanningSince[adapter.address] = nil
            scanFailed(
                adapter.address,
                BlueZFailure(
                    kind: .inProgress, during: .discover, text: "discovery is said to run and does not"))
        }
        publish()
    }

    private func handle(_ event: RadioEvent) {
        guard !isStopping || event.endsSomething else { return }
        for action in schedule.handle(event, at: clock.monotonic()) where !isStopping { perform(action) }
    }

    private func perform(_ action: RadioAction) {
        switch action {
        case .startScan(let adapter):
            enqueue(adapter) { radio in await radio.startScan(on: adapter) }
        case .stopScan(let adapter):
            enqueue(adapter) { radio in await radio.stopScan(on: adapter) }
        case .connect(let band, let adapter):
            let before = discoveries[adapter]
            turns[band] = Task {
                await before?.value
                await serve(band, on: adapter)
            }
        case .notHeard(let band): tell(band, .notHeard)
        case .noAdapter(let band):
            Task { tell(band, await noAdapter()) }
        case .deaf(let adapter):
            Task { await noticed(.silence, on: adapter) }
        }
    }

    private func tell(_ band: BluetoothAddress, _ failure: BlueZFailure) {
        guard let member = members[band] else { return }
        Task { await member.couldNot(failure) }
    }

    private func noAdapter() async -> BlueZFailure {
        guard await blueZ.isServiceRunning else { return BlueZFailure(kind: .serviceGone, during: .connect) }
        return BlueZFailure(
            kind: Rfkill.blocksBluetooth() ? .blocked : .notReady, during: .connect,
            text: await blueZ.usableAdapters().isEmpty ? "there is no adapter" : "the adapter is switched off"
        )
    }

    // MARK: discovery

    private func enqueue(_ adapter: BluetoothAddress, _ body: @escaping @Sendable (Radio) async -> Void) {
        let before = discoveries[adapter]
        discoveries[adapter] = Task {
            await before?.value
            await body(self)
        }
    }

    private func startScan(on adapter: BluetoothAddress) async {
        do throws(BlueZFailure) {
            try await blueZ.startDiscovery(on: adapter)
            scanningSince[adapter] = clock.monotonic()
            gate.signal()
        } catch {
            scanFailed(adapter, error)
        }
    }

    private func stopScan(on adapter: BluetoothAddress) async {
        scanningSince[adapter] = nil
        await blueZ.stopDiscovery(on: adapter)
    }

    private func scanFailed(_ adapter: BluetoothAddress, _ failure: BlueZFailure) {
        lastScanFailure = (failure, clock.monotonic())
        log.warning(
            "discovery failed",
            [("adapter", .text(adapter.description)), ("error", .text(failure.description))])
        handle(.scanFailed(adapter))
        enqueue(adapter) { radio in
            await radio.stopScan(on: adapter)
            await radio.judge(discovery: failure, on: adapter)
        }
        gate.signal()
    }

    // MARK: turns

    private func serve(_ band: BluetoothAddress, on adapter: BluetoothAddress) async {
        var end = TurnEnd(outcome: .again)
        if let member = members[band], !isStopping {
            end = await member.takeTurn(
                RadioTurn(adapter: adapter) { [weak self] in Task { await self?.linked(band) } })
        }
        // What it left behind is seen before anything follows from it.
        if !isStopping { await look() }
        turns[band] = nil
        if end.moved { worked(on: adapter) }
        handle(.ended(band, end.outcome, jitter: jitter()))
        await keepPause(of: band)
        if end.isAskedAgain { handle(.asked(band)) }
        publish()
        gate.signal()
        await judge(end, of: band, on: adapter)
    }

    private func linked(_ band: BluetoothAddress) {
        handle(.linked(band))
        gate.signal()
    }

    /// A second failure in a row is worth a write; one alone is forgotten at a restart.
    private func keepPause(of band: BluetoothAddress) async {
        guard let device = members[band]?.device, let pause = schedule.pause(of: band) else { return }
        let stored =
            pause.failures > 1
            ? StoredPause(failures: pause.failures, milliseconds: pause.pause, failedAt: clock.wall()) : nil
        let known = try? await store.pause(of: device)
        guard stored != nil || known != nil, stored?.failures != known?.failures else { return }
        do { try await store.setPause(stored, of: device) } catch {
            log.warning("a pause could not be noted", [("error", .error(error))])
        }
    }

    // MARK: what is shown

    func publish() {
        var counters = schedule.counters(at: clock.monotonic())
        for (adapter, ladder) in ladders where !ladder.taken.isEmpty {
            counters.remedies[adapter] = ladder.taken
        }
        let problem = restartProblem ?? stuckProblem()
        let isNew = board.withLock { board in
            defer { board = RadioBoard(counters: counters, problem: problem) }
            return board.problem?.code != problem?.code
        }
        if isNew { changed() }
    }

    /// At the end, for whoever reads the log.
    private func report() {
        let counters = board.withLock(\.counters)
        var fields: Log.Fields = [
            ("attempts", .count(counters.attempts)), ("failed_attempts", .count(counters.failedAttempts)),
            ("reconnects", .count(counters.reconnects)), ("caught_up", .count(counters.caughtUp)),
            ("refused_links", .count(counters.refusedLinks)), ("scans", .count(counters.scans)),
            ("missed_looks", .count(counters.missedLooks)),
            ("scanned", .duration(.milliseconds(counters.scanMilliseconds))),
            ("attempted", .duration(.milliseconds(counters.attemptMilliseconds))),
            ("linked", .duration(.milliseconds(counters.linkMilliseconds))),
        ]
        for (remedy, times) in counters.remediesTaken.sorted(by: { $0.key < $1.key }) {
            fields.append((remedy.rawValue, .count(times)))
        }
        log.info("the radio in all", fields)
    }

    private func stuckProblem() -> Problem? {
        guard let (adapter, _) = ladders.filter(\.value.isLost).min(by: { $0.key < $1.key }) else {
            return nil
        }
        return .bluetoothStuck(adapter, mayRestart: mayRestartService)
    }
}

extension RadioEvent {
    /// Taken in while everything stops.
    fileprivate var endsSomething: Bool {
        switch self {
        case .ended, .dropped, .linked: true
        default: false
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
