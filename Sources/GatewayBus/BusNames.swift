import BandProfile

/// The names of the gateway on the bus. docs/dbus-api.md.
public enum GatewayBusNames {
    public static let service = "org.bandferry"
    public static let gatewayPath = "/org/bandferry"
    public static let gatewayInterface = "org.bandferry.Gateway1"
    public static let bandInterface = "org.bandferry.Band1"
    /// Where the package installs the policy that lets the daemon take its name.
    public static let policyFile = "/usr/share/dbus-1/system.d/org.bandferry.conf"

    /// `/org/bandferry/band_F0_F1_F2_F3_F4_F5`, in BlueZ's own manner.
    public static func bandPath(_ address: BluetoothAddress) -> String {
        gatewayPath + "/band_" + String(address.description.map { $0 == ":" ? "_" : $0 })
    }

    public static func address(ofPath path: String) -> BluetoothAddress? {
        let prefix = gatewayPath + "/band_"
        guard path.hasPrefix(prefix) else { return nil }
        return BluetoothAddress(String(path.dropFirst(prefix.count).map { $0 == "_" ? ":" : $0 }))
    }
}
