import Glibc

/// Reads whole small files.
enum FileBytes {
    static func exist(_ path: String) -> Bool { access(path, R_OK) == 0 }

    static func read(_ path: String, limit: Int) throws(FileFailure) -> [UInt8] {
        // Not a pipe that nobody writes to.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileFailure(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw FileFailure(path: path, reason: String(cString: strerror(errno)))
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else {
                throw FileFailure(path: path, reason: "it is over \(limit) bytes")
            }
        }
    }

    /// The path of the running program, its links resolved.
    static var program: String? {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}

/// Why a file could not be read.
public struct FileFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var path: String
    public var reason: String

    public var description: String { "\(path): \(reason)" }
}
