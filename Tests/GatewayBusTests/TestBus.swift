import Foundation

/// A dbus-daemon of its own for one test, with a policy of its own.
final class TestBus: @unchecked Sendable {
    let address: String
    private let process = Process()
    private let directory: URL

    /// `deny` = one more rule in the default policy.
    init(deny: String = "") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("bus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let configuration = directory.appendingPathComponent("bus.conf")
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>unix:path=\(directory.path)/socket</listen>
        <auth>EXTERNAL</auth>
        <policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="false"/>
        <allow receive_sender="*"/><allow own="*"/>\(deny)</policy></busconfig>
        """.write(to: configuration, atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = [
            "--config-file=\(configuration.path)", "--nofork", "--nopidfile", "--print-address",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var text = Data()
        while !text.contains(UInt8(ascii: "\n")) {
            guard let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty else {
                throw CocoaError(.fileReadUnknown)
            }
            text.append(byte)
        }
        address = String(decoding: text.dropLast(), as: UTF8.self)
    }

    func stop() {
        // Not waited for: Foundation's waitUntilExit may spin for ever on a thread of Swift's pool.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: directory)
    }

    deinit { stop() }
}
