import CSystemd
import Glibc

/// Where log lines go. Called in order, from one queue.
public protocol LogSink: Sendable {
    func write(_ entry: LogEntry)
}

/// The journal, with structured fields.
public struct JournalSink: LogSink {
    private let identifier: String

    public init(identifier: String) { self.identifier = identifier }

    public func write(_ entry: LogEntry) {
        let lines = entry.journalFields + ["SYSLOG_IDENTIFIER=\(identifier)"]
        let buffers = lines.map { line in
            let bytes = Array(line.utf8)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            buffer.copyBytes(from: bytes)
            return iovec(iov_base: buffer.baseAddress, iov_len: bytes.count)
        }
        defer { for buffer in buffers { buffer.iov_base.deallocate() } }
        // Without a journal there is nowhere to say so: the unit's stderr is the journal too.
        _ = sd_journal_sendv(buffers, Int32(buffers.count))
    }

    /// True when stderr (or stdout) is the journal's own stream, as systemd.exec(5) defines JOURNAL_STREAM.
    public static var isConnected: Bool {
        guard let stream = getenv("JOURNAL_STREAM").map({ String(cString: $0) }) else { return false }
        return [STDERR_FILENO, STDOUT_FILENO].contains { descriptor in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return false }
            return stream == "\(status.st_dev):\(status.st_ino)"
        }
    }
}

/// Plain lines on stderr, the level first.
public struct StandardErrorSink: LogSink {
    public init() {}

    public func write(_ entry: LogEntry) {
        var bytes = Array("\(entry.level.name): \(entry.text)\n".utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            bytes = bytes.dropFirst(written)
        }
    }
}
