import GatewayConfiguration
import GatewayModel
import Store
import Threading
import Timekeeping

/// Opens the store on a queue of its own: the check of a large database, or the salvage of a damaged one, may take
/// minutes, and the daemon answers meanwhile.
actor StoreOpener {
    private let executor = QueueExecutor(label: "org.bandferry.store-opener")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func open(_ settings: GatewaySettings) throws -> Store {
        try Store.open(
            directory: settings.configuration.stateDirectory,
            limits: StoreLimits(settings.configuration.storage), zones: settings.zones.lookup,
            now: settings.clock.wall)
    }
}

extension StoreLimits {
    init(_ storage: StorageSettings) {
        self.init(
            freeSpaceFloor: storage.freeSpaceFloor,
            keptFor: storage.keepDays.map { .seconds($0 * 86_400) })
    }
}
