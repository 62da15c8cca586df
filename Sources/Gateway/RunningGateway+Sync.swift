import BandProfile
import GatewayBus
import GatewayModel
import Store

/// The command that waits for bands.
extension RunningGateway {
    func sync(_ address: BluetoothAddress?, noAck: Bool) async throws -> [SyncReport] {
        let chosen: [BandKeeper]
        if let address {
            guard let keeper = keepers[address] else {
                throw CommandFailure(
                    .notFound, "\(address) is not adopted here; `bandferry adopt \(address)` adopts it")
            }
            chosen = [keeper]
        } else {
            chosen = keepers.values.sorted { $0.band.address < $1.band.address }
        }
        let gapsBefore = try await gapCounts()
        let results = await withTaskGroup(of: (BluetoothAddress, SyncResult).self) { group in
            for keeper in chosen { group.addTask { (keeper.band.address, await keeper.sync(noAck: noAck)) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let gapsAfter = try await gapCounts()
        return chosen.compactMap { keeper in
            let address = keeper.band.address
            return results[address].map {
                SyncReport(
                    address: address, stored: $0.stored,
                    gaps: (gapsAfter[address] ?? 0) - (gapsBefore[address] ?? 0),
                    problem: $0.problem)
            }
        }
    }

    private func gapCounts() async throws -> [BluetoothAddress: Int] {
        try await store.bandStatuses().reduce(into: [:]) { $0[$1.address] = $1.gaps }
    }
}
