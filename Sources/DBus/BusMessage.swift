import CDBus

/// One reference to a libdbus message. A message is changed only by the code that built it, before it is shared.
final class BusMessage: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Adds a reference.
    init(retaining pointer: OpaquePointer) { self.pointer = dbus_message_ref(pointer) }

    deinit { dbus_message_unref(pointer) }

    var serial: UInt32 { dbus_message_get_serial(pointer) }
    var expectsReply: Bool { dbus_message_get_no_reply(pointer) == 0 }
}

// MARK: building; every name is checked first, since libdbus aborts over a bad one

extension BusMessage {
    static func call(
        _ destination: String, path: String, interface: String, member: String, _ arguments: [BusValue],
        autoStart: Bool, expectsReply: Bool
    ) throws(BusError) -> BusMessage {
        guard isBusName(destination) else { throw .invalid("'\(destination)' is no bus name") }
        guard isObjectPath(path) else { throw .invalid("'\(path)' is no object path") }
        guard isInterfaceName(interface), isMemberName(member) else {
            throw .invalid("'\(interface).\(member)' is no method name")
        }
        let message = try BusMessage.made(dbus_message_new_method_call(destination, path, interface, member))
        dbus_message_set_auto_start(message.pointer, autoStart ? 1 : 0)
        dbus_message_set_no_reply(message.pointer, expectsReply ? 0 : 1)
        try message.append(arguments)
        return message
    }

    static func signal(_ signal: BusSignal, to destination: String?) throws(BusError) -> BusMessage {
        guard isObjectPath(signal.path) else { throw .invalid("'\(signal.path)' is no object path") }
        guard isInterfaceName(signal.interface), isMemberName(signal.member) else {
            throw .invalid("'\(signal.interface).\(signal.member)' is no signal name")
        }
        let message = try BusMessage.made(
            dbus_message_new_signal(signal.path, signal.interface, signal.member))
        if let destination {
            guard isBusName(destination) else { throw .invalid("'\(destination)' is no bus name") }
            guard dbus_message_set_destination(message.pointer, destination) != 0 else { throw .noMemory }
        }
        try message.append(signal.arguments)
        return message
    }

    func reply(_ arguments: [BusValue]) throws(BusError) -> BusMessage {
        let message = try BusMessage.made(dbus_message_new_method_return(pointer))
        try message.append(arguments)
        return message
    }

    func failure(_ error: BusError) -> BusMessage? {
        let name = isErrorName(error.name) ? error.name : "org.freedesktop.DBus.Error.Failed"
        let text = String(error.message.prefix { $0 != "\0" })
        return dbus_message_new_error(pointer, name, text).map(BusMessage.init(owning:))
    }

    private static func made(_ pointer: OpaquePointer?) throws(BusError) -> BusMessage {
        guard let pointer else { throw .noMemory }
        return BusMessage(owning: pointer)
    }
}

extension BusError {
    static let noMemory = BusError(
        name: "org.freedesktop.DBus.Error.NoMemory", message: "no memory for a message")
}
