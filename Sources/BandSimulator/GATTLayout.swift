import BandProfile

/// The services of a band as a gateway finds them, with their handles. Band History Profile 1, "Services".
enum GATTLayout {
    /// What a characteristic is for.
    enum Role: Sendable {
        case info, clock, controlPoint, historyData, ack
        case heartRate, batteryLevel, manufacturer, model, firmware, serviceChanged

        /// A band that asks for a bond asks for it for these.
        var isHistory: Bool {
            switch self {
            case .info, .clock, .controlPoint, .historyData, .ack: true
            default: false
            }
        }
    }

    struct Characteristic: Sendable {
        var role: Role
        var uuid: String
        /// The handle of the declaration: BlueZ names paths after it.
        var handle: UInt16
        var flags: [String]
        /// Client Characteristic Configuration, for what notifies or indicates.
        var configuration: UInt16?

        func has(_ flag: String) -> Bool { flags.contains(flag) }
        var notifies: Bool { has("notify") || has("indicate") }
    }

    struct Service: Sendable {
        var uuid: String
        var handle: UInt16
        var characteristics: [Characteristic]
    }

    static func assigned(_ number: UInt16) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits + "-0000-1000-8000-00805f9b34fb"
    }

    static let configurationUUID = assigned(0x2902)

    static let services: [Service] = [
        Service(
            uuid: assigned(0x1801), handle: 0x000a,
            characteristics: [
                Characteristic(
                    role: .serviceChanged, uuid: assigned(0x2a05), handle: 0x000b, flags: ["indicate"],
                    configuration: 0x000d)
            ]),
        Service(
            uuid: BandHistory.service, handle: 0x000e,
            characteristics: [
                Characteristic(role: .info, uuid: BandHistory.info, handle: 0x000f, flags: ["read"]),
                Characteristic(role: .clock, uuid: BandHistory.clock, handle: 0x0011, flags: ["read"]),
                Characteristic(
                    role: .controlPoint, uuid: BandHistory.controlPoint, handle: 0x0013, flags: ["write"]),
                Characteristic(
                    role: .historyData, uuid: BandHistory.historyData, handle: 0x0015, flags: ["notify"],
                    configuration: 0x0017),
                Characteristic(
                    role: .ack, uuid: BandHistory.ack, handle: 0x0018, flags: ["write-without-response"]),
            ]),
        Service(
            uuid: assigned(0x180d), handle: 0x0020,
            characteristics: [
                Characteristic(
                    role: .heartRate, uuid: assigned(0x2a37), handle: 0x0021, flags: ["notify"],
                    configuration: 0x0023)
            ]),
        Service(
            uuid: assigned(0x180f), handle: 0x0030,
            characteristics: [
                Characteristic(
                    role: .batteryLevel, uuid: assigned(0x2a19), handle: 0x0031, flags: ["read", "notify"],
                    configuration: 0x0033)
            ]),
        Service(
            uuid: assigned(0x180a), handle: 0x0040,
            characteristics: [
                Characteristic(role: .manufacturer, uuid: assigned(0x2a29), handle: 0x0041, flags: ["read"]),
                Characteristic(role: .model, uuid: assigned(0x2a24), handle: 0x0043, flags: ["read"]),
                Characteristic(role: .firmware, uuid: assigned(0x2a26), handle: 0x0045, flags: ["read"]),
            ]),
    ]

    /// The UUIDs property once services are resolved: with GAP, which is claimed and so has no objects.
    static let uuids: [String] = ([assigned(0x1800)] + services.map(\.uuid)).sorted()

    /// Fixed values of the Device Information service.
    static func text(_ role: Role) -> String? {
        switch role {
        case .manufacturer: "Bandferry"
        case .model: "Simulated Band"
        case .firmware: "1.0.0"
        default: nil
        }
    }
}
