import Doctor
import Glibc

/// rfkill, as the kernel shows it: Documentation/ABI/stable/sysfs-class-rfkill.
public struct RadioSwitchProbe: DoctorProbe {
    public let check = DoctorCheck.rfkill
    public let deadline = Duration.seconds(3)
    let places: DoctorPlaces

    public init(places: DoctorPlaces) { self.places = places }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        let directory = places.rfkill
        let switches = await blocking { Self.read(directory) }
        return { $0.rfkill = switches }
    }

    /// Empty where the kernel has no rfkill.
    static func read(_ directory: String) -> [RadioSwitch] {
        guard let handle = opendir(directory) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.filter { !$0.hasPrefix(".") }.sorted().compactMap { name in
            let path = "\(directory)/\(name)"
            guard DoctorPlaces.line(path + "/type") == "bluetooth" else { return nil }
            return RadioSwitch(
                name: DoctorPlaces.line(path + "/name") ?? name,
                isSoftBlocked: DoctorPlaces.line(path + "/soft") == "1",
                isHardBlocked: DoctorPlaces.line(path + "/hard") == "1")
        }
    }
}
