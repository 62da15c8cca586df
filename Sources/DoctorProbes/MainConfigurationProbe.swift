import Doctor
import Glibc
import INIFile

/// BlueZ's own configuration, as far as it slows a sync down.
public struct MainConfigurationProbe: DoctorProbe {
    public let check = DoctorCheck.bluetoothConfiguration
    public let deadline = Duration.seconds(3)
    let places: DoctorPlaces

    public init(places: DoctorPlaces) { self.places = places }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        let path = places.mainConfiguration
        let (facts, refusal) = await blocking { () -> (MainConfigurationFacts, String?) in
            var facts = MainConfigurationFacts(file: path)
            // Without the file bluetoothd has its defaults.
            guard access(path, F_OK) == 0 else { return (facts, nil) }
            guard access(path, R_OK) == 0 else { return (facts, String(cString: strerror(errno))) }
            // What bluetoothd does with a file that is none is its own affair.
            let entries = (try? INIFile.read(path: path)) ?? []
            facts.exchangeMTU = entries.last { $0.section == "GATT" && $0.key == "ExchangeMTU" }?.value
            return (facts, nil)
        }
        if let refusal { throw ProbeRefusal(refusal) }
        return { $0.mainConfiguration = facts }
    }
}
