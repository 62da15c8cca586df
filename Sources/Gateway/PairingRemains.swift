import BandProfile
import BlueZ

/// What a pairing that came to nothing left behind at BlueZ. Its argument is an adapter's address.
enum PairingRemains: Equatable {
    /// A device that was neither trusted nor bonded there before.
    case device(on: BluetoothAddress)
    /// The trust of a device that was bonded there before and not trusted.
    case trust(on: BluetoothAddress)

    /// `before` and `after`: every device that BlueZ knew and knows, on whichever adapter. Of adapters that are not `usable`
    /// nothing is ours.
    static func left(
        by band: BluetoothAddress, before: [DeviceSnapshot], after: [DeviceSnapshot],
        on usable: Set<BluetoothAddress>
    ) -> [PairingRemains] {
        after.compactMap { device in
            guard device.address == band, device.trusted || device.paired, let adapter = device.adapter,
                usable.contains(adapter)
            else { return nil }
            let known = before.first { $0.address == band && $0.adapter == adapter }
            guard let known, known.trusted || known.paired else { return .device(on: adapter) }
            return device.trusted && !known.trusted ? .trust(on: adapter) : nil
        }
    }
}
