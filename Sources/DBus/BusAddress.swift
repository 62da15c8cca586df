import Glibc

/// Which bus to open.
public enum BusAddress: Sendable, Equatable {
    /// Honours DBUS_SYSTEM_BUS_ADDRESS.
    case system
    case session
    case address(String)

    /// The address as libdbus takes it. Never autolaunched: that would start processes.
    func resolved() throws(BusError) -> String {
        switch self {
        case .system:
            return environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        case .session:
            if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return address }
            guard let directory = environment("XDG_RUNTIME_DIR") else {
                throw BusError(
                    name: "org.freedesktop.DBus.Error.NotSupported",
                    message: "no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
            }
            return "unix:path=\(directory)/bus"
        case .address(let address):
            return address
        }
    }

    private func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
