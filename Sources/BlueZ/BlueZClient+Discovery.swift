import BandProfile
import BlueZModel
import DBus

// Discovery belongs to our bus connection: bluetoothd ends it when we go.

extension BlueZClient {
    /// Searches for bands until `stopDiscovery`, also across restarts of bluetoothd and of the adapter.
    public func startDiscovery() async throws(BlueZFailure) {
        wantsDiscovery = true
        try await beginDiscovery()
    }

    public func stopDiscovery() async {
        wantsDiscovery = false
        guard let address = discoveryAdapter, let index = objects.adapterIndex(of: address) else { return }
        await endDiscovery(at: index)
    }

    public var isDiscovering: Bool { discoveryAdapter != nil }

    private func beginDiscovery() async throws(BlueZFailure) {
        let index = try readyAdapter(for: .discover)
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
            _ = try await call(
                path, BlueZName.adapter, "StartDiscovery", deadline: timings.other, during: .discover)
        } catch {
            // Each bus connection has one discovery: ours runs already.
            guard error.kind == .inProgress else { throw error }
        }
        discoveryAdapter = address
        log("discovery started", [("adapter", BlueZPath(adapter: index).adapterName)])
    }

    /// Discovery ends by itself when the adapter goes, is switched off, or the controller stalls.
    func adaptersChanged() {
        if let address = discoveryAdapter, objects.adapterIndex(of: address) == nil { discoveryAdapter = nil }
        guard wantsDiscovery, !discoveryIsSeen else { return }
        scheduleDiscoveryCheck(after: timings.discoveryRetry)
    }

    private var discoveryIsSeen: Bool {
        guard let address = discoveryAdapter, let index = objects.adapterIndex(of: address) else {
            return false
        }
        return objects.adapters[index]?.discovering == true
    }

    func scheduleDiscoveryCheck(after time: Duration) {
        guard !discoveryCheckIsScheduled else { return }
        discoveryCheckIsScheduled = true
        after(time) { client in
            client.discoveryCheckIsScheduled = false
            guard client.wantsDiscovery, !client.discoveryIsSeen else { return }
            Task { await client.restartDiscovery() }
        }
    }

    private func endDiscovery(at index: UInt16) async {
        discoveryAdapter = nil
        // "No discovery started" is as good.
        _ = try? await call(
            path(ofAdapter: index), BlueZName.adapter, "StopDiscovery", deadline: timings.other,
            during: .discover)
    }

    private func restartDiscovery() async {
        guard wantsDiscovery, let index = adapterInUse, objects.adapters[index]?.powered == true else {
            return
        }
        if discoveryAdapter != nil {
            // We believe in a session that the adapter does not: end it, or StartDiscovery says InProgress.
            await endDiscovery(at: index)
        }
        do throws(BlueZFailure) {
            try await beginDiscovery()
        } catch {
            log("discovery could not be started", [("error", error.code), ("text", error.text)])
            if wantsDiscovery { scheduleDiscoveryCheck(after: timings.discoveryRetry * 6) }
        }
    }
}
