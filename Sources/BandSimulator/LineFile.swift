import Glibc

/// A file to which whole lines are added, each with one write, so that a kill never leaves half a line behind.
final class LineFile {
    private let descriptor: Int32

    /// Adds to what is there, or starts anew.
    init(path: String, truncate: Bool) throws(SimulatorError) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (truncate ? O_TRUNC : 0)
        descriptor = open(path, flags, 0o644)
        guard descriptor >= 0 else {
            throw SimulatorError("\(path) can't be opened for writing: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// A line that can't be written is lost: a log must not stop a band.
    func add(_ line: String) {
        var line = line
        line += "\n"
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let start = rest.baseAddress, !rest.isEmpty {
                let written = write(descriptor, start, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            }
        }
    }
}
