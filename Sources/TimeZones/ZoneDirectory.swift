import Glibc

/// A directory of zone files (tzfile(5)) in the layout of the IANA database.
public struct ZoneDirectory: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// `$TZDIR`, else Debian's.
    public static var system: ZoneDirectory {
        let variable = getenv("TZDIR").map { String(cString: $0) } ?? ""
        return ZoneDirectory(path: variable.isEmpty ? "/usr/share/zoneinfo" : variable)
    }

    /// Reads a zone by its name in the database, `Asia/Kolkata`; nil when there is none, or it can't be read.
    public func zone(named name: String) -> SystemZone? {
        guard let file = file(named: name), Self.isZoneFile(file) else { return nil }
        return SystemZone(name: name, file: file)
    }

    /// Which file a zone comes from now; nil when there is none. Another stamp = the database was updated.
    public func stamp(ofZone name: String) -> ZoneStamp? {
        guard let file = file(named: name) else { return nil }
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return ZoneStamp(status)
    }

    private func file(named name: String) -> String? { ZoneName.isValid(name) ? "\(path)/\(name)" : nil }

    /// The directory also holds tables and lists. A zone file begins with a header of 44 bytes, and that with a magic
    /// number (RFC 8536, section 3.1).
    private static func isZoneFile(_ file: String) -> Bool {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 44)
        return read(descriptor, &header, header.count) == header.count && header.starts(with: "TZif".utf8)
    }
}

/// Tells a zone file from another of the same name.
public struct ZoneStamp: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }
}
