import FileReading
import GatewayModel
import Glibc

/// What the kernel says of its radio switches: sysfs, Documentation/ABI/stable/sysfs-class-rfkill. Readable for everybody, and
/// never written to here.
public enum RadioSwitches {
    public static let directory = "/sys/class/rfkill"

    /// A software or a hardware switch is set for Bluetooth. False where the kernel has no such switches.
    public static func blockBluetooth(in directory: String = directory) -> Bool {
        ofBluetooth(in: directory).contains(where: \.isBlocked)
    }

    /// Those of Bluetooth, in the order of their names. A switch keeps its number as long as it is there, and numbers are not
    /// given anew: all names are looked at. Empty where the kernel has no rfkill.
    public static func ofBluetooth(in directory: String = directory) -> [RadioSwitch] {
        names(in: directory).compactMap { name in
            let path = "\(directory)/\(name)"
            guard word("\(path)/type") == "bluetooth" else { return nil }
            return RadioSwitch(
                name: word("\(path)/name") ?? name, isSoftBlocked: word("\(path)/soft") == "1",
                isHardBlocked: word("\(path)/hard") == "1")
        }
    }

    private static func names(in directory: String) -> [String] {
        guard let handle = opendir(directory) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    private static func word(_ path: String) -> String? {
        guard let bytes = try? ReadableFile(path).bytes(limit: 4096) else { return nil }
        return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
    }
}
