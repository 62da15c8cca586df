import BandProfile
import BlueZModel

/// An adapter as BlueZ shows it.
public struct AdapterSnapshot: Sendable, Equatable {
    public var address: BluetoothAddress
    /// `hci0`: for people only, since it changes with each plug-in.
    public var name: String
    public var powered: Bool
    public var discovering: Bool
}

/// What BlueZ shows of the radio at a moment.
public struct RadioSnapshot: Sendable, Equatable {
    public struct Adapter: Sendable, Equatable {
        public var adapter: AdapterSnapshot
        /// Whatever is connected over it, bands or not.
        public var connected: Set<BluetoothAddress>
        /// The bands asked for that BlueZ has an object of there.
        public var known: Set<BluetoothAddress>
    }

    /// A band's last advertisement on one adapter.
    public struct Sighting: Sendable, Equatable {
        public var band: BluetoothAddress
        public var adapter: BluetoothAddress
        /// dBm.
        public var rssi: Int
        public var ago: Duration
    }

    public var adapters: [Adapter] = []
    public var sightings: [Sighting] = []
}

/// A device as BlueZ shows it.
public struct DeviceSnapshot: Sendable, Equatable {
    public enum AddressType: String, Sendable { case `public`, random }

    public var address: BluetoothAddress
    public var addressType: AddressType
    /// The adapter that sees it.
    public var adapter: BluetoothAddress?
    public var name: String?
    /// dBm; nil when it was not heard in the current discovery.
    public var rssi: Int?
    public var connected: Bool
    public var paired: Bool
    public var bonded: Bool
    public var trusted: Bool
    public var blocked: Bool
    public var servicesResolved: Bool
    public var uuids: [String]
    /// Percent, where bluetoothd knows it.
    public var battery: Int?

    /// It says that it has the Band History service, in an advertisement or when it was last connected.
    public var isBand: Bool { uuids.contains(BandHistory.service) }
}

/// What happens at BlueZ, in order.
public enum BlueZEvent: Sendable, Equatable {
    /// An adapter came, went or changed.
    case adaptersChanged([AdapterSnapshot])
    /// A band was heard or changed.
    case deviceSeen(DeviceSnapshot)
    /// BlueZ has forgotten a band.
    case deviceGone(BluetoothAddress)
    /// The link to a device that we had connected dropped.
    case linkLost(BluetoothAddress)
    /// Nobody owns `org.bluez`: bluetoothd stopped or crashed. All links are lost.
    case bluetoothdGone
    /// bluetoothd is there and its objects have been read.
    case bluetoothdBack
    /// bluetoothd is there, and does not list its objects. It is asked again.
    case bluetoothdSilent
    /// The message bus dropped us. `start()` opens a new connection.
    case busLost
}
