import BandProfile
import BlueZModel
import DBus

// Discovery belongs to our bus connection: bluetoothd ends it when we go. Each adapter has its own.

extension BlueZClient {
    /// Searches for bands until `stopDiscovery`, or until the adapter or bluetoothd goes: then whoever wants it asks again.
    public func startDiscovery(on adapter: BluetoothAddress) async throws(BlueZFailure) {
        let index = try readyAdapter(adapter, for: .discover)
        // Not DuplicateData: one report of each band is enough. Always Transport: BlueZ would inquire BR/EDR too.
        let filter = BusValue.properties([
            "UUIDs": .strings([BandHistory.service]), "Transport": .string("le"),
            "DuplicateData": .bool(false),
        ])
        let path = path(ofAdapter: index)
        _ = try await call(
            path, BlueZName.adapter, "SetDiscoveryFilter", [filter], deadline: timings.other,
            during: .discover)
        do throws(BlueZFailure) {
            try await callStartDiscovery(path)
        } catch {
            // Each bus connection has one discovery: bluetoothd believes in one of ours. Unless we do too, that one is worth
            // nothing: it may be left over from a controller that has forgotten it.
            guard error.kind == .inProgress else { throw error }
            if !(discoveries.contains(adapter) && objects.adapters[index]?.discovering == true) {
                try? await endDiscovery(on: adapter)
                try await callStartDiscovery(path)
            }
        }
        discoveries.insert(adapter)
        log("discovery started", [("adapter", BlueZPath(adapter: index).adapterName)])
    }

    /// Does nothing where none was started. Where this throws it may run on, and is to be stopped again.
    public func stopDiscovery(on adapter: BluetoothAddress) async throws(BlueZFailure) {
        guard discoveries.contains(adapter) else { return }
        try await endDiscovery(on: adapter)
    }

    func stopDiscoveries() async {
        for address in discoveries.sorted() { try? await endDiscovery(on: address) }
    }

    private func callStartDiscovery(_ path: String) async throws(BlueZFailure) {
        _ = try await call(
            path, BlueZName.adapter, "StartDiscovery", deadline: timings.other, during: .discover)
    }

    /// Discovery ends by itself when the adapter goes or is switched off.
    func adaptersChanged() {
        discoveries = discoveries.filter { address in
            objects.adapters.values.contains { $0.address == address && $0.powered }
        }
    }

    /// "No discovery started" is as good. One that is refused, as while bluetoothd is at a change of ours, stays ours.
    func endDiscovery(on address: BluetoothAddress) async throws(BlueZFailure) {
        // Before the call: another one may be started while it is under way.
        let wasOurs = discoveries.remove(address) != nil
        guard let index = objects.adapterIndex(of: address) else { return }
        do throws(BlueZFailure) {
            _ = try await call(
                path(ofAdapter: index), BlueZName.adapter, "StopDiscovery", deadline: timings.other,
                during: .discover)
        } catch {
            switch error.kind {
            case .alreadyDone, .gone, .notReady, .serviceGone, .busGone: return
            default:
                if wasOurs, objects.adapterIndex(of: address) != nil { discoveries.insert(address) }
                throw error
            }
        }
    }
}
