import Foundation
import HTTPServer
import Locking
import ProcessTestSupport
import SQLite
import Testing

/// One run of `bandferry-ingest` from the directory that this test was built into.
final class IngestProgram: Sendable {
    private let process: ChildProcess
    private let output: Spool
    private let errors: Spool

    init(_ arguments: [String]) throws {
        let binary = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // The test runs from inside the build directory, or from a bundle's directory in it.
        let here = Bundle.main.executableURL ?? URL(fileURLWithPath: binary)
        (output, errors) = (try Spool(), try Spool())
        process = try ChildProcess(
            here.deletingLastPathComponent().appendingPathComponent("bandferry-ingest").path, arguments,
            output: output.stream, errors: errors.stream)
    }

    /// Where it listens, from its first line.
    func url() throws -> String {
        let prefix = "listening on "
        for _ in 0..<2000 {
            if let line = output.text.split(separator: "\n").first, output.text.contains("\n"),
                line.hasPrefix(prefix)
            {
                return String(line.dropFirst(prefix.count))
            }
            usleep(10_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    func stop() -> Int32 {
        process.kill(SIGTERM)
        return wait()
    }

    /// See `ChildProcess.wait`.
    func wait() -> Int32 {
        if let status = process.wait(seconds: 30) { return status }
        process.kill(SIGKILL)
        return -1
    }

    func limitFileSize(_ limit: String) throws {
        let done = try ChildProcess.run(
            "/usr/bin/prlimit", ["--pid", "\(process.id)", "--fsize=\(limit):unlimited"])
        guard done.status == 0 else { throw POSIXError(.EPERM) }
    }

    var outputText: String { output.text }
    var errorText: String { errors.text }
}

extension TestServer {
    /// Samples in a store that no server has open.
    static func reopened(_ path: String) async throws -> Int {
        let database = try Database(path: path, access: .readWrite)
        #expect(try database.check(full: true, within: .seconds(30)) == .sound)
        return try database.first("SELECT coalesce(sum(samples), 0) FROM chunks") { $0.int(0) } ?? 0
    }
}
