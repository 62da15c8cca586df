import BandProfile
import DBus

/// The objects that a band on the air shows bluetoothd: its GATT application and its advertisement.
enum RadioApplication {
    static let root = "/org/bandferry/radio"
    static let advertisement = "/org/bandferry/advertisement"

    static let advertisementInterface = InterfaceDescription(
        "org.bluez.LEAdvertisement1", methods: [.init("Release")],
        properties: [
            .init("Type", "s"), .init("ServiceUUIDs", "as"), .init("LocalName", "s"),
            .init("Discoverable", "b"),
        ])

    /// Path of a characteristic in the application.
    static func path(_ role: GATTLayout.Role) -> String? {
        for (place, service) in services.enumerated() {
            if let index = service.characteristics.firstIndex(where: { $0.role == role }) {
                return "\(root)/service\(place)/char\(index)"
            }
        }
        return nil
    }

    /// bluetoothd has a GATT service of its own.
    private static let services = GATTLayout.services.filter { $0.uuid != GATTLayout.assigned(0x1801) }

    static func export(on tree: ObjectTree, name: String, encrypted: Bool, acquireNotify: Bool) {
        for (place, service) in services.enumerated() {
            let path = "\(root)/service\(place)"
            tree.export(
                path, [BlueZInterfaces.service],
                properties: [
                    BlueZInterfaces.service.name: ["UUID": .string(service.uuid), "Primary": .bool(true)]
                ], signal: false)
            for (index, characteristic) in service.characteristics.enumerated() {
                var properties: BusProperties = [
                    "UUID": .string(characteristic.uuid), "Service": .objectPath(path),
                    "Flags": .strings(encrypted ? encryptedFlags(characteristic) : characteristic.flags),
                ]
                // Its presence tells bluetoothd to call AcquireNotify.
                if characteristic.role == .historyData, acquireNotify {
                    properties["NotifyAcquired"] = .bool(false)
                }
                tree.export(
                    "\(path)/char\(index)", [BlueZInterfaces.characteristic],
                    properties: [BlueZInterfaces.characteristic.name: properties], signal: false)
            }
        }
        tree.export(
            advertisement, [advertisementInterface],
            properties: [
                advertisementInterface.name: [
                    "Type": .string("peripheral"), "ServiceUUIDs": .strings([BandHistory.service]),
                    "LocalName": .string(name), "Discoverable": .bool(true),
                ]
            ], signal: false)
    }

    /// What reads and requests need suffices: nobody subscribes or acks without them.
    private static func encryptedFlags(_ characteristic: GATTLayout.Characteristic) -> [String] {
        guard characteristic.role.isHistory else { return characteristic.flags }
        return characteristic.flags.map { flag in
            switch flag {
            case "read": "encrypt-read"
            case "write": "encrypt-write"
            default: flag
            }
        }
    }
}
