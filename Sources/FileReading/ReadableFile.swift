import Glibc

/// An open file that is read as a whole, up to a limit; closed when it is let go of.
public struct ReadableFile: ~Copyable {
    private let descriptor: Int32

    /// - Parameter waits: for somebody who writes, where the path is a pipe; else such a pipe is empty.
    public init(_ path: String, waits: Bool = false) throws(ReadFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else { throw .notOpened(errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Refuses what is no regular file and, where it is a secret, what others than its owner may read. The status is of
    /// what was opened, not of what the path names a moment later.
    @discardableResult
    public func requireRegular(secret: Bool) throws(ReadFailure) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .notRead(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard !secret || status.st_mode & 0o077 == 0 else {
            throw .readableByOthers(mode: status.st_mode & 0o777)
        }
        return status
    }

    /// From where it is to its end.
    public func bytes(limit: Int) throws(ReadFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(limit + 1, 64 * 1024))
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .notRead(errno)
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else { throw .tooLarge }
        }
    }
}

/// Why a file is not read.
public enum ReadFailure: Error, Equatable, Sendable {
    /// An `errno`.
    case notOpened(Int32)
    case notRead(Int32)
    case notAFile
    /// Somebody else than its owner may read it; the mode's last nine bits.
    case readableByOthers(mode: UInt32)
    /// More bytes than the limit.
    case tooLarge

    /// In the system's words where it was the system.
    public var reason: String {
        switch self {
        case .notOpened(let number), .notRead(let number): String(cString: strerror(number))
        case .notAFile: "it is not a regular file"
        case .readableByOthers: "others than its owner may read it"
        case .tooLarge: "it is too large"
        }
    }
}
