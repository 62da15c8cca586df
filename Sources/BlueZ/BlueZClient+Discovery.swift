import BandProfile
import BlueZModel
import DBus

// Discovery belongs to our bus connection: bluetoothd ends it when we go. Each adapter has its own.

extension BlueZClient {
    /// Searches for bands until `stopDiscovery`, also across restarts of bluetoothd and of the adapter. Without an adapter
    /// the first one is taken, whichever that is then.
    public func startDiscovery(on adapter: BluetoothAddress? = nil) async throws(BlueZFailure) {
        if let adapter { wantedDiscoveries.insert(adapter) } else { wantsAnyDiscovery = true }
        try await beginDiscovery(at: try readyAdapter(adapter, for: .discover))
    }

    /// Without an adapter: on all of them.
    public func stopDiscovery(on adapter: BluetoothAddress? = nil) async {
        if let adapter {
            wantedDiscoveries.remove(adapter)
        } else {
            wantedDiscoveries = []
            wantsAnyDiscovery = false
        }
        for address in discoveries.sorted() where adapter == nil || address == adapter {
            await endDiscovery(on: address)
        }
    }

    public var isDiscovering: Bool { !discoveries.isEmpty }

    var wantsDiscovery: Bool { wantsAnyDiscovery || !wantedDiscoveries.isEmpty }

    private func beginDiscovery(at index: UInt16) async throws(BlueZFailure) {
        guard let address = objects.adapters[index]?.address else { return }
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
            if !(discoveries.contains(address) && objects.adapters[index]?.discovering == true) {
                await endDiscovery(on: address)
                try await callStartDiscovery(path)
            }
        }
        discoveries.insert(address)
        log("discovery started", [("adapter", BlueZPath(adapter: index).adapterName)])
    }

    private func callStartDiscovery(_ path: String) async throws(BlueZFailure) {
        _ = try await call(
            path, BlueZName.adapter, "StartDiscovery", deadline: timings.other, during: .discover)
    }

    /// Discovery ends by itself when the adapter goes, is switched off, or the controller stalls.
    func adaptersChanged() {
        discoveries = discoveries.filter { objects.adapterIndex(of: $0) != nil }
        guard !missingDiscoveries.isEmpty else { return }
        scheduleDiscoveryCheck(after: timings.discoveryRetry)
    }

    /// Powered adapters on which discovery is wanted and not seen.
    private var missingDiscoveries: [UInt16] {
        var wanted = wantedDiscoveries.compactMap { objects.adapterIndex(of: $0) }
        if wantsAnyDiscovery, let first = try? readyAdapter(for: .discover) { wanted.append(first) }
        return Set(wanted).sorted().filter { index in
            guard let adapter = objects.adapters[index], adapter.powered, mayUse(adapter.address) else {
                return false
            }
            return !adapter.discovering || !discoveries.contains(adapter.address)
        }
    }

    func scheduleDiscoveryCheck(after time: Duration) {
        guard !discoveryCheckIsScheduled else { return }
        discoveryCheckIsScheduled = true
        after(time) { client in
            client.discoveryCheckIsScheduled = false
            guard !client.missingDiscoveries.isEmpty else { return }
            Task { await client.restartDiscovery() }
        }
    }

    /// "No discovery started" is as good.
    func endDiscovery(on address: BluetoothAddress) async {
        discoveries.remove(address)
        guard let index = objects.adapterIndex(of: address) else { return }
        _ = try? await call(
            path(ofAdapter: index), BlueZName.adapter, "StopDiscovery", deadline: timings.other,
            during: .discover)
    }

    private func restartDiscovery() async {
        for index in missingDiscoveries {
            if let address = objects.adapters[index]?.address, discoveries.contains(address) {
                // We believe in a session that the adapter does not: end it, or StartDiscovery says InProgress.
                await endDiscovery(on: address)
            }
            do throws(BlueZFailure) {
                guard missingDiscoveries.contains(index) else { continue }
                try await beginDiscovery(at: index)
            } catch {
                log("discovery could not be started", [("error", error.code), ("text", error.text)])
                if wantsDiscovery { scheduleDiscoveryCheck(after: timings.discoveryRetry * 6) }
            }
        }
    }
}
