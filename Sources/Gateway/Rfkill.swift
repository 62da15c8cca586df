import FileReading

/// What the kernel says of its radio switches: sysfs, class rfkill. Readable for everybody, and never written to here.
enum Rfkill {
    /// At most so many switches are looked at.
    private static let most = 64

    /// A software or a hardware switch is set for Bluetooth. False where the kernel has no such switches.
    static func blocksBluetooth(in directory: String = "/sys/class/rfkill") -> Bool {
        (0..<most).contains { number in
            let path = "\(directory)/rfkill\(number)"
            guard word("\(path)/type") == "bluetooth" else { return false }
            return word("\(path)/soft") == "1" || word("\(path)/hard") == "1"
        }
    }

    private static func word(_ path: String) -> String? {
        guard let bytes = try? ReadableFile(path).bytes(limit: 64) else { return nil }
        return String(decoding: bytes.prefix { $0 > 32 }, as: UTF8.self)
    }
}
