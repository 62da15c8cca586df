import Glibc
import ProcessTestSupport

/// A dbus-daemon of its own for one test; ended when the value goes.
///
/// Started with posix_spawn: Foundation's Process waits in run loops, which stalls many tests at once.
public final class PrivateBus: @unchecked Sendable {
    struct Failure: Error {
        var step: String
    }

    public let address: String
    private let directory: String
    private var process: pid_t = 0

    /// `deny` = one more rule in the default policy.
    public init(deny: String = "") throws {
        directory = try Self.makeDirectory()
        let configuration = directory + "/bus.conf"
        try Self.write(Self.configuration(socket: directory + "/socket", deny: deny), to: configuration)
        (process, address) = try Self.start(configuration)
    }

    /// Where it is however often it is restarted; `address` names this one run of it.
    public var place: String { "unix:path=\(directory)/socket" }

    /// Drops every connection, and begins anew at the same place.
    public func restart() throws {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        unlink(directory + "/socket")
        (process, _) = try Self.start(directory + "/bus.conf")
    }

    private static func start(_ configuration: String) throws -> (process: pid_t, address: String) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(step: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let process = try spawn(
            ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address"],
            output: ends[1])
        close(ends[1])
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while read(ends[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { text.append(byte) }
        guard !text.isEmpty else { throw Failure(step: "dbus-daemon printed no address") }
        return (process, String(decoding: text, as: UTF8.self))
    }

    public func stop() {
        guard process > 0 else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        process = 0
        for name in ["/socket", "/bus.conf"] { unlink(directory + name) }
        rmdir(directory)
    }

    deinit { stop() }

    private static func configuration(socket: String, deny: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>unix:path=\(socket)</listen>
        <auth>EXTERNAL</auth>
        <policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="false"/>
        <allow receive_sender="*"/><allow own="*"/>\(deny)</policy></busconfig>
        """
    }

    private static func makeDirectory() throws -> String {
        var template = Array("/tmp/bandferry-bus.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(step: "mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(step: "open \(path)") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure(step: "write \(path)")
        }
    }

    private static func spawn(_ words: [String], output: Int32) throws -> pid_t {
        // The daemon's complaint that it may not raise its descriptor limit is no news here.
        try ChildProcess.spawn(words, output: .descriptor(output))
    }
}
