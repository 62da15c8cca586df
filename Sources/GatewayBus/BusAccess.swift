import DBus
import GatewayModel

/// Reading a value of a known type; nil when absent or of another type.
extension BusProperties {
    func string(_ key: String) -> String? {
        switch self[key] {
        case .string(let text): text
        default: nil
        }
    }

    func bool(_ key: String) -> Bool? {
        if case .bool(let value) = self[key] { return value }
        return nil
    }

    func integer(_ key: String) -> Int? {
        switch self[key] {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(exactly: value)
        case .uint64(let value): Int(exactly: value)
        default: nil
        }
    }

    func timestamp(_ key: String) -> Timestamp? {
        if case .int64(let milliseconds) = self[key] { return Timestamp(milliseconds: milliseconds) }
        return nil
    }

    func dictionary(_ key: String) -> BusProperties? { self[key].flatMap(\.asProperties) }

    func list(_ key: String) -> [BusProperties] { self[key].map(\.asPropertiesList) ?? [] }
}

extension BusValue {
    /// `a{sv}`, keys in order, so that equal dictionaries are equal messages.
    static func properties(_ properties: BusProperties) -> BusValue {
        .dictionary(
            key: "s", value: "v",
            properties.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key), .variant($0.value)) })
    }

    /// `a{sv}` read back; nil for another type.
    var asProperties: BusProperties? {
        guard case .dictionary(key: "s", value: "v", let entries) = unwrapped else { return nil }
        var result: BusProperties = [:]
        for entry in entries {
            guard case .string(let key) = entry.key else { return nil }
            result[key] = entry.value.unwrapped
        }
        return result
    }

    /// `aa{sv}`; empty for another type.
    var asPropertiesList: [BusProperties] {
        guard case .array(_, let elements) = unwrapped else { return [] }
        return elements.compactMap(\.asProperties)
    }

    private var unwrapped: BusValue {
        if case .variant(let value) = self { return value }
        return self
    }
}
