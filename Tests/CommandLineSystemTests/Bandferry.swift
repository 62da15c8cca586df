import Foundation
import ProcessTestSupport

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
        let (output, errors) = (try Spool(), try Spool())
        let process = try ChildProcess(
            Self.program.path, ["--config", configuration.path] + arguments,
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus, "PATH": "/usr/bin:/bin", "TZ": "UTC"],
            output: output.stream, errors: errors.stream)
        // Not a thread of the pool: the fake daemon in this process needs them.
        for _ in 0..<6_000 where process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
        return Ending(status: process.wait(seconds: 0) ?? -1, output: output.text, errors: errors.text)
    }

    private static var program: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("bandferry")
    }
}
