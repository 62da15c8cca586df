import BandProfile
import BlueZModel
import DBus

/// What we know of BlueZ's objects: its tree, reduced to what a gateway asks of it. No I/O.
///
/// A value of the wrong type is passed over: BlueZ's versions differ, and one odd property is no reason to stop.
struct BlueZObjects: Equatable, Sendable {
    struct Adapter: Equatable, Sendable {
        var address: BluetoothAddress
        var powered = false
        var discovering = false
    }

    struct Device: Equatable, Sendable {
        var path: BlueZPath
        var address: BluetoothAddress
        var isRandom = false
        var name: String?
        var rssi: Int?
        var connected = false
        var paired = false
        /// Nil before BlueZ 5.65.
        var bonded: Bool?
        var trusted = false
        var blocked = false
        var servicesResolved = false
        var uuids: [String] = []
        var battery: Int?
    }

    struct Characteristic: Equatable, Sendable {
        var path: BlueZPath
        var uuid: String
        var flags: [String] = []
        /// The property is there: AcquireNotify may be called.
        var offersNotifyAcquire = false
        var offersWriteAcquire = false
    }

    /// What a change was about.
    enum Change: Equatable, Sendable {
        case adapter
        /// `heard` when it is a sign of life on the air.
        case device(String, heard: Bool)
        case deviceGone(String, BluetoothAddress)
        case gatt(device: String)
    }

    private(set) var adapters: [UInt16: Adapter] = [:]
    private(set) var devices: [String: Device] = [:]
    /// UUIDs of services by path.
    private(set) var services: [String: String] = [:]
    private(set) var characteristics: [String: Characteristic] = [:]

    // MARK: changes

    /// All of GetManagedObjects.
    static func reading(_ reply: [BusValue]) -> BlueZObjects {
        var objects = BlueZObjects()
        for entry in reply.first?.entries ?? [] {
            guard let path = entry.key.text else { continue }
            _ = objects.added(path, entry.value)
        }
        return objects
    }

