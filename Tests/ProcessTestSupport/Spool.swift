import CProcess
import Glibc

/// A file without a name that takes what a program says, or gives it what to read: no pipe to be emptied meanwhile.
public final class Spool: Sendable {
    private let descriptor: Int32

    public init(_ bytes: [UInt8] = []) throws {
        descriptor = test_memory_file()
        guard descriptor >= 0 else {
            throw ChildProcess.Failure("memfd_create: \(String(cString: strerror(errno)))")
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw ChildProcess.Failure("write: \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(count)
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    deinit { close(descriptor) }

    public var stream: ChildProcess.Stream { .descriptor(descriptor) }

    /// All that is in it now.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(bytes.count))
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension ChildProcess {
    public struct Result: Sendable {
        /// See `wait`.
        public var status: Int32
        public var output: [UInt8]
        public var errors: String
    }

    /// Runs a program to its end.
    public static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        input: [UInt8] = [],
        seconds: Double = 120
    ) throws -> Result {
        let (given, output, errors) = (try Spool(input), try Spool(), try Spool())
        let child = try ChildProcess(
            program, arguments, environment: environment, input: given.stream, output: output.stream,
            errors: errors.stream)
        guard let status = child.wait(seconds: seconds) else {
            throw Failure("\(program) did not end within \(seconds) s: \(errors.text.suffix(500))")
        }
        return Result(status: status, output: output.bytes, errors: errors.text)
    }
}
