import FileReading
import Glibc

/// Reads whole small files.
enum FileBytes {
    static func exist(_ path: String) -> Bool { access(path, R_OK) == 0 }

    static func read(_ path: String, limit: Int) throws(FileFailure) -> [UInt8] {
        do {
            return try ReadableFile(path).bytes(limit: limit)
        } catch {
            throw FileFailure(
                path: path, reason: error == .tooLarge ? "it is over \(limit) bytes" : error.reason)
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
