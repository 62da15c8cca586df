import FileReading
import Glibc
import RadioSwitches

/// Where the system keeps what is looked at, below a root that tests put elsewhere.
public struct DoctorPlaces: Sendable {
    public var root: String

    public init(root: String = "") { self.root = root }

    /// As the environment says; tests set `BANDFERRY_DOCTOR_ROOT`.
    public static var ofThisHost: DoctorPlaces {
        DoctorPlaces(root: getenv("BANDFERRY_DOCTOR_ROOT").map { String(cString: $0) } ?? "")
    }

    public var isElsewhere: Bool { !root.isEmpty }
    public var rfkill: String { root + RadioSwitches.directory }
    public var mainConfiguration: String { root + "/etc/bluetooth/main.conf" }

    /// Debian's, Fedora's and Arch's.
    public var bluetoothd: [String] {
        ["/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd"].map {
            root + $0
        }
    }

    /// The first line of a small file; nil where there is none.
    static func line(_ path: String) -> String? {
        guard let bytes = try? ReadableFile(path).bytes(limit: 4096) else { return nil }
        return String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    }
}
