import FileReading
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

        fileprivate init(_ failure: ReadFailure) {
            fault =
                switch failure {
                case .notOpened, .notRead: .unreadable(failure.reason)
                case .notAFile: .unreadable("it is not a file")
                case .readableByOthers: .readableByOthers
                case .tooLarge: .malformed
                }
        }
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
        do throws(ReadFailure) {
            try ReadableFile(path).requireRegular(secret: true)
            return nil
        } catch {
            return Fault(error).fault
        }
    }

    /// The one line that it holds, without the white space around it, and which state it was read in. Anything but
    /// printable ASCII is refused: it could end a header line.
    func readLine() -> Result<(line: String, stamp: Stamp), Fault> {
        do throws(ReadFailure) {
            let file = try ReadableFile(path)
            let info = try file.requireRegular(secret: true)
            guard let line = Self.line(try file.bytes(limit: Self.sizeLimit)) else {
                return .failure(Fault(.malformed))
            }
            return .success((line, Stamp(info)))
        } catch {
            return .failure(Fault(error))
        }
    }

    private static func line(_ bytes: [UInt8]) -> String? {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
        let line = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard !line.isEmpty, line.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
        return String(decoding: line, as: UTF8.self)
    }
}
