import Foundation

/// Runs the program under test, which stands beside the test bundle.
struct Bandferry {
    struct Ending {
        var status: Int32
        var output: String
        var errors: String
    }

    /// A bus address; nobody listens there unless a test says so.
    var bus = "unix:path=/nonexistent/bus"
    var configuration: URL
    /// Kept while the program may run: it removes its files when it goes.
    var fixture: StateFixture?

    func run(_ arguments: String...) async throws -> Ending { try await run(arguments) }

    /// Output goes to files: a pipe that nobody drains would stop a long export. The wait blocks no thread, as the
    /// fake daemon in this process needs them.
    func run(_ arguments: [String]) async throws -> Ending {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = try ["output", "errors"].map { name in
            let path = directory.appendingPathComponent(name)
            try Data().write(to: path)
            return (path: path, handle: try FileHandle(forWritingTo: path))
        }
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["--config", configuration.path] + arguments
        process.environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus, "PATH": "/usr/bin:/bin", "TZ": "UTC"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = files[0].handle
        process.standardError = files[1].handle
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        let texts = try files.map { String(decoding: try Data(contentsOf: $0.path), as: UTF8.self) }
        return Ending(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }

    private static var program: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("bandferry")
    }
}
