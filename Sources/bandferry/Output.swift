import CommandLineText
import Glibc

/// Standard output and standard error, written whole or not at all.
struct Output {
    let terminal: Terminal
    private var buffer: [UInt8] = []
    private static let bufferSize = 1 << 16

    init() {
        let isInteractive = isatty(STDOUT_FILENO) == 1
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
        terminal = Terminal(
            width: Self.width() ?? environment("COLUMNS").flatMap { Int($0) } ?? (isInteractive ? 80 : 200),
            isInteractive: isInteractive,
            hasColour: isInteractive && environment("NO_COLOR") == nil && environment("TERM") != "dumb")
    }

    /// Buffered; `flush` writes.
    mutating func write(_ text: String) throws(Failure) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= Self.bufferSize { try flush() }
    }

    mutating func flush() throws(Failure) {
        defer { buffer.removeAll(keepingCapacity: true) }
        guard Self.write(buffer, to: STDOUT_FILENO) else {
            throw Failure(
                .failed,
                "Could not write the output: \(String(cString: strerror(errno)))\n"
                    + "What to do: see that there is space where it goes, and run the command again.")
        }
    }

    static func complain(_ text: String) {
        // It may name what a band, a server or a file says.
        _ = write(Array("bandferry: \(printableLines(text))\n".utf8), to: STDERR_FILENO)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func width() -> Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
