import BandProfile
import Locking

/// Read by the pairing agent on the bus's queue.
final class AddressSet: Sendable {
    private let addresses = Guarded<Set<BluetoothAddress>>([])

    func contains(_ address: BluetoothAddress) -> Bool { addresses.withLock { $0.contains(address) } }
    func insert(_ address: BluetoothAddress) { addresses.withLock { _ = $0.insert(address) } }
    func remove(_ address: BluetoothAddress) { addresses.withLock { _ = $0.remove(address) } }
}
