/// A D-Bus value. Signatures are D-Bus's own.
public enum BusValue: Equatable, Sendable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// `ay`, without a value per byte.
    case bytes([UInt8])
    /// Any other array; `element` is the element's signature, so that an empty array has one.
    case array(element: String, [BusValue])
    /// `a{kv}`; keys keep their order.
    case dictionary(key: String, value: String, [BusEntry])
    case structure([BusValue])
    indirect case variant(BusValue)
    /// `h`. It travels with the message: whoever receives it owns it and closes it; sending closes it here.
    case fileDescriptor(Int32)
}

/// One entry of a dictionary.
public struct BusEntry: Equatable, Sendable {
    public var key: BusValue
    public var value: BusValue

    public init(_ key: BusValue, _ value: BusValue) {
        self.key = key
        self.value = value
    }
}

/// `a{sv}` as a Swift dictionary, values unwrapped from their variants.
public typealias BusProperties = [String: BusValue]

// MARK: building

extension BusValue {
    /// `a{sv}`, in the order of the names.
    public static func properties(_ properties: BusProperties) -> BusValue {
        .dictionary(
            key: "s", value: "v",
            properties.sorted { $0.key < $1.key }.map { BusEntry(.string($0.key), .variant($0.value)) })
    }

    /// `as`
    public static func strings(_ strings: [String]) -> BusValue {
        .array(element: "s", strings.map(BusValue.string))
    }
}

// MARK: reading; nil when the value is of another type

extension BusValue {
    /// The value inside any number of variants.
    public var unwrapped: BusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    /// Text of a string, an object path or a signature.
    public var text: String? {
        switch unwrapped {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    public var flag: Bool? {
        if case .bool(let flag) = unwrapped { flag } else { nil }
    }

    /// Any integer type, widened.
    public var integer: Int? {
        switch unwrapped {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(value)
        case .uint64(let value): Int(exactly: value)
        default: nil
        }
    }

    public var bytes: [UInt8]? {
        if case .bytes(let bytes) = unwrapped { bytes } else { nil }
    }

    /// The strings of an `as` or `ao`.
    public var strings: [String]? {
        guard case .array(let element, let values) = unwrapped, element == "s" || element == "o" else {
            return nil
        }
        return values.compactMap(\.text)
    }

    public var elements: [BusValue]? {
        switch unwrapped {
        case .array(_, let values), .structure(let values): values
        default: nil
        }
    }

    public var entries: [BusEntry]? {
        if case .dictionary(_, _, let entries) = unwrapped { entries } else { nil }
    }

    /// An `a{sv}` with the values unwrapped; of two equal keys the later wins.
    public var properties: BusProperties? {
        guard case .dictionary(let key, _, let entries) = unwrapped, key == "s" else { return nil }
        var properties = BusProperties(minimumCapacity: entries.count)
        for entry in entries {
            guard let name = entry.key.text else { continue }
            properties[name] = entry.value.unwrapped
        }
        return properties
    }
}
