import BandProfile
import HistorySync

/// Shares the radio among bands: who is looked for, who is connected to, when, and over which adapter.
///
/// Pure: it is told what happens and says what to do. The rules, in short:
/// - A band is connected to only while its advertisement is fresh, so that no attempt waits for a band that is not there.
/// - Discovery runs only while a band is due, was not heard, and could be connected to if it were.
/// - An adapter makes one attempt at a time, and holds no more links than it has slots.
/// - Who has waited longest is next; who fails goes behind those who wait.
public struct RadioSchedule: Sendable {
    let settings: RadioSettings
    var bands: [BluetoothAddress: BandTurn] = [:]
    var adapters: [BluetoothAddress: AdapterTurn] = [:]
    var scan: ScanTurn?
    /// Somebody listens until then.
    var listenUntil: MonotonicTime?
    var ledger = RadioLedger()
    /// So often in a row a band is forgotten before its attempt began, then that counts as a failure.
    private static let forgottenInARow = 8

    public init(settings: RadioSettings) { self.settings = settings }

    // MARK: events

    public mutating func handle(_ event: RadioEvent, at now: MonotonicTime) -> [RadioAction] {
        var actions: [RadioAction] = []
        switch event {
        case .kept(let band, let pause, let left, let rest, let isLookedForAtRest):
            bands[band]?.isLeaving = false
            if bands[band] == nil {
                bands[band] = BandTurn(now: now, pause: pause, left: left, rest: rest)
                bands[band]?.isLookedForAtRest = isLookedForAtRest
            }
        case .dropped(let band): dropped(band)
        case .asked(let band): asked(band, now)
        case .due(let band): becameDue(band, now)
        case .restEnded(let band): restEnded(band, now)
        case .seen(let view): actions += seen(view, now)
        case .scanFailed(let adapter): scanFailed(adapter, now)
        case .linked(let band): linked(band, now)
        case .ended(let band, let outcome, let jitter): ended(band, outcome, jitter, now)
        case .listen(let time): listenUntil = max(listenUntil ?? now, now + max(0, time))
        case .timePassed: break
        }
        refuseWithoutAdapter(&actions)
        endScan(now, &actions)
        connect(now, &actions)
        look(now, &actions)
        refuseInVain(now, &actions)
        noteSilence(now, &actions)
        return actions
    }

    private mutating func dropped(_ band: BluetoothAddress) {
        scan?.bands.remove(band)
        // A link or an attempt counts until it is over.
        if bands[band]?.phase == .idle { bands[band] = nil } else { bands[band]?.isLeaving = true }
    }

    private mutating func asked(_ band: BluetoothAddress, _ now: MonotonicTime) {
        guard let turn = bands[band] else { return }
        bands[band]?.askedAt = turn.askedAt ?? now
        bands[band]?.nextLook = min(turn.nextLook, now)
        if !turn.isDue(at: now) { bands[band]?.waitsSince = now }
        // Asked again and again it would listen for ever, and nobody would be answered.
        guard !turn.isAsked, turn.phase == .idle, !isFresh(turn, at: now), var scan else { return }
        if scan.isExclusive {
            // Connections wait for it: it is not made longer. The band has a look of its own after it, and what it was owed
            // is forgotten, or connections would wait for that one too.
            scan.bands.remove(band)
            bands[band]?.lookOwedSince = nil
        } else {
            scan.bands.insert(band)
            scan.until = max(scan.until, now + settings.askedLook)
        }
        self.scan = scan
    }

    private mutating func becameDue(_ band: BluetoothAddress, _ now: MonotonicTime) {
        guard let turn = bands[band], turn.dueAt > now || turn.phase != .idle else { return }
        // Whether a session that runs still hears of it nobody knows.
        bands[band]?.isDueAgain = turn.phase != .idle
        bands[band]?.dueAt = now
        bands[band]?.waitsSince = now
    }

    private mutating func restEnded(_ band: BluetoothAddress, _ now: MonotonicTime) {
        guard let turn = bands[band], turn.restUntil > now else { return }
        bands[band]?.restUntil = now
        bands[band]?.nextLook = min(turn.nextLook, now)
        bands[band]?.waitsSince = now
        becameDue(band, now)
    }

