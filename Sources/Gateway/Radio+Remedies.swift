import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import Locking
import RadioSchedule
import Store
import Systemd

// What a failure says of the adapter, and what is done about it.

extension Radio {
    /// Data came over it.
    func worked(with band: BluetoothAddress, on adapter: BluetoothAddress) {
        let now = clock.monotonic()
        ladders[adapter, default: RecoveryLadder(syncInterval: syncInterval)].worked(with: band, at: now)
        serviceLadder.worked(at: now)
        restartProblem = nil
    }

    /// bluetoothd is there and does not list its objects. What is done about it takes long: whoever tells of it has more to tell.
    func serviceIsSilent() { Task { await noticed(.serviceSilent, on: nil) } }

    func judge(
        _ end: TurnEnd, of band: BluetoothAddress, on adapter: BluetoothAddress, otherLinks: Int
    ) async {
        let isLinked = schedule.unusedLinks(on: adapter).contains(band)
        guard let suspicion = end.suspicion(isStillLinked: isLinked, otherLinks: otherLinks) else { return }
        if suspicion.isAskedFirst, await !blueZ.answers(about: adapter) {
            return await noticed(.noAnswer, with: suspicion.symptom == .stuckLink ? band : nil, on: adapter)
        }
        guard let symptom = suspicion.symptom else { return }
        await noticed(symptom, with: suspicion.isOfBand ? band : nil, on: adapter)
    }

    func judge(discovery failure: BlueZFailure, on adapter: BluetoothAddress) async {
        switch failure.kind {
        case .notReady, .blocked, .serviceGone, .busGone, .accessDenied, .cancelled: break
        case .deadline:
            let answers = await blueZ.answers(about: adapter)
            await noticed(answers ? .discoveryStuck : .noAnswer, on: adapter)
        default: await noticed(.discoveryStuck, on: adapter)
        }
    }

    /// Returns when what is done about it is done. Nil as adapter = bluetoothd as such.
    func noticed(
        _ symptom: RadioSymptom, with band: BluetoothAddress? = nil, on adapter: BluetoothAddress?
    ) async {
        // What fails while something is done about it says nothing more.
        guard !isStopping, remedies[adapter] == nil else { return }
        let (now, use) = (clock.monotonic(), schedule.use(of: adapter))
        var ladder = ladder(of: adapter)
        let remedy = ladder.noticed(symptom, with: band, at: now, mayRestart: mayRestartService, use: use)
        set(ladder, of: adapter)
        var fields: Log.Fields = [
            ("symptom", .text(symptom.rawValue)), ("strikes", .count(ladder.strikes)),
            ("remedy", .text(remedy?.rawValue ?? "none")),
        ]
        if let adapter { fields.append(("adapter", .band(adapter))) }
        guard let remedy else {
            // An empty house is nothing that has to be told each hour.
            if symptom != .silence { log.info("Bluetooth misbehaves", fields) }
            return publish()
        }
        fields.append(("times", .count((ladder.taken[remedy] ?? 0) + 1)))
        log.warning("Bluetooth misbehaves", fields)
        let task = Task {
            await help(with: remedy, for: symptom, on: adapter)
            remedies.removeValue(forKey: adapter)
            publish()
            wake()
        }
        remedies[adapter] = task
        await task.value
    }

    private func ladder(of adapter: BluetoothAddress?) -> RecoveryLadder {
        guard let adapter else { return serviceLadder }
        return ladders[adapter] ?? RecoveryLadder(syncInterval: syncInterval)
    }

    private func set(_ ladder: RecoveryLadder, of adapter: BluetoothAddress?) {
        if let adapter { ladders[adapter] = ladder } else { serviceLadder = ladder }
    }

    private func help(
        with remedy: Remedy, for symptom: RadioSymptom, on adapter: BluetoothAddress?
    ) async {
        var didSomething = true
        do throws(BlueZFailure) {
            switch (remedy, adapter) {
            case (.dropLink, let adapter?): didSomething = await dropUnusedLinks(on: adapter)
            case (.stopDiscovery, let adapter?): try await blueZ.resetDiscovery(on: adapter)
            case (.powerCycle, let adapter?):
                // Put off: it was not tried.
                guard try await powerCycle(adapter, for: symptom) else { return }
            case (.restartService, _):
                try await blueZ.restartService()
                restartProblem = nil
            case (_, nil): didSomething = false
            }
        } catch {
            didSomething = error.mayHaveHadEffect
            log.warning(
                "a remedy failed", [("remedy", .text(remedy.rawValue)), ("error", .text(error.description))])
            if remedy == .restartService { restartProblem = .restartRefused(error) }
        }
        var ladder = ladder(of: adapter)
        ladder.tried(remedy, for: symptom, at: clock.monotonic(), didSomething: didSomething)
        set(ladder, of: adapter)
    }

