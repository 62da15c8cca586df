import Glibc
import UploadDecisions

/// A file with a secret, which nobody but its owner may read. What is in it is in no description and no log.
struct SecretFile {
    /// What tells one state of the file from another.
    struct Stamp: Equatable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var mode: UInt32
        var changedSeconds: Int
        var changedNanoseconds: Int

        fileprivate init(_ info: stat) {
            device = UInt64(info.st_dev)
            inode = UInt64(info.st_ino)
            size = Int64(info.st_size)
            mode = UInt32(info.st_mode)
            changedSeconds = info.st_ctim.tv_sec
            changedNanoseconds = info.st_ctim.tv_nsec
        }
    }

    struct Fault: Error {
        let fault: UploadProblem.TokenFileFault
        init(_ fault: UploadProblem.TokenFileFault) { self.fault = fault }
    }

    private static let sizeLimit = 4096

    let path: String

    /// Nil when there is no such file.
    func stamp() -> Stamp? {
        var info = stat()
        return stat(path, &info) == 0 ? Stamp(info) : nil
    }

    /// What keeps it from being used, without reading it; nil = nothing.
    func fault() -> UploadProblem.TokenFileFault? {
        switch opened({ _, _ in .success(()) }) {
        case .success: nil
        case .failure(let failure): failure.fault
        }
    }

    /// The one line that it holds, without the white space around it, and which state it was read in. Anything but
    /// printable ASCII is refused: it could end a header line.
    func readLine() -> Result<(line: String, stamp: Stamp), Fault> {
        opened { file, info in
            var bytes = [UInt8](repeating: 0, count: Self.sizeLimit + 1)
            let count = read(file, &bytes, bytes.count)
            guard count >= 0 else { return .failure(Fault(.unreadable(Self.reason(errno)))) }
            guard count <= Self.sizeLimit, let line = Self.line(bytes[..<count]) else {
                return .failure(Fault(.malformed))
            }
            return .success((line, Stamp(info)))
        }
    }

    private func opened<Value>(_ body: (Int32, stat) -> Result<Value, Fault>) -> Result<Value, Fault> {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return .failure(Fault(.unreadable(Self.reason(errno)))) }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { return .failure(Fault(.unreadable(Self.reason(errno)))) }
        guard info.st_mode & S_IFMT == S_IFREG else {
            return .failure(Fault(.unreadable("it is not a file")))
        }
        guard info.st_mode & 0o077 == 0 else { return .failure(Fault(.readableByOthers)) }
        return body(file, info)
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> String? {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let line = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard !line.isEmpty, line.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
        return String(decoding: line, as: UTF8.self)
    }

    private static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}
