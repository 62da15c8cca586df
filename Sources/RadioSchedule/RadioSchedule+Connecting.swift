import BandProfile
import HistorySync

// Who is connected to next.

extension RadioSchedule {
    mutating func connect(_ now: MonotonicTime, _ actions: inout [RadioAction]) {
        // A look that has waited long goes first, or a band that comes home would never be heard on a busy radio.
        let scanGoesFirst = scan == nil && isLookOverdue(at: now) && mayLook(at: now)
        if scanGoesFirst { return }
        for band in queue(at: now) {
            guard let adapter = chooseAdapter(for: band, at: now) else { continue }
            // Not both on one adapter, unless somebody listens.
            if var scan, scan.adapters.contains(adapter), !isListened(at: now) {
                scan.adapters.remove(adapter)
                if scan.adapters.isEmpty { credit(scan, now) }
                self.scan = scan.adapters.isEmpty ? nil : scan
                ledger.scanning(self.scan?.adapters.count ?? 0, now)
                actions.append(.stopScan(adapter))
            }
            bands[band]?.phase = .connecting(adapter)
            bands[band]?.lookOwedSince = nil
            adapters[adapter]?.attempt = band
            ledger.began(now)
            actions.append(.connect(band, on: adapter))
        }
    }

    /// A look that is cut short goes on later, it does not begin anew: or one band that is away would have a busy radio
    /// listen all the time.
    private mutating func credit(_ scan: ScanTurn, _ now: MonotonicTime) {
        for band in scan.bands where bands[band]?.wasHeard(since: scan.since) == false {
            bands[band]?.listened += now.milliseconds - scan.since.milliseconds
        }
    }

    /// Bands that are due and idle, in the order of their turns.
    private func queue(at now: MonotonicTime) -> [BluetoothAddress] {
        bands.filter { $0.value.phase == .idle && $0.value.isDue(at: now) }
            .sorted { ($0.value.waitsSince, $0.key) < ($1.value.waitsSince, $1.key) }
            .map(\.key)
    }

    /// An adapter that heard the band, is not connecting and has a slot. Of several that over which no attempt has just
    /// failed, then that which hears it best.
    private func chooseAdapter(for band: BluetoothAddress, at now: MonotonicTime) -> BluetoothAddress? {
        guard let turn = bands[band] else { return nil }
        // A link that is left over from a killed gateway is taken over where it is: the band does not advertise.
        if let held = adapters.filter({ $0.value.connected.contains(band) }).keys.min() {
            guard let adapter = adapters[held], adapter.isUsable, adapter.attempt == nil else { return nil }
            return held
        }
        let candidates = turn.sightings.filter { address, sighting in
            guard let adapter = adapters[address], adapter.isUsable, adapter.attempt == nil else {
                return false
            }
            return sighting.at + settings.freshness >= now && hasFreeSlot(address, at: now)
                && !isScanKept(on: address, at: now)
        }
        return candidates.max { left, right in
            let (a, b) = (left.key == turn.failedOn, right.key == turn.failedOn)
            if a != b { return a }
            if left.value.rssi != right.value.rssi { return left.value.rssi < right.value.rssi }
            return left.key > right.key
        }?.key
    }

    /// The discovery on an adapter is not to be ended for a connection yet.
    private func isScanKept(on adapter: BluetoothAddress, at now: MonotonicTime) -> Bool {
        guard let scan, scan.adapters.contains(adapter), !isListened(at: now) else { return false }
        let isGathering = scan.bands.count > 1 && now < scan.since + settings.gathering
        guard scan.isExclusive || isGathering else { return false }
        return !scan.bands.allSatisfy { bands[$0]?.wasHeard(since: scan.since) ?? true }
    }
}