    private mutating func seen(_ view: RadioView, _ now: MonotonicTime) -> [RadioAction] {
        let before = adapters
        adapters = [:]
        for shown in view.adapters {
            var adapter = before[shown.address] ?? AdapterTurn(shown)
            adapter.isUsable = shown.isPowered
            adapter.connected = shown.connected
            adapters[shown.address] = adapter
            // What BlueZ has forgotten can't be connected to before it is heard once more.
            guard let known = shown.known else { continue }
            for band in bands.keys where !known.contains(band) { bands[band]?.sightings[shown.address] = nil }
        }
        // A link may outlast what BlueZ shows of its adapter until its owner has noticed.
        for (address, turn) in bands where turn.phase != .idle {
            guard case .connecting(let adapter) = turn.phase else { continue }
            adapters[adapter]?.attempt = address
        }
        var gone: [BluetoothAddress] = []
        if var scan {
            gone = scan.adapters.filter { adapters[$0]?.isUsable != true }.sorted()
            scan.adapters.subtract(gone)
            self.scan = scan.adapters.isEmpty ? nil : scan
        }
        ledger.scanning(scan?.adapters.count ?? 0, now)
        for sighting in view.sightings where adapters[sighting.adapter] != nil {
            // Not later than now, whatever it says: it would stay fresh for ever.
            var sighting = sighting
            sighting.at = min(sighting.at, now)
            bands[sighting.band]?.heard(sighting)
            let last = adapters[sighting.adapter]?.heardAt ?? sighting.at
            adapters[sighting.adapter]?.heardAt = max(last, sighting.at)
        }
        return gone.map(RadioAction.stopScan)
    }

    private mutating func linked(_ band: BluetoothAddress, _ now: MonotonicTime) {
        guard case .connecting(let adapter) = bands[band]?.phase else { return }
        bands[band]?.phase = .linked(adapter)
        adapters[adapter]?.attempt = nil
        ledger.linked(band, now)
    }

    private mutating func ended(
        _ band: BluetoothAddress, _ outcome: SyncOutcome, _ jitter: Double, _ now: MonotonicTime
    ) {
        guard var turn = bands[band], let adapter = turn.phase.adapter else { return }
        if adapters[adapter]?.attempt == band { adapters[adapter]?.attempt = nil }
        ledger.ended(band, outcome, now)
        turn.phase = .idle
        guard !turn.isLeaving else {
            bands[band] = nil
            return
        }
        bands[band] = turn
        // It has to be heard again: an attempt to a band that is gone would block the radio.
        turn.sightings = [:]
        turn.nextLook = now
        // Who asked has been served, or will ask again.
        turn.askedAt = nil
        turn.needsHelp = false
        turn.failedOn = nil
        turn.restUntil = now
        turn.isLookedForAtRest = false
        let isDueAgain = turn.isDueAgain
        turn.isDueAgain = false
        turn.forgotten = outcome == .forgotten ? turn.forgotten + 1 : 0
        switch outcome {
        case .caughtUp:
            turn.pause.worked()
            turn.dueAt = isDueAgain ? now : now + settings.syncInterval
            turn.notBefore = now
            turn.waitsSince = turn.dueAt
        case .again:
            turn.notBefore = now + 200
            turn.waitsSince = now
        case .failed(let moved):
            if moved { turn.pause.worked() }
            turn.failed(on: adapter, jitter: jitter, needsHelp: false, settings, now)
        case .needsHelp:
            turn.failed(on: adapter, jitter: jitter, needsHelp: true, settings, now)
        case .rest(let time), .doubtfulRest(let time):
            turn.restUntil = now + max(0, time)
            turn.notBefore = now
            turn.waitsSince = turn.restUntil
            if case .doubtfulRest = outcome {
                turn.isLookedForAtRest = true
                turn.nextLook = now + settings.lookEvery
            }
        case .forgotten:
            // It keeps its place: it was its turn. Not for ever, or one that never gets on would hold up the others.
            if turn.forgotten < Self.forgottenInARow {
                turn.notBefore = now + 2_000
            } else {
                turn.forgotten = 0
                turn.failed(on: adapter, jitter: jitter, needsHelp: false, settings, now)
            }
        case .radioFault:
            turn.notBefore = now + 2_000
        case .noSlot:
            let held = otherLinks(on: adapter, besides: band)
            guard held > 0 else {
                // No end of another link would make room.
                turn.failed(on: adapter, jitter: jitter, needsHelp: false, settings, now)
                break
            }
            turn.notBefore = now + 2_000
            turn.failedOn = adapter
            adapters[adapter]?.learnedLimit = (held, now + settings.limitMemory)
        }
        bands[band] = turn
    }

    private mutating func refuseWithoutAdapter(_ actions: inout [RadioAction]) {
        guard !adapters.values.contains(where: \.isUsable) else { return }
        for (band, turn) in bands.sorted(by: { $0.key < $1.key }) where turn.isAsked && turn.phase == .idle {
            bands[band]?.askedAt = nil
            actions.append(.noAdapter(band))
        }
    }

    /// Whoever has waited long enough is told what keeps a band from its turn, where nothing that runs here will end that.
    private mutating func refuseInVain(_ now: MonotonicTime, _ actions: inout [RadioAction]) {
        for (band, turn) in bands.sorted(by: { $0.key < $1.key }) where turn.phase == .idle {
            guard let asked = turn.askedAt, asked + settings.patience <= now,
                let hindrance = hindrance(of: band, at: now)
            else { continue }
            bands[band]?.askedAt = nil
            actions.append(.refused(band, hindrance))
        }
    }

