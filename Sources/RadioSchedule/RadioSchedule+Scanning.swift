import BandProfile
import HistorySync

// When discovery runs, and what it means that a band was not heard.

extension RadioSchedule {
    func isListened(at now: MonotonicTime) -> Bool { listenUntil.map { now < $0 } ?? false }

    mutating func scanFailed(_ adapter: BluetoothAddress, _ now: MonotonicTime) {
        ledger.failedScans += 1
        if let failures = adapters[adapter]?.scanFailures {
            adapters[adapter]?.scanFailures = failures + 1
            adapters[adapter]?.noScanUntil = now + (settings.scanRetry << Int64(min(failures, 4)))
        }
        guard var scan, scan.adapters.contains(adapter) else { return }
        scan.adapters.remove(adapter)
        self.scan = scan.adapters.isEmpty ? nil : scan
        ledger.scanning(self.scan?.adapters.count ?? 0, now)
    }

    /// Bands that are due and would be looked for, where discovery has failed twice in a row on each adapter that is on. Once is mostly
    /// healed before anybody asks.
    public func missedForWantOfDiscovery(at now: MonotonicTime) -> [BluetoothAddress] {
        let usable = adapters.values.filter(\.isUsable)
        guard scan == nil, !usable.isEmpty, usable.allSatisfy({ $0.scanFailures > 1 }) else { return [] }
        return bands.filter { band, turn in isLookedFor(turn, band, at: now) }.keys.sorted()
    }

    /// Ends the discovery when all were heard that it looks for, or its time is over.
    mutating func endScan(_ now: MonotonicTime, _ actions: inout [RadioAction]) {
        if let until = listenUntil, until <= now { listenUntil = nil }
        guard let scan, !isListened(at: now) else { return }
        let unheard = scan.bands.filter { band in
            guard let turn = bands[band], turn.phase == .idle, !isConnected(band) else { return false }
            return !turn.wasHeard(since: scan.since)
        }
        guard unheard.isEmpty || scan.until <= now else { return }
        for band in unheard.sorted() {
            let wasAsked = bands[band]?.isAsked == true
            bands[band]?.wasMissed(at: now, settings)
            ledger.missedLooks += 1
            if wasAsked || bands[band]?.missed == 1 { actions.append(.notHeard(band)) }
        }
        for band in scan.bands where bands[band]?.isAtRest(at: now) == true && !unheard.contains(band) {
            // It is there: that is all that was to be known for now.
            bands[band]?.nextLook = now + settings.lookEvery
        }
        for adapter in scan.adapters.sorted() {
            adapters[adapter]?.scanFailures = 0
            actions.append(.stopScan(adapter))
        }
        self.scan = nil
        ledger.scanning(0, now)
    }

    /// Starts discovery where somebody is to be heard, or widens the one that runs.
    mutating func look(_ now: MonotonicTime, _ actions: inout [RadioAction]) {
        var wanted: Set<BluetoothAddress> = []
        for (band, turn) in bands where isLookedFor(turn, band, at: now) {
            wanted.insert(band)
            if turn.lookOwedSince == nil, !turn.isAtRest(at: now) { bands[band]?.lookOwedSince = now }
        }
        if var scan {
            // Connections wait for an exclusive one: it is not made longer.
            guard !scan.isExclusive else { return }
            let others = wanted.subtracting(scan.bands)
            scan.bands.formUnion(others)
            for band in others { scan.until = max(scan.until, now + window(of: band)) }
            // An adapter that has come, or has ended its attempt, joins in.
            let more = freeForScan(at: now).filter { !scan.adapters.contains($0) }
            scan.adapters.formUnion(more)
            self.scan = scan
            if !more.isEmpty { ledger.scanning(scan.adapters.count, now) }
            actions += more.map(RadioAction.startScan)
            return
        }
        let listens = isListened(at: now)
        guard !wanted.isEmpty || listens else { return }
        let free = freeForScan(at: now)
        guard !free.isEmpty else { return }
        let isExclusive = isLookOverdue(at: now)
        // Whoever is due and absent may be heard as well.
        for (band, turn) in bands where isUnheard(turn, band, at: now) { wanted.insert(band) }
        let longest = wanted.map { window(of: $0) }.max() ?? 0
        scan = ScanTurn(
            since: now, until: now + longest, adapters: Set(free), bands: wanted, isExclusive: isExclusive)
        ledger.scans += 1
        ledger.scanning(free.count, now)
        actions += free.map(RadioAction.startScan)
    }

    private func freeForScan(at now: MonotonicTime) -> [BluetoothAddress] {
        let listens = isListened(at: now)
        return adapters.filter { address, adapter in
            adapter.mayScan(at: now) && (listens || (adapter.attempt == nil && hasFreeSlot(address, at: now)))
        }.keys.sorted()
    }

    /// Due, idle, and nobody knows where it is.
    private func isUnheard(_ turn: BandTurn, _ band: BluetoothAddress, at now: MonotonicTime) -> Bool {
        let isWanted = turn.isDue(at: now) || (turn.isLookedForAtRest && turn.isAtRest(at: now))
        return turn.phase == .idle && isWanted && !isFresh(turn, at: now) && !isConnected(band)
    }

    private func isLookedFor(_ turn: BandTurn, _ band: BluetoothAddress, at now: MonotonicTime) -> Bool {
        turn.nextLook <= now && isUnheard(turn, band, at: now)
    }

    func isLookOverdue(at now: MonotonicTime) -> Bool {
        bands.contains { band, turn in
            guard let owed = turn.lookOwedSince, isLookedFor(turn, band, at: now) else { return false }
            return owed + settings.patience <= now
        }
    }

    /// Discovery could run now.
    func mayLook(at now: MonotonicTime) -> Bool {
        adapters.contains { address, adapter in
            adapter.mayScan(at: now) && adapter.attempt == nil && hasFreeSlot(address, at: now)
        }
    }

    private func window(of band: BluetoothAddress) -> Int64 {
        guard let turn = bands[band] else { return 0 }
        let whole = turn.isAsked ? settings.askedLook : turn.missed == 0 ? settings.firstLook : settings.look
        return max(settings.gathering, whole - turn.listened)
    }

    private func isConnected(_ band: BluetoothAddress) -> Bool {
        adapters.values.contains { $0.isUsable && $0.connected.contains(band) }
    }

    /// Adapters that once heard bands and hear none any more: the house may be empty, or they are deaf.
    mutating func noteSilence(_ now: MonotonicTime, _ actions: inout [RadioAction]) {
        for (address, adapter) in adapters.sorted(by: { $0.key < $1.key }) {
            guard adapter.isUsable, let heard = adapter.heardAt, links(on: address) == 0,
                bands.values.contains(where: { $0.missed > 1 })
            else { continue }
            let since = max(heard, adapter.silenceToldAt ?? heard)
            guard since + settings.silence <= now else { continue }
            adapters[address]?.silenceToldAt = now
            actions.append(.deaf(address))
        }
    }
}
