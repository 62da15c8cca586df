import Glibc

/// Which zone a machine says it is in (localtime(5)).
public enum HostZone {
    /// The name that the link `localtime` points to, else the line in the file `timezone`, which Debian keeps beside it,
    /// else `UTC`.
    public static func name(
        localtime: String = "/etc/localtime", timezone: String = "/etc/timezone"
    ) -> String {
        zone(in: target(of: localtime)) ?? zone(in: resolved(localtime)) ?? line(of: timezone) ?? "UTC"
    }

    /// What comes after `zoneinfo/`.
    private static func zone(in path: String?) -> String? {
        let directory = "zoneinfo/"
        guard let path else { return nil }
        var rest = Substring(path)
        while let slash = rest.firstIndex(of: "/") {
            if rest.hasPrefix(directory) {
                let name = String(rest.dropFirst(directory.count))
                return ZoneName.isValid(name) ? name : nil
            }
            rest = rest[rest.index(after: slash)...]
        }
        return nil
    }

    private static func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.bindMemory(to: CChar.self).baseAddress.map { readlink(link, $0, bytes.count) } ?? -1
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Through every link: Debian's alternatives, or a link to a link.
    private static func resolved(_ path: String) -> String? {
        guard let result = realpath(path, nil) else { return nil }
        defer { free(result) }
        return String(cString: result)
    }

    private static func line(of file: String) -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let name = buffer[..<count].prefix { $0 > 0x20 }
        let text = String(decoding: name, as: UTF8.self)
        return ZoneName.isValid(text) ? text : nil
    }
}