    /// Nil = it is listened for, or will be once a turn that runs is over: its answer follows by itself.
    private func hindrance(of band: BluetoothAddress, at now: MonotonicTime) -> RadioHindrance? {
        guard scan?.bands.contains(band) != true else { return nil }
        var found: RadioHindrance?
        for (address, adapter) in adapters where adapter.isUsable {
            guard !bands.values.contains(where: { $0.phase.adapter == address }) else { return nil }
            if !hasFreeSlot(address, at: now) {
                found = found ?? .noSlot
            } else if adapter.scanFailures > 0 {
                found = .noDiscovery
            } else {
                return nil
            }
        }
        return found
    }

    // MARK: questions

    /// What has to be kept of a band over a restart; nil = it is not known.
    public func pause(of band: BluetoothAddress) -> BandPause? { bands[band]?.pause }

    public func counters(at now: MonotonicTime) -> RadioCounters {
        var counters = ledger.counters(at: now)
        for adapter in adapters.keys { counters.linksHeld[adapter] = links(on: adapter) }
        return counters
    }

    /// Some band is waited for with discovery, or somebody listens.
    public var isScanning: Bool { scan != nil }

    public func isScanning(on adapter: BluetoothAddress) -> Bool { scan?.adapters.contains(adapter) == true }

    public var hasUsableAdapter: Bool { adapters.values.contains(where: \.isUsable) }

    /// Other programs' links over an adapter.
    public func othersUse(_ adapter: BluetoothAddress) -> Bool {
        adapters[adapter]?.connected.contains { bands[$0] == nil } == true
    }

    /// Who has a link over an adapter, or over any; nil = over any only.
    public func use(of adapter: BluetoothAddress?) -> RadioUse {
        let linked = bands.values.compactMap { turn -> BluetoothAddress? in
            guard case .linked(let over) = turn.phase else { return nil }
            return over
        }
        return RadioUse(
            byBands: adapter.map { linked.contains($0) } ?? false, byBandsAnywhere: !linked.isEmpty,
            byOthers: adapter.map { othersUse($0) } ?? false,
            byOthersAnywhere: adapters.keys.contains { othersUse($0) },
            hasUnusedLinks: adapter.map { !unusedLinks(on: $0).isEmpty } ?? false)
    }

    /// Bands that are shown as connected over an adapter and that nobody here uses.
    public func unusedLinks(on adapter: BluetoothAddress) -> [BluetoothAddress] {
        (adapters[adapter]?.connected ?? []).filter { bands[$0]?.phase == .idle }.sorted()
    }

    /// Links over an adapter, attempts included, but for those of one band.
    public func otherLinks(on adapter: BluetoothAddress, besides band: BluetoothAddress) -> Int {
        heldLinks(on: adapter).subtracting([band]).count
    }

    /// When time alone changes something; nil = never.
    public func deadline(after now: MonotonicTime) -> MonotonicTime? {
        var times: [MonotonicTime] = []
        if let scan {
            times.append(scan.until)
            times.append(scan.since + settings.gathering)
        }
        if let listenUntil { times.append(listenUntil) }
        for adapter in adapters.values {
            if let time = adapter.noScanUntil { times.append(time) }
            if let limit = adapter.learnedLimit { times.append(limit.until) }
        }
        for turn in bands.values where turn.phase == .idle {
            times.append(turn.wantsTurnAt)
            times.append(turn.nextLook)
            if let owed = turn.lookOwedSince { times.append(owed + settings.patience) }
            if let asked = turn.askedAt { times.append(asked + settings.patience) }
            for sighting in turn.sightings.values { times.append(sighting.at + (settings.freshness + 1)) }
        }
        return times.filter { $0 > now }.min()
    }

    // MARK: shared

    func isFresh(_ turn: BandTurn, at now: MonotonicTime) -> Bool {
        turn.sightings.contains { adapter, sighting in
            adapters[adapter]?.isUsable == true && sighting.at + settings.freshness >= now
        }
    }

    /// Whatever is connected over it, and what is being connected.
    func links(on adapter: BluetoothAddress) -> Int { heldLinks(on: adapter).count }

    private func heldLinks(on adapter: BluetoothAddress) -> Set<BluetoothAddress> {
        var held = adapters[adapter]?.connected ?? []
        for (band, turn) in bands where turn.phase.adapter == adapter { held.insert(band) }
        return held
    }

    func hasFreeSlot(_ adapter: BluetoothAddress, at now: MonotonicTime) -> Bool {
        guard let turn = adapters[adapter] else { return false }
        return links(on: adapter) < turn.limit(settings, at: now)
    }
}

extension BandTurn {
    fileprivate mutating func failed(
        on adapter: BluetoothAddress, jitter: Double, needsHelp: Bool, _ settings: RadioSettings,
        _ now: MonotonicTime
    ) {
        pause.failed(jitter: jitter, needsHelp: needsHelp, atMost: max(settings.syncInterval, 5_000))
        notBefore = now + pause.pause
        waitsSince = now
        failedOn = adapter
        self.needsHelp = needsHelp
    }
}
