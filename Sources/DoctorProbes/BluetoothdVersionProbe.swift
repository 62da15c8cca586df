import BlueZModel
import DBus
import Doctor
import Glibc

/// Which bluetoothd it is. It does not say so on the bus, but its program prints it.
public struct BluetoothdVersionProbe: DoctorProbe {
    public let check = DoctorCheck.bluetoothdVersion
    public let deadline = Duration.seconds(6)
    let bus: BusAddress
    let places: DoctorPlaces

    public init(bus: BusAddress = .system, places: DoctorPlaces) {
        self.bus = bus
        self.places = places
    }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        // The one that runs, where it can be seen; an update may have put another beside it.
        let running = places.isElsewhere ? nil : await runningProgram()
        let candidates = [running].compactMap { $0 } + places.bluetoothd
        let text = await blocking { () -> String? in
            guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else { return nil }
            return ProgramOutput.firstLine(of: path, "--version", within: 2000)
        }
        let version = text.flatMap { BlueZVersionNumber($0) }
        return { $0.bluetoothd = BluetoothdFacts(version: version) }
    }

    /// Only root sees another user's program. One that was replaced or is no bluetoothd is not believed.
    private func runningProgram() async -> String? {
        guard let connection = try? await BusConnection.open(bus, deadline: .seconds(2)) else { return nil }
        let reply = try? await connection.call(
            "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            "GetConnectionUnixProcessID", [.string(BlueZName.service)], deadline: .seconds(2))
        await connection.close()
        guard let process = reply?.first?.integer else { return nil }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let path = buffer.withUnsafeBytes { String(decoding: $0.prefix(count), as: UTF8.self) }
        return path.hasSuffix("/bluetoothd") ? path : nil
    }
}
