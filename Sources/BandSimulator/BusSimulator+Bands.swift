import BandModel
import BandProfile

// What tests in the same process do to bands. An address that is not simulated is ignored.

extension BusSimulator {
    /// A copy of the band as it is now, for its truth.
    public func band(_ address: BluetoothAddress) -> SimulatedBand? { device(address)?.keeper.band }

    public func isConnected(_ address: BluetoothAddress) -> Bool { device(address)?.isConnected ?? false }

    /// Cuts the link, as a band that went out of range.
    public func cutLink(_ address: BluetoothAddress) {
        if let device = device(address) { linkLost(device, reason: .timeout) }
    }

    /// In range and switched on, or not. A band that goes takes its link with it.
    public func setPresent(_ address: BluetoothAddress, _ isPresent: Bool) {
        guard let device = device(address), device.isPresent != isPresent else { return }
        device.isPresent = isPresent
        if isPresent { becameConnectable(device) } else { linkLost(device, reason: .timeout) }
    }

    public func record(_ address: BluetoothAddress, _ count: Int) {
        if let device = device(address) { record(count, device) }
    }

    public func format(_ address: BluetoothAddress, records: Int) {
        guard let device = device(address) else { return }
        device.keeper.band.format()
        dropLink(device)
        record(records, device)
    }

    public func rollBack(_ address: BluetoothAddress, forgetting count: Int, records: Int) {
        guard let device = device(address) else { return }
        let newest = device.keeper.band.info().newestSeq
        device.keeper.band.rollBack(to: newest - min(newest, UInt32(clamping: count)))
        dropLink(device)
        record(records, device)
    }

    public func overwrite(_ address: BluetoothAddress, _ count: Int) {
        guard let device = device(address) else { return }
        device.keeper.band.overwrite(max(0, count))
        saveSoon()
    }

    public func stepClock(_ address: BluetoothAddress, milliseconds: Int64) {
        guard let device = device(address) else { return }
        device.keeper.band.stepClock(by: milliseconds, now: SystemClock.wallMilliseconds)
        saveSoon()
    }

    /// The band forgets its keys, and drops the link; BlueZ does not learn of it.
    public func loseBond(_ address: BluetoothAddress) {
        guard let device = device(address) else { return }
        device.stored.lostKeys = true
        device.keeper.save()
        dropLink(device)
    }

    public func setFaults(_ address: BluetoothAddress, _ faults: FaultScript) {
        device(address)?.keeper.band.setFaults(faults)
    }
}

// What tests in the same process do to the adapter.

extension BusSimulator {
    /// Its discovery is lost in the controller, and bluetoothd believes in it.
    public func stickDiscovery() {
        trouble.discoveryIsStuck = true
        setAdapter(["Discovering": .bool(false)])
    }

    public var powerCycles: Int { Int(trouble.powerCycles) }
    public var restarts: Int { Int(trouble.restarts) }
}
