import BandProfile
import DBus
import GatewayModel

extension SeenBand {
    var properties: BusProperties {
        var result: BusProperties = ["Address": .string(address.description)]
        result["Name"] = name.map { .string($0) }
        result["RSSI"] = rssi.map { .int16(Int16(clamping: $0)) }
        result["Mode"] = mode.map { .string($0.rawValue) }
        return result
    }

    init?(_ properties: BusProperties) {
        guard let address = properties.string("Address").flatMap({ BluetoothAddress($0) }) else { return nil }
        self.init(
            address: address, name: properties.string("Name"), rssi: properties.integer("RSSI"),
            mode: properties.string("Mode").flatMap { BandMode(rawValue: $0) })
    }
}

extension SyncReport {
    var properties: BusProperties {
        var result: BusProperties = [
            "Address": .string(address.description), "Stored": .uint64(UInt64(clamping: stored)),
            "Gaps": .uint64(UInt64(clamping: gaps)),
        ]
        result["Problem"] = problem.map { .properties($0.properties) }
        return result
    }

    init?(_ properties: BusProperties) {
        guard let address = properties.string("Address").flatMap({ BluetoothAddress($0) }) else { return nil }
        self.init(
            address: address, stored: properties.integer("Stored") ?? 0,
            gaps: properties.integer("Gaps") ?? 0,
            problem: properties.dictionary("Problem").flatMap { Problem($0) })
    }
}

extension AdoptRequest {
    var options: BusProperties {
        var result: BusProperties = ["Mode": .string(mode.rawValue), "Ack": .string(ack.rawValue)]
        if isInteractive { result["Interactive"] = .bool(true) }
        result["DeviceID"] = device.map { .string($0.text) }
        result["Name"] = name.map { .string($0) }
        return result
    }

    /// What a caller sent, judged as the configuration file's values are.
    init(address text: String, options: BusProperties) throws(CommandFailure) {
        guard let address = BluetoothAddress(text) else {
            throw CommandFailure(.invalidArguments, "not an address; write it as F0:F1:F2:F3:F4:F5")
        }
        self.init(address: address)
        for (key, value) in options {
            switch (key, value) {
            case ("Mode", .string(let text)):
                guard let mode = BandMode(rawValue: text) else {
                    throw CommandFailure(.invalidArguments, "no such mode; write own or observe")
                }
                self.mode = mode
            case ("Ack", .string(let text)):
                guard let ack = AckPolicy(rawValue: text) else {
                    throw CommandFailure(.invalidArguments, "no such time to ack; write stored or upload")
                }
                self.ack = ack
            case ("Interactive", .bool(let flag)): isInteractive = flag
            case ("DeviceID", .string(let text)):
                guard let device = DeviceID(text) else {
                    throw CommandFailure(
                        .invalidArguments,
                        "not a device id; write 1 to 64 of the characters A-Z a-z 0-9 _ . -")
                }
                self.device = device
            case ("Name", .string(let text)):
                guard (1...64).contains(text.count), !text.unicodeScalars.contains(where: { $0.value < 0x20 })
                else {
                    throw CommandFailure(.invalidArguments, "not a name; write 1 to 64 characters")
                }
                name = text
            default:
                throw CommandFailure(.invalidArguments, "unknown option or wrong type: \(key.prefix(40))")
            }
        }
    }
}