    /// InterfacesAdded.
    mutating func added(_ path: String, _ interfaces: BusValue) -> [Change] {
        guard let parsed = BlueZPath(path) else { return [] }
        var changes: [Change] = []
        for entry in interfaces.entries ?? [] {
            guard let interface = entry.key.text, let properties = entry.value.properties else { continue }
            switch interface {
            case BlueZName.adapter where parsed.device == nil:
                guard let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) }) else {
                    continue
                }
                adapters[parsed.adapter] = Adapter(address: address)
            case BlueZName.device where parsed.service == nil:
                guard let address = parsed.device else { continue }
                devices[path] = Device(path: parsed, address: address)
            case BlueZName.gattService where parsed.characteristic == nil:
                guard let uuid = properties["UUID"]?.text else { continue }
                services[path] = uuid
            case BlueZName.characteristic where parsed.characteristic != nil && parsed.descriptor == nil:
                guard let uuid = properties["UUID"]?.text else { continue }
                characteristics[path] = Characteristic(path: parsed, uuid: uuid)
            case BlueZName.battery: break
            default: continue
            }
            changes += changed(path, interface, properties, invalidated: [], isNew: true)
        }
        return changes
    }

    /// InterfacesRemoved.
    mutating func removed(_ path: String, _ interfaces: [String]) -> [Change] {
        guard let parsed = BlueZPath(path) else { return [] }
        var changes: [Change] = []
        for interface in interfaces {
            switch interface {
            case BlueZName.adapter where parsed.device == nil:
                if adapters.removeValue(forKey: parsed.adapter) != nil { changes.append(.adapter) }
            case BlueZName.device:
                guard let device = devices.removeValue(forKey: path) else { continue }
                changes.append(.deviceGone(path, device.address))
            case BlueZName.battery:
                devices[path]?.battery = nil
            case BlueZName.gattService:
                guard services.removeValue(forKey: path) != nil else { continue }
                changes.append(
                    .gatt(device: BlueZPath(adapter: parsed.adapter, device: parsed.device).description))
            case BlueZName.characteristic:
                guard characteristics.removeValue(forKey: path) != nil else { continue }
                changes.append(
                    .gatt(device: BlueZPath(adapter: parsed.adapter, device: parsed.device).description))
            default: break
            }
        }
        return changes
    }

    /// PropertiesChanged.
    mutating func changed(
        _ path: String, _ interface: String, _ properties: BusProperties, invalidated: [String],
        isNew: Bool = false
    ) -> [Change] {
        switch interface {
        case BlueZName.adapter:
            guard let parsed = BlueZPath(path), parsed.device == nil, adapters[parsed.adapter] != nil else {
                return []
            }
            let before = adapters[parsed.adapter]
            adapters[parsed.adapter]?.update(properties)
            return isNew || before != adapters[parsed.adapter] ? [.adapter] : []
        case BlueZName.device:
            guard let before = devices[path] else { return [] }
            devices[path]?.update(properties, invalidated: invalidated)
            let heard = properties["RSSI"] != nil
            return isNew || heard || before != devices[path] ? [.device(path, heard: heard)] : []
        case BlueZName.battery:
            guard let percentage = properties["Percentage"]?.integer, devices[path] != nil else { return [] }
            devices[path]?.battery = percentage
            return [.device(path, heard: false)]
        case BlueZName.characteristic:
            guard let before = characteristics[path] else { return [] }
            characteristics[path]?.update(properties)
            guard isNew || before != characteristics[path] else { return [] }
            return [
                .gatt(device: BlueZPath(adapter: before.path.adapter, device: before.path.device).description)
            ]
        case BlueZName.gattService:
            guard let parsed = BlueZPath(path), isNew else { return [] }
            return [.gatt(device: BlueZPath(adapter: parsed.adapter, device: parsed.device).description)]
        default: return []
        }
    }

    // MARK: questions

    func adapterIndex(of address: BluetoothAddress) -> UInt16? {
        adapters.first { $0.value.address == address }?.key
    }

    /// The device on one of these adapters: where it is connected, else where it is heard best.
    func device(_ address: BluetoothAddress, on adapters: Set<UInt16>) -> (path: String, device: Device)? {
        let candidates = devices.filter {
            $0.value.address == address && adapters.contains($0.value.path.adapter)
        }
        let best = candidates.max { left, right in
            let (a, b) = (left.value, right.value)
            if a.connected != b.connected { return b.connected }
            if a.rssi != b.rssi { return (a.rssi ?? .min) < (b.rssi ?? .min) }
            return a.path.adapter > b.path.adapter
        }
        return best.map { ($0.key, $0.value) }
    }

    /// One of these adapters that has keys of the device, when all that have are off.
    func switchedOffAdapter(
        withKeysOf address: BluetoothAddress, among adapters: Set<UInt16>
    ) -> BluetoothAddress? {
        let holders = devices.values.filter { $0.address == address && $0.paired }.map(\.path.adapter)
            .filter { adapters.contains($0) }.compactMap { self.adapters[$0] }
        guard !holders.contains(where: \.powered) else { return nil }
        return holders.map(\.address).min()
    }

    /// Characteristics of a device by UUID. With two services of one UUID the lower handles win.
    func characteristics(of device: String) -> [String: Characteristic] {
        let prefix = device + "/"
        let own = characteristics.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }
        return Dictionary(own.map { ($0.value.uuid, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    func snapshot(of path: String) -> DeviceSnapshot? {
        guard let device = devices[path] else { return nil }
        return DeviceSnapshot(
            address: device.address, addressType: device.isRandom ? .random : .public,
            adapter: adapters[device.path.adapter]?.address, name: device.name, rssi: device.rssi,
            connected: device.connected, paired: device.paired, bonded: device.bonded ?? device.paired,
            trusted: device.trusted,
            blocked: device.blocked, servicesResolved: device.servicesResolved, uuids: device.uuids,
            battery: device.battery)
    }

    var adapterSnapshots: [AdapterSnapshot] {
        adapters.sorted { $0.key < $1.key }.map { index, adapter in
            AdapterSnapshot(
                address: adapter.address, name: BlueZPath(adapter: index).adapterName,
                powered: adapter.powered,
                discovering: adapter.discovering)
        }
    }
}

extension BlueZObjects.Adapter {
    fileprivate mutating func update(_ properties: BusProperties) {
        if let address = properties["Address"]?.text.flatMap({ BluetoothAddress($0) }) {
            self.address = address
        }
        if let flag = properties["Powered"]?.flag { powered = flag }
        if let flag = properties["Discovering"]?.flag { discovering = flag }
    }
}

extension BlueZObjects.Device {
    fileprivate mutating func update(_ properties: BusProperties, invalidated: [String]) {
        if let type = properties["AddressType"]?.text { isRandom = type == "random" }
        if let text = properties["Name"]?.text { name = text }
        if let value = properties["RSSI"]?.integer { rssi = value }
        if let flag = properties["Connected"]?.flag { connected = flag }
        if let flag = properties["Paired"]?.flag { paired = flag }
        if let flag = properties["Bonded"]?.flag { bonded = flag }
        if let flag = properties["Trusted"]?.flag { trusted = flag }
        if let flag = properties["Blocked"]?.flag { blocked = flag }
        if let flag = properties["ServicesResolved"]?.flag { servicesResolved = flag }
        if let uuids = properties["UUIDs"]?.strings { self.uuids = uuids.map { $0.lowercased() } }
        if invalidated.contains("RSSI") { rssi = nil }
        if invalidated.contains("Name") { name = nil }
    }
}

extension BlueZObjects.Characteristic {
    fileprivate mutating func update(_ properties: BusProperties) {
        if let flags = properties["Flags"]?.strings { self.flags = flags }
        if properties["NotifyAcquired"] != nil { offersNotifyAcquire = true }
        if properties["WriteAcquired"] != nil { offersWriteAcquire = true }
    }
}
