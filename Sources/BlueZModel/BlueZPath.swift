import BandProfile

/// An object path below `/org/bluez`. Paths are built and parsed only here.
///
/// BlueZ numbers adapters anew at each plug-in, so a path is never stored: only addresses are.
public struct BlueZPath: Hashable, Sendable, CustomStringConvertible {
    /// `hci` and a number, as BlueZ names adapters.
    public var adapter: UInt16
    public var device: BluetoothAddress?
    /// Start handle of a service; only with a device.
    public var service: UInt16?
    /// Handle of a characteristic's declaration; only with a service.
    public var characteristic: UInt16?
    /// Handle of a descriptor; only with a characteristic.
    public var descriptor: UInt16?

    /// Where AgentManager1 is.
    public static let manager = "/org/bluez"

    public init(adapter: UInt16, device: BluetoothAddress? = nil) {
        self.adapter = adapter
        self.device = device
    }

    /// Reads `/org/bluez/hci0[/dev_F0_F1_F2_F3_F4_F5[/service000e[/char0011[/desc0013]]]]`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (4...8).contains(parts.count), parts[0].isEmpty, parts[1] == "org", parts[2] == "bluez",
            let adapter = Self.adapter(parts[3])
        else { return nil }
        self.init(adapter: adapter)
        guard parts.count > 4 else { return }
        guard let device = Self.address(parts[4]) else { return nil }
        self.device = device
        guard parts.count > 5 else { return }
        guard let service = Self.handle(parts[5], after: "service") else { return nil }
        self.service = service
        guard parts.count > 6 else { return }
        guard let characteristic = Self.handle(parts[6], after: "char") else { return nil }
        self.characteristic = characteristic
        guard parts.count > 7 else { return }
        guard let descriptor = Self.handle(parts[7], after: "desc") else { return nil }
        self.descriptor = descriptor
    }

    /// `hci0`
    public var adapterName: String { "hci\(adapter)" }

    public var description: String {
        var text = Self.manager + "/" + adapterName
        guard let device else { return text }
        text += "/dev_" + device.description.split(separator: ":").joined(separator: "_")
        guard let service else { return text }
        text += "/service" + Self.digits(service)
        guard let characteristic else { return text }
        text += "/char" + Self.digits(characteristic)
        guard let descriptor else { return text }
        return text + "/desc" + Self.digits(descriptor)
    }

    // MARK: parts

    private static func adapter(_ part: some StringProtocol) -> UInt16? {
        guard part.hasPrefix("hci") else { return nil }
        let digits = part.dropFirst(3)
        guard let first = digits.utf8.first, digits.utf8.allSatisfy({ (48...57).contains($0) }),
            first != UInt8(ascii: "0") || digits.utf8.count == 1
        else { return nil }
        return UInt16(digits)
    }

    private static func address(_ part: some StringProtocol) -> BluetoothAddress? {
        guard part.hasPrefix("dev_") else { return nil }
        // BlueZ writes upper case; anything else is not its path.
        let octets = part.dropFirst(4).split(separator: "_", omittingEmptySubsequences: false)
        let text = octets.joined(separator: ":")
        guard octets.count == 6, let address = BluetoothAddress(text), address.description == text else {
            return nil
        }
        return address
    }

    private static func handle(_ part: some StringProtocol, after prefix: String) -> UInt16? {
        guard part.hasPrefix(prefix) else { return nil }
        let digits = part.dropFirst(prefix.count)
        guard digits.utf8.count == 4,
            digits.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        return UInt16(digits, radix: 16)
    }

    private static func digits(_ handle: UInt16) -> String {
        let digits = String(handle, radix: 16)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
