import CDBus

/// An error as D-Bus carries it: a name for programs, a message for people.
public struct BusError: Error, Equatable, Sendable, CustomStringConvertible {
    /// `org.bluez.Error.Failed`, or this target's own `org.bandferry.Error.Disconnected` / `.Deadline`.
    public var name: String
    public var message: String

    public init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    public var description: String { message.isEmpty ? name : "\(name): \(message)" }
}

extension BusError {
    /// The bus dropped the connection, or it was closed here.
    public static let disconnectedName = "org.bandferry.Error.Disconnected"
    /// No reply came within the call's deadline.
    public static let deadlineName = "org.bandferry.Error.Deadline"
    /// The task that waited for the reply was cancelled.
    public static let cancelledName = "org.bandferry.Error.Cancelled"
    /// A value that D-Bus can't carry was to be sent.
    public static let invalidName = "org.bandferry.Error.InvalidMessage"

    static let disconnected = BusError(name: disconnectedName, message: "the bus connection is closed")
    static let cancelled = BusError(name: cancelledName, message: "the caller no longer waits")

    static func invalid(_ message: String) -> BusError { BusError(name: invalidName, message: message) }

    /// The standard errors of the D-Bus specification.
    public static func invalidArguments(_ message: String) -> BusError {
        BusError(name: "org.freedesktop.DBus.Error.InvalidArgs", message: message)
    }
}

/// Runs a C call that reports failure in a `DBusError`.
func throwing<Value>(_ call: (UnsafeMutablePointer<DBusError>) -> Value) throws(BusError) -> Value {
    var raw = DBusError()
    dbus_error_init(&raw)
    defer { dbus_error_free(&raw) }
    let value = call(&raw)
    guard dbus_error_is_set(&raw) == 0 else {
        throw BusError(
            name: raw.name.map { String(cString: $0) } ?? "org.freedesktop.DBus.Error.Failed",
            message: raw.message.map { String(cString: $0) } ?? "")
    }
    return value
}
