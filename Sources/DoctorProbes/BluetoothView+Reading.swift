import BandProfile
import BlueZModel
import DBus
import Doctor

extension BluetoothView {
    /// All of GetManagedObjects, in whatever order. What has an unexpected type is passed over.
    init(reading reply: [BusValue]) {
        self.init()
        var devices: [String: Device] = [:]
        var characteristics: [(path: BlueZPath, properties: BusProperties)] = []
        for entry in reply.first?.entries ?? [] {
            guard let path = entry.key.text.flatMap({ BlueZPath($0) }) else { continue }
            for interface in entry.value.entries ?? [] {
                guard let properties = interface.value.properties else { continue }
                switch interface.key.text {
                case BlueZName.adapter:
                    guard let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) }) else {
                        continue
                    }
                    adapters.append(
                        Adapter(
                            address: address, name: path.adapterName,
                            isPowered: properties["Powered"]?.flag ?? false))
                case BlueZName.device:
                    guard let device = Device(path, properties) else { continue }
                    devices[Self.key(path)] = device
                case BlueZName.characteristic: characteristics.append((path, properties))
                default: continue
                }
            }
        }
        for (path, properties) in characteristics {
            guard let uuid = properties["UUID"]?.text?.lowercased() else { continue }
            let key = Self.key(path)
            if uuid == BandHistory.info { devices[key]?.showsHistory = true }
            guard uuid == BandHistory.historyData else { continue }
            if properties["NotifyAcquired"]?.flag == true || properties["Notifying"]?.flag == true {
                devices[key]?.isNotifying = true
            }
        }
        adapters.sort { $0.name < $1.name }
        self.devices = devices.keys.sorted().compactMap { devices[$0] }
    }

    private static func key(_ path: BlueZPath) -> String {
        BlueZPath(adapter: path.adapter, device: path.device).description
    }
}

extension BluetoothView.Device {
    fileprivate init?(_ path: BlueZPath, _ properties: BusProperties) {
        guard let address = path.device else { return nil }
        self.init(address: address, adapter: path.adapterName)
        isBand = properties["UUIDs"]?.strings?.contains { $0.lowercased() == BandHistory.service } ?? false
        isConnected = properties["Connected"]?.flag ?? false
        // Before 5.65 there is only Paired.
        isBonded = properties["Bonded"]?.flag ?? properties["Paired"]?.flag ?? false
        areServicesResolved = properties["ServicesResolved"]?.flag ?? false
        rssi = properties["RSSI"]?.integer
    }
}
