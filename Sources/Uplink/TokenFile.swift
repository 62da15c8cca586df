import Glibc
import UploadDecisions

/// The bearer token, read again when its file changes. The token is in no description and no log.
struct TokenFile {
    /// What tells one state of the file from another.
    struct Stamp: Equatable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var mode: UInt32
        var changedSeconds: Int
        var changedNanoseconds: Int
    }

    private static let sizeLimit = 4096

    let path: String

    /// Nil when there is no such file.
    func stamp() -> Stamp? {
        var info = stat()
        return stat(path, &info) == 0 ? Self.stamp(info) : nil
    }

    /// Reads it and says which state it was read in.
    func read() -> Result<(token: String, stamp: Stamp), Fault> {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return .failure(.init(.unreadable(reason(errno)))) }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { return .failure(.init(.unreadable(reason(errno)))) }
        guard info.st_mode & S_IFMT == S_IFREG else {
            return .failure(.init(.unreadable("it is not a file")))
        }
        guard info.st_mode & 0o077 == 0 else { return .failure(.init(.readableByOthers)) }
        var bytes = [UInt8](repeating: 0, count: Self.sizeLimit + 1)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0 else { return .failure(.init(.unreadable(reason(errno)))) }
        guard count <= Self.sizeLimit, let token = Self.token(bytes[..<count]) else {
            return .failure(.init(.malformed))
        }
        return .success((token, Self.stamp(info)))
    }

    struct Fault: Error {
        let fault: UploadProblem.TokenFileFault
        init(_ fault: UploadProblem.TokenFileFault) { self.fault = fault }
    }

    /// One word of printable ASCII with white space around it: anything else could end the header line.
    private static func token(_ bytes: ArraySlice<UInt8>) -> String? {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let word = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard !word.isEmpty, word.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        return String(decoding: word, as: UTF8.self)
    }

    private static func stamp(_ info: stat) -> Stamp {
        Stamp(
            device: UInt64(info.st_dev), inode: UInt64(info.st_ino), size: Int64(info.st_size),
            mode: UInt32(info.st_mode), changedSeconds: info.st_ctim.tv_sec,
            changedNanoseconds: info.st_ctim.tv_nsec)
    }

    private func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}
