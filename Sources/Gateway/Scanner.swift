import BandProfile
import BlueZ
import BlueZModel
import Systemd

/// Owns discovery: it runs while somebody looks for a band and at no other time.
actor Scanner {
    private let blueZ: BlueZClient
    private let log: Log
    private var users = 0
    private var isDiscovering = false
    private var waiters: [BluetoothAddress: [WakeGate]] = [:]

    init(blueZ: BlueZClient, log: Log) {
        self.blueZ = blueZ
        self.log = log
    }

    /// Returns as soon as the band was heard, or is connected already. Throws when it was not heard in time, and
    /// soon after `isGivenUp` turned true.
    ///
    /// A connection attempt to an absent band would keep the radio busy for 40 s, and on some boards take Wi-Fi
    /// down with it; listening first costs next to nothing.
    func find(
        _ address: BluetoothAddress, atMost limit: Duration, unless isGivenUp: @Sendable () async -> Bool
    ) async throws {
        if await isHeard(address) { return }
        let gate = WakeGate()
        waiters[address, default: []].append(gate)
        defer { waiters[address]?.removeAll { $0 === gate } }
        try await begin()
        let deadline = ContinuousClock.now + limit
        while true {
            if await isHeard(address) { break }
            let left = deadline - ContinuousClock.now
            guard left > .zero else {
                await end()
                throw BlueZFailure.notHeard
            }
            if await isGivenUp() {
                await end()
                throw BlueZFailure.stopped
            }
            // Looked at again now and then even without an event: an event may have been dropped.
            await gate.wait(atMost: min(left, .seconds(2)))
        }
        await end()
    }

    /// BlueZ drops the RSSI when discovery stops: where there is one, the band was heard just now.
    private func isHeard(_ address: BluetoothAddress) async -> Bool {
        guard let device = await blueZ.device(address) else { return false }
        return device.connected || device.rssi != nil
    }

    /// Listens for so long; what was heard is in the client's view then.
    func listen(for limit: Duration) async throws {
        try await begin()
        try? await Task.sleep(for: limit)
        await end()
    }

    func heard(_ address: BluetoothAddress) {
        for gate in waiters[address] ?? [] { gate.signal() }
    }

    /// A bluetoothd that restarted knows nothing of our discovery.
    func bluetoothdIsBack() async {
        isDiscovering = false
        guard users > 0 else { return }
        do { try await start() } catch {
            log.warning("discovery could not be started again", [("error", .error(error))])
        }
    }

    private func begin() async throws {
        users += 1
        do { try await start() } catch {
            users -= 1
            throw error
        }
    }

    private func start() async throws {
        guard !isDiscovering else { return }
        isDiscovering = true
        do { try await blueZ.startDiscovery() } catch {
            isDiscovering = false
            throw error
        }
    }

    private func end() async {
        users -= 1
        guard users == 0, isDiscovering else { return }
        isDiscovering = false
        await blueZ.stopDiscovery()
    }
}
