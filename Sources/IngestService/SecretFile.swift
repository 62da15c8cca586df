import FileReading
import Glibc

/// Files whose contents nobody but their owner may know.
enum SecretFile {
    private static let limit = 1 << 20

    /// `isSecret` false reads a file that everybody may read.
    static func read(_ path: String, isSecret: Bool = true) throws(SecretFileFailure) -> [UInt8] {
        do throws(ReadFailure) {
            let file = try ReadableFile(path)
            try file.requireRegular(secret: isSecret)
            return try file.bytes(limit: limit)
        } catch {
            throw SecretFileFailure(error)
        }
    }

    /// Makes a file, durably, that must not exist yet.
    static func make(_ path: String, _ text: String) throws(SecretFileFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                let reason = String(cString: strerror(errno))
                unlink(path)
                throw .unwritable(reason)
            }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(path)
            throw .unwritable(reason)
        }
    }

    static func remove(_ path: String) { unlink(path) }
}

/// Why a file could not be read or made.
public enum SecretFileFailure: Error, Equatable, Sendable, CustomStringConvertible {
    case unreadable(String)
    case unwritable(String)
    /// Somebody else than its owner may read it; the mode's last nine bits.
    case readableByOthers(mode: UInt32)
    case notAFile
    case tooLarge

    init(_ failure: ReadFailure) {
        self =
            switch failure {
            case .notOpened, .notRead: .unreadable(failure.reason)
            case .notAFile: .notAFile
            case .readableByOthers(let mode): .readableByOthers(mode: mode)
            case .tooLarge: .tooLarge
            }
    }

    public var description: String {
        switch self {
        case .unreadable(let reason), .unwritable(let reason): reason
        case .readableByOthers(let mode):
            "others than its owner may read it (mode 0\(String(mode, radix: 8))); run chmod 600 on it"
        case .notAFile: "it is not a regular file"
        case .tooLarge: "it is over 1 MiB"
        }
    }
}
