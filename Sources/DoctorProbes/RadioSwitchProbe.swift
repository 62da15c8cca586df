import Doctor
import RadioSwitches

/// rfkill, as the kernel shows it.
public struct RadioSwitchProbe: DoctorProbe {
    public let check = DoctorCheck.rfkill
    public let deadline = Duration.seconds(3)
    let places: DoctorPlaces

    public init(places: DoctorPlaces) { self.places = places }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        let directory = places.rfkill
        let switches = await blocking { RadioSwitches.ofBluetooth(in: directory) }
        return { $0.rfkill = switches }
    }
}
