import Glibc

/// Reads tokens from a file that nobody but its owner may read.
public enum TokenFile {
    private static let limit = 1 << 20

    public static func read(_ path: String) throws(TokenFileFailure) -> TokenTable {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        // The mode of what was opened, not of what the path names a moment later.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard status.st_mode & 0o077 == 0 else { throw .readableByOthers(mode: status.st_mode & 0o777) }
        return try TokenTable(text: String(decoding: try contents(descriptor), as: UTF8.self))
    }

    private static func contents(_ descriptor: Int32) throws(TokenFileFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .unreadable(String(cString: strerror(errno)))
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else { throw .tooLarge }
        }
    }
}
