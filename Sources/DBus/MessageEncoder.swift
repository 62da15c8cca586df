import CDBus
import Glibc

extension BusMessage {
    /// Appends the arguments. File descriptors among them are closed, whether it succeeds or not.
    func append(_ arguments: [BusValue]) throws(BusError) {
        guard !arguments.isEmpty else { return }
        defer { for argument in arguments { argument.closeFileDescriptors() } }
        for argument in arguments { try argument.validate() }
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        for argument in arguments {
            guard encode(argument, into: &iterator) else { throw .noMemory }
        }
    }
}

extension BusValue {
    /// Closes every file descriptor in the value: for messages that are not wanted.
    public func closeFileDescriptors() {
        switch self {
        case .fileDescriptor(let descriptor):
            if descriptor >= 0 { close(descriptor) }
        case .array(let element, let values):
            // Most arrays cannot hold one: their element type says so.
            guard element.utf8.contains(UInt8(ascii: "h")) || element.utf8.contains(UInt8(ascii: "v")) else {
                return
            }
            for value in values { value.closeFileDescriptors() }
        case .structure(let values): for value in values { value.closeFileDescriptors() }
        case .dictionary(_, _, let entries): for entry in entries { entry.value.closeFileDescriptors() }
        case .variant(let value): value.closeFileDescriptors()
        default: break
        }
    }
}

/// Appends a validated value; false only when memory ran out.
private func encode(_ value: BusValue, into iterator: inout DBusMessageIter) -> Bool {
    switch value {
    case .byte(let value): basic(value, BusType.byte, &iterator)
    case .bool(let value): basic(dbus_bool_t(value ? 1 : 0), BusType.bool, &iterator)
    case .int16(let value): basic(value, BusType.int16, &iterator)
    case .uint16(let value): basic(value, BusType.uint16, &iterator)
    case .int32(let value): basic(value, BusType.int32, &iterator)
    case .uint32(let value): basic(value, BusType.uint32, &iterator)
    case .int64(let value): basic(value, BusType.int64, &iterator)
    case .uint64(let value): basic(value, BusType.uint64, &iterator)
    case .double(let value): basic(value, BusType.double, &iterator)
    case .string(let text): string(text, BusType.string, &iterator)
    case .objectPath(let text): string(text, BusType.objectPath, &iterator)
    case .signature(let text): string(text, BusType.signature, &iterator)
    case .fileDescriptor(let descriptor): basic(descriptor, BusType.fileDescriptor, &iterator)
    case .bytes(let bytes):
        container(BusType.array, "y", &iterator) { inside in
            bytes.withUnsafeBufferPointer { buffer in
                // libdbus wants a pointer even to nothing.
                guard var start = buffer.baseAddress, !buffer.isEmpty else { return true }
                return dbus_message_iter_append_fixed_array(
                    &inside, BusType.byte, &start, Int32(buffer.count))
                    != 0
            }
        }
    case .array(let element, let values):
        container(BusType.array, element, &iterator) { inside in
            values.allSatisfy { encode($0, into: &inside) }
        }
    case .dictionary(let key, let value, let entries):
        container(BusType.array, "{\(key)\(value)}", &iterator) { inside in
            entries.allSatisfy { entry in
                container(BusType.entry, nil, &inside) { pair in
                    encode(entry.key, into: &pair) && encode(entry.value, into: &pair)
                }
            }
        }
    case .structure(let fields):
        container(BusType.structure, nil, &iterator) { inside in
            fields.allSatisfy { encode($0, into: &inside) }
        }
    case .variant(let inner):
        container(BusType.variant, inner.typeSignature, &iterator) { encode(inner, into: &$0) }
    }
}

private func basic<Value: BitwiseCopyable>(
    _ value: Value, _ type: Int32, _ iterator: inout DBusMessageIter
) -> Bool {
    withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, type, $0) != 0 }
}

private func string(_ text: String, _ type: Int32, _ iterator: inout DBusMessageIter) -> Bool {
    text.withCString { start in
        withUnsafePointer(to: start) { dbus_message_iter_append_basic(&iterator, type, $0) != 0 }
    }
}

private func container(
    _ type: Int32, _ signature: String?, _ iterator: inout DBusMessageIter,
    _ fill: (inout DBusMessageIter) -> Bool
) -> Bool {
    var inside = DBusMessageIter()
    guard dbus_message_iter_open_container(&iterator, type, signature, &inside) != 0 else { return false }
    guard fill(&inside) else {
        dbus_message_iter_abandon_container(&iterator, &inside)
        return false
    }
    return dbus_message_iter_close_container(&iterator, &inside) != 0
}
