import CDBus

/// Reads a message's arguments. libdbus has checked the encoding; this bounds what it may cost.
struct MessageDecoder {
    /// Values still allowed: a message of 128 MiB of booleans must not become gigabytes here.
    private var budget: Int
    /// File descriptors are taken only where one is expected, so that nobody can fill our table with theirs.
    private let takesFileDescriptors: Bool

    init(budget: Int, takesFileDescriptors: Bool) {
        self.budget = budget
        self.takesFileDescriptors = takesFileDescriptors
    }

    mutating func arguments(of message: OpaquePointer) throws(BusError) -> [BusValue] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return [] }
        return try values(&iterator, depth: 0)
    }

    /// All values of a container, to its end.
    private mutating func values(
        _ iterator: inout DBusMessageIter, depth: Int
    ) throws(BusError) -> [BusValue] {
        var values: [BusValue] = []
        do {
            while dbus_message_iter_get_arg_type(&iterator) != BusType.invalid {
                values.append(try value(&iterator, depth: depth))
                dbus_message_iter_next(&iterator)
            }
        } catch {
            for value in values { value.closeFileDescriptors() }
            throw error
        }
        return values
    }

    private mutating func value(_ iterator: inout DBusMessageIter, depth: Int) throws(BusError) -> BusValue {
        guard depth < maximumBusDepth else { throw .refused("it is nested too deeply") }
        guard budget > 0 else { throw .refused("it holds too many values") }
        budget -= 1
        let type = dbus_message_iter_get_arg_type(&iterator)
        switch type {
        case BusType.byte: return .byte(basic(&iterator, 0))
        case BusType.bool: return .bool(basic(&iterator, dbus_bool_t(0)) != 0)
        case BusType.int16: return .int16(basic(&iterator, 0))
        case BusType.uint16: return .uint16(basic(&iterator, 0))
        case BusType.int32: return .int32(basic(&iterator, 0))
        case BusType.uint32: return .uint32(basic(&iterator, 0))
        case BusType.int64: return .int64(basic(&iterator, 0))
        case BusType.uint64: return .uint64(basic(&iterator, 0))
        case BusType.double: return .double(basic(&iterator, 0))
        case BusType.string: return .string(string(&iterator))
        case BusType.objectPath: return .objectPath(string(&iterator))
        case BusType.signature: return .signature(string(&iterator))
        case BusType.fileDescriptor: return try fileDescriptor(&iterator)
        case BusType.array: return try array(&iterator, depth: depth)
        case BusType.structure:
            var inside = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inside)
            return .structure(try values(&inside, depth: depth + 1))
        case BusType.variant:
            var inside = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inside)
            return .variant(try value(&inside, depth: depth + 1))
        default: throw .refused("it holds a value of unknown type \(type)")
        }
    }

    private mutating func array(_ iterator: inout DBusMessageIter, depth: Int) throws(BusError) -> BusValue {
        var inside = DBusMessageIter()
        let elementType = dbus_message_iter_get_element_type(&iterator)
        dbus_message_iter_recurse(&iterator, &inside)
        if elementType == BusType.byte {
            var start: UnsafePointer<UInt8>?
            var count: Int32 = 0
            dbus_message_iter_get_fixed_array(&inside, &start, &count)
            guard let start, count > 0 else { return .bytes([]) }
            return .bytes([UInt8](UnsafeBufferPointer(start: start, count: Int(count))))
        }
        // The iterator inside an empty array still knows the declared type.
        let element = signature(&inside)
        guard elementType == BusType.entry else {
            return .array(element: element, try values(&inside, depth: depth + 1))
        }
        // "{kv}": the key of a dictionary is one basic type, so one letter.
        let parts = element.utf8.dropFirst().dropLast()
        guard let key = parts.first else { throw .refused("it holds a dictionary without a type") }
        return .dictionary(
            key: String(Unicode.Scalar(key)), value: String(decoding: parts.dropFirst(), as: UTF8.self),
            try entries(&inside, depth: depth + 2))
    }

    private mutating func entries(
        _ iterator: inout DBusMessageIter, depth: Int
    ) throws(BusError) -> [BusEntry] {
        var entries: [BusEntry] = []
        do {
            while dbus_message_iter_get_arg_type(&iterator) == BusType.entry {
                var pair = DBusMessageIter()
                dbus_message_iter_recurse(&iterator, &pair)
                let key = try value(&pair, depth: depth)
                dbus_message_iter_next(&pair)
                entries.append(BusEntry(key, try value(&pair, depth: depth)))
                dbus_message_iter_next(&iterator)
            }
        } catch {
            for entry in entries { entry.value.closeFileDescriptors() }
            throw error
        }
        return entries
    }

    private func fileDescriptor(_ iterator: inout DBusMessageIter) throws(BusError) -> BusValue {
        guard takesFileDescriptors else { throw .refused("it carries a file descriptor") }
        let descriptor = basic(&iterator, Int32(-1))
        guard descriptor >= 0 else { throw .refused("its file descriptor is missing") }
        return .fileDescriptor(descriptor)
    }

    private func basic<Value: BitwiseCopyable>(_ iterator: inout DBusMessageIter, _ initial: Value) -> Value {
        var value = initial
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }

    private func string(_ iterator: inout DBusMessageIter) -> String {
        var start: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &start)
        return start.map { String(cString: $0) } ?? ""
    }

    private func signature(_ iterator: inout DBusMessageIter) -> String {
        guard let text = dbus_message_iter_get_signature(&iterator) else { return "" }
        defer { dbus_free(text) }
        return String(cString: text)
    }
}

extension BusError {
    /// A message that arrived and is not taken.
    static func refused(_ why: String) -> BusError {
        BusError(
            name: "org.freedesktop.DBus.Error.InvalidArgs", message: "The message was refused: \(why)")
    }
}
