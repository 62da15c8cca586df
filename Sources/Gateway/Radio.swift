import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import HistorySync
import Locking
import RadioSchedule
import RadioSwitches
import Store
import Systemd

/// Owns the radio: discovery, connection attempts and slots of all adapters, and what is done when one misbehaves.
///
/// `RadioSchedule` and `RecoveryLadder` decide; this performs what they say, each adapter's discovery in order.
actor Radio {
    let blueZ: BlueZClient
    let clock: HostClock
    let log: Log
    let store: Store
    let syncInterval: Int64
    let mayRestartService: Bool
    private let jitter: @Sendable () -> Double
    /// Something that `status` shows has changed.
    let changed: @Sendable () -> Void

    var schedule: RadioSchedule
    var ladders: [BluetoothAddress: RecoveryLadder] = [:]
    /// Of bluetoothd as a whole, where no adapter is concerned.
    var serviceLadder: RecoveryLadder
    var restartProblem: Problem?
    /// What is being done about each adapter, or about bluetoothd as such (nil); one thing at a time.
    var remedies: [BluetoothAddress?: Task<Void, Never>] = [:]
    /// Adapters that were switched off here and not seen on since.
    var debts: PowerDebts
    /// Those that are just being switched off and on.
    var switchedOff: Set<BluetoothAddress> = []
    private var members: [BluetoothAddress: RadioMember] = [:]
    /// Who was the last to ask for each band to be kept: one that had to wait does not displace a later one.
    private var newest: [BluetoothAddress: RadioMember.Identity] = [:]
    private var turns: [BluetoothAddress: Turn] = [:]
    /// The last thing that was asked of each adapter's discovery.
    private var discoveries: [BluetoothAddress: Task<Void, Never>] = [:]
    /// Since when discovery is said to run.
    private var scanningSince: [BluetoothAddress: MonotonicTime] = [:]
    /// Discovery that could not be stopped, though nobody wants it: how often in a row, and when that is tried again.
    private var unstopped: [BluetoothAddress: (times: Int, next: MonotonicTime)] = [:]
    private var lastScanFailure: (failure: BlueZFailure, at: MonotonicTime)?
    private var loop: Task<Void, Never>?
    /// Which adapters were left off, where that could not be read at the start.
    private var learning: Task<Void, Never>?
    private(set) var isStopping = false
    private nonisolated let gate = WakeGate()
    nonisolated let board = Guarded(RadioBoard())

    /// Discovery that was started and is not seen for so long does not run, ms.
    private static let unseenScan: Int64 = 3_000
    /// From one try to stop a discovery to the next, ms; doubles.
    private static let firstStopPause: Int64 = 2_000
    private static let mostStopPause: Int64 = 60_000
    /// How long a stop waits for an adapter that is being switched off and on.
    private static let remedyPatience = Duration.seconds(10)

    private struct Turn {
        var identity: RadioMember.Identity
        var task: Task<Void, Never>
    }

    init(
        blueZ: BlueZClient, store: Store, clock: HostClock, settings: RadioSettings, mayRestartService: Bool,
        log: Log, jitter: @escaping @Sendable () -> Double, changed: @escaping @Sendable () -> Void
    ) {
        self.blueZ = blueZ
        self.store = store
        self.clock = clock
        schedule = RadioSchedule(settings: settings)
        syncInterval = settings.syncInterval
        serviceLadder = RecoveryLadder(syncInterval: settings.syncInterval)
        debts = PowerDebts(patience: blueZ.powerDeadline.milliseconds)
        self.mayRestartService = mayRestartService
        self.log = log
        self.jitter = jitter
        self.changed = changed
    }

    func start() async {
        if await !learnDebts() { learning = Task { await learnDebtsLater() } }
        guard loop == nil, !isStopping else { return }
        loop = Task { await run() }
    }

    /// A gateway that was killed while it switched an adapter off and on. False: it could not be read.
    private func learnDebts() async -> Bool {
        do {
            for adapter in try await store.owedPower() {
                debts.incur(adapter, at: clock.monotonic())
                debts.mayGoOff(adapter, at: clock.monotonic())
            }
            return true
        } catch {
            log.warning("whether an adapter was left off is not known", [("error", .error(error))])
            return false
        }
    }

    private func learnDebtsLater() async {
        while !isStopping {
            try? await Task.sleep(for: .seconds(60))
            if !isStopping, await learnDebts() { return gate.signal() }
        }
    }

    /// From now on nothing is begun. To be called before the first turn is ended for a stop: what fails by that says nothing of
    /// the radio, and an adapter that is switched off now may not be switched on again in time.
    func beginNothingMore() {
        isStopping = true
        learning?.cancel()
        gate.signal()
    }

    /// Begins nothing, and returns when what runs is over. Turns are ended by whoever has them.
    func stop() async {
        beginNothingMore()
        await loop?.value
        for turn in turns.values { await turn.task.value }
        await endRemedies(within: Self.remedyPatience)
        publish()
        report()
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
        newest[band] = member.identity
        var pause = BandPause()
        var left: Int64 = 0
        if let stored = try? await store.pause(of: member.device) {
            pause = BandPause(failures: stored.failures, pause: stored.milliseconds)
            left = pause.left(sinceFailure: clock.wall().milliseconds - stored.failedAt.milliseconds)
        }
        guard !isStopping, newest[band] === member.identity else { return }
        members[band] = member
        handle(
            .kept(band, pause, left: left, rest: resting.milliseconds, isLookedForAtRest: looking))
        gate.signal()
    }

    /// Returns when the last turn of this member is over. Another one that has the band by now keeps it.
    func drop(_ band: BluetoothAddress, _ identity: RadioMember.Identity) async {
        if newest[band] === identity { newest[band] = nil }
        if members[band]?.identity === identity {
            members[band] = nil
            handle(.dropped(band))
        }
        if let turn = turns[band], turn.identity === identity { await turn.task.value }
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
            let stops = unstopped.values.map(\.next).filter { $0 > now }.min()
            let next = [schedule.deadline(after: now), debts.deadline(after: now), stops].compactMap { $0 }
                .min()
            let due = next.map { $0.milliseconds - now.milliseconds } ?? most
            await gate.wait(atMost: .milliseconds(max(1, min(due, most))))
        }
    }

    /// Takes what BlueZ shows, and does what follows from it and from the time.
    func look() async {
        let snapshot = await blueZ.radio(of: Set(members.keys))
        let now = clock.monotonic()
        let view = RadioView(
            adapters: snapshot.adapters.map {
                .init(
                    address: $0.adapter.address,
                    isPowered: $0.adapter.powered && !switchedOff.contains($0.adapter.address),
                    isDiscovering: $0.adapter.discovering, connected: $0.connected, known: $0.known)
            },
            sightings: snapshot.sightings.map {
                .init(
                    band: $0.band, adapter: $0.adapter, rssi: $0.rssi, at: now + -$0.ago.milliseconds)
            })
        handle(.seen(view))
        for sighting in view.sightings { ladders[sighting.adapter]?.heard(at: sighting.at) }
        if !debts.isEmpty { payPower(await blueZ.adapters()) }
        for (adapter, stop) in unstopped where stop.next <= now {
            // Not once more before this one has its answer.
            unstopped[adapter]?.next = now + Self.mostStopPause
            enqueue(adapter) { radio in await radio.stopAgain(on: adapter) }
        }
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
            guard let member = members[band] else { return giveBack(band) }
            let before = discoveries[adapter]
            turns[band] = Turn(
                identity: member.identity,
                task: Task {
                    await before?.value
                    await serve(member, band, on: adapter)
                })
        case .notHeard(let band):
            Task { tell(band, await whyNotHeard(band)) }
        case .noAdapter(let band):
            Task { tell(band, await noAdapter()) }
        case .refused(let band, let hindrance): tell(band, failure(of: hindrance))
        case .deaf(let adapter):
            Task { await noticed(.silence, on: adapter) }
        }
    }

    private func tell(_ band: BluetoothAddress, _ failure: BlueZFailure) {
        guard let member = members[band] else { return }
        Task { await member.couldNot(failure) }
    }

    /// Its bond may be where no radio is on: then it is not looked for elsewhere, and the adapter is named.
    private func whyNotHeard(_ band: BluetoothAddress) async -> BlueZFailure {
        guard let adapter = await blueZ.switchedOffAdapter(withKeysOf: band) else { return .notHeard }
        return BlueZFailure(
            kind: .notReady, during: .connect,
            text: "this band is bonded to adapter \(adapter), which is switched off")
    }

    private func failure(of hindrance: RadioHindrance) -> BlueZFailure {
        switch hindrance {
        case .noSlot:
            BlueZFailure(
                kind: .tooManyLinks, during: .connect, text: "other programs hold all links of the adapter")
        case .noDiscovery:
            lastScanFailure?.failure
                ?? BlueZFailure(kind: .inProgress, during: .discover, text: "discovery can't be started")
        }
    }

    private func noAdapter() async -> BlueZFailure {
        guard await blueZ.isServiceRunning else { return BlueZFailure(kind: .serviceGone, during: .connect) }
        return BlueZFailure(
            kind: RadioSwitches.blockBluetooth() ? .blocked : .notReady, during: .connect,
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
        do throws(BlueZFailure) {
            try await blueZ.stopDiscovery(on: adapter)
            unstopped[adapter] = nil
        } catch {
            couldNotStop(adapter, error)
        }
    }

    /// It would go on for ever: all are heard by it, so that no look is due that would end it.
    private func couldNotStop(_ adapter: BluetoothAddress, _ failure: BlueZFailure) {
        let times = (unstopped[adapter]?.times ?? 0) + 1
        let pause = min(Self.mostStopPause, Self.firstStopPause << Int64(min(times - 1, 8)))
        unstopped[adapter] = (times, clock.monotonic() + pause)
        log.warning(
            "discovery could not be stopped; it is tried again",
            [("adapter", .band(adapter)), ("error", .text(failure.description))])
        gate.signal()
        // Once is a bluetoothd that was just at something.
        if times > 1 { judgeBeside(discovery: failure, on: adapter) }
    }

    private func stopAgain(on adapter: BluetoothAddress) async {
        guard unstopped[adapter] != nil, !schedule.isScanning(on: adapter) else {
            unstopped[adapter] = nil
            return
        }
        await stopScan(on: adapter)
    }

    private func scanFailed(_ adapter: BluetoothAddress, _ failure: BlueZFailure) {
        lastScanFailure = (failure, clock.monotonic())
        log.warning(
            "discovery failed",
            [("adapter", .band(adapter)), ("error", .text(failure.description))])
        handle(.scanFailed(adapter))
        // Nobody is looked for, so nobody would ever be told.
        for band in schedule.missedForWantOfDiscovery(at: clock.monotonic()) { tell(band, failure) }
        enqueue(adapter) { radio in
            await radio.stopScan(on: adapter)
            await radio.judgeBeside(discovery: failure, on: adapter)
        }
        gate.signal()
    }

    /// What is done about it takes long: nobody who is to connect, or to stop, waits for that.
    private func judgeBeside(discovery failure: BlueZFailure, on adapter: BluetoothAddress) {
        Task { await judge(discovery: failure, on: adapter) }
    }

    // MARK: turns

    /// A turn that nobody takes.
    private func giveBack(_ band: BluetoothAddress) {
        Task { handle(.ended(band, .again, jitter: jitter())) }
    }

    private func serve(_ member: RadioMember, _ band: BluetoothAddress, on adapter: BluetoothAddress) async {
        var end = TurnEnd(outcome: .again)
        if members[band]?.identity === member.identity, !isStopping {
            end = await member.takeTurn(
                RadioTurn(adapter: adapter) { [weak self] in Task { await self?.linked(band) } })
        }
        // What it left behind is seen before anything follows from it.
        if !isStopping { await look() }
        turns[band] = nil
        if end.moved { worked(with: band, on: adapter) }
        // Before the next one begins.
        let others = schedule.otherLinks(on: adapter, besides: band)
        handle(.ended(band, end.outcome, jitter: jitter()))
        await keepPause(of: band)
        // Only now: who asked before this was taken to be served by the turn that ended.
        if let member = members[band], await member.isAskedFor() { handle(.asked(band)) }
        publish()
        gate.signal()
        judgeBeside(end, of: band, on: adapter, otherLinks: others)
    }

    /// What is done about it takes long: who drops the band, for a stop or to pair it, does not wait for that.
    private func judgeBeside(
        _ end: TurnEnd, of band: BluetoothAddress, on adapter: BluetoothAddress, otherLinks: Int
    ) {
        guard !isStopping else { return }
        Task { await judge(end, of: band, on: adapter, otherLinks: otherLinks) }
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
        counters.serviceRemedies = serviceLadder.taken
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