    /// One after the other, and each only while nobody has begun to use it.
    private func dropUnusedLinks(on adapter: BluetoothAddress) async -> Bool {
        var dropped: Set<BluetoothAddress> = []
        while let band = schedule.unusedLinks(on: adapter).first(where: { !dropped.contains($0) }) {
            dropped.insert(band)
            await blueZ.disconnect(band, on: adapter)
        }
        return !dropped.isEmpty
    }

    // MARK: power

    /// False = it was put off, and nothing was done.
    private func powerCycle(
        _ adapter: BluetoothAddress, for symptom: RadioSymptom
    ) async throws(BlueZFailure) -> Bool {
        // Somebody may have switched it off meanwhile, who wants it off.
        guard await blueZ.adapters().contains(where: { $0.address == adapter && $0.powered }) else {
            return false
        }
        // Noted first: whatever ends this before it is on again, the next start finds it.
        do { try await store.setOwesPower(true, to: adapter) } catch {
            log.warning(
                "an adapter is not switched off: that could not be noted",
                [("adapter", .band(adapter)), ("error", .error(error))])
            return false
        }
        let wasOwed = debts.owes(adapter)
        debts.incur(adapter, at: clock.monotonic())
        // From here on no turn begins on it. One may have begun meanwhile.
        switchedOff.insert(adapter)
        defer { switchedOff.remove(adapter) }
        await look()
        guard !isStopping, symptom.concernsAll || !schedule.use(of: adapter).byBands else {
            if !wasOwed { await settlePower(of: adapter) }
            return false
        }
        debts.mayGoOff(adapter, at: clock.monotonic())
        do throws(BlueZFailure) { try await blueZ.powerCycle(adapter) } catch {
            // It is tried again by what it is owed, and may go off only now: bluetoothd does what it was told when it gets to it.
            _ = debts.failed(adapter, at: clock.monotonic())
            throw error
        }
        debts.isCertainlyOn(adapter)
        return true
    }

    /// Adapters that were switched off here are switched on; those that are on, and stay so, are owed nothing any more.
    func payPower(_ adapters: [AdapterSnapshot]) {
        let on = Set(adapters.filter(\.powered).map(\.address))
        let off = Set(adapters.map(\.address)).subtracting(on)
        for adapter in off { debts.wasSeenOff(adapter) }
        guard !isStopping else { return }
        for adapter in debts.settled(among: on) where remedies[adapter] == nil {
            remedies[adapter] = Task {
                await settlePower(of: adapter)
                remedies.removeValue(forKey: adapter)
            }
        }
        for adapter in debts.due(off: off, on: on, at: clock.monotonic()) where remedies[adapter] == nil {
            remedies[adapter] = Task {
                let isTooOften = await switchOn(adapter)
                remedies.removeValue(forKey: adapter)
                wake()
                if isTooOften { await noticed(.staysOff, on: adapter) }
            }
        }
    }

    private func settlePower(of adapter: BluetoothAddress) async {
        // Where it can't be noted it is owed on, and this is tried again: an adapter that is on is left as it is.
        guard (try? await store.setOwesPower(false, to: adapter)) != nil else { return }
        debts.settle(adapter)
        ladders[adapter]?.isOn()
        publish()
    }

    /// True when more has to be done than to try again.
    private func switchOn(_ adapter: BluetoothAddress) async -> Bool {
        do throws(BlueZFailure) {
            try await blueZ.powerOn(adapter)
            debts.isCertainlyOn(adapter)
            log.notice("an adapter that was switched off here is on again", [("adapter", .band(adapter))])
            return false
        } catch {
            log.warning(
                "an adapter that was switched off here can't be switched on; it is tried again",
                [("adapter", .band(adapter)), ("error", .text(error.description))])
            let isTooOften = debts.failed(adapter, at: clock.monotonic())
            // rfkill's switch is a person's.
            return isTooOften && error.kind != .blocked
        }
    }

    /// What was begun is ended, as far as there is time; what is owed then is found at the next start.
    func endRemedies(within limit: Duration) async {
        let ended = OneShot<Void>()
        let running = Array(remedies.values)
        let work = Task {
            for task in running { await task.value }
            for adapter in await blueZ.adapters() where !adapter.powered && debts.owes(adapter.address) {
                _ = await switchOn(adapter.address)
            }
            ended.set(())
        }
        await ended.value(within: limit, else: ())
        work.cancel()
    }
}

extension BlueZFailure {
    /// False when nobody was asked, or the answer was that it is not done.
    fileprivate var mayHaveHadEffect: Bool {
        switch kind {
        case .serviceGone, .busGone, .accessDenied, .notReady: false
        default: operation != .restart || kind == .deadline
        }
    }
}
