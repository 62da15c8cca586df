import CLinux
import Doctor
import GatewayModel
import Glibc

/// What the kernel says of its wall clock. The daemon knows more, and says it itself where it runs.
public struct ClockProbe: DoctorProbe {
    public let check = DoctorCheck.clock
    public let deadline = Duration.seconds(2)
    /// The configuration vouches for the clock.
    let isTrusted: Bool
    let places: DoctorPlaces

    public init(isTrusted: Bool, places: DoctorPlaces) {
        self.isTrusted = isTrusted
        self.places = places
    }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        let trust = look()
        return { $0.clock = trust }
    }

    public func look() -> HostTrust {
        var error = 0
        let isSynchronised =
            places.isElsewhere
            ? access(places.root + "/run/systemd/timesync/synchronized", F_OK) == 0
            : linux_clock_is_synchronised(&error) != 0
        return Self.trust(isSynchronised: isSynchronised, isTrusted: isTrusted, wall: time(nil))
    }

    /// `wall` in seconds since 1970.
    static func trust(isSynchronised: Bool, isTrusted: Bool, wall: Int) -> HostTrust {
        if isTrusted { return .synchronised }
        if Int64(wall) * 1000 < Bandferry.written.milliseconds { return .implausible }
        return isSynchronised ? .synchronised : .plausible
    }
}
