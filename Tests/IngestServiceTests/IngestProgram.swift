import Foundation
import HTTPServer
import Locking
import SQLite
import Testing

/// One run of `bandferry-ingest` from the directory that this test was built into.
final class IngestProgram: Sendable {
    private let process: Process
    private let output = Collector()
    private let errors = Collector()
    private let done = DispatchSemaphore(value: 0)

    init(_ arguments: [String]) throws {
        let binary = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        // The test runs from inside the build directory, or from a bundle's directory in it.
        let here = Bundle.main.executableURL ?? URL(fileURLWithPath: binary)
        process.executableURL = here.deletingLastPathComponent().appendingPathComponent("bandferry-ingest")
        process.arguments = arguments
        let (stdout, stderr) = (Pipe(), Pipe())
        process.standardOutput = stdout
        process.standardError = stderr
        output.follow(stdout)
        errors.follow(stderr)
        let done = done
        process.terminationHandler = { _ in done.signal() }
        try process.run()
        self.process = process
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

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
        process.terminate()
        return wait()
    }

    func wait() -> Int32 {
        guard done.wait(timeout: .now() + 30) == .success else {
            kill(process.processIdentifier, SIGKILL)
            return -1
        }
        output.finish()
        errors.finish()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    func limitFileSize(_ limit: String) throws {
        let prlimit = Process()
        prlimit.executableURL = URL(fileURLWithPath: "/usr/bin/prlimit")
        prlimit.arguments = ["--pid", "\(process.processIdentifier)", "--fsize=\(limit):unlimited"]
        try prlimit.run()
        prlimit.waitUntilExit()
        guard prlimit.terminationStatus == 0 else { throw POSIXError(.EPERM) }
    }

    var outputText: String { output.text }
    var errorText: String { errors.text }
}

/// Collects what comes out of a pipe.
private final class Collector: Sendable {
    private let bytes = Guarded(Data())
    private let ended = DispatchSemaphore(value: 0)

    /// On a thread of its own: Foundation's handlers for a pipe that ends race with the end of its descriptor.
    func follow(_ pipe: Pipe) {
        Thread.detachNewThread { [self] in
            while true {
                let data = pipe.fileHandleForReading.availableData
                if data.isEmpty { break }
                bytes.withLock { $0.append(data) }
            }
            ended.signal()
        }
    }

    func finish() { _ = ended.wait(timeout: .now() + 5) }

    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
}

extension TestServer {
    /// Samples in a store that no server has open.
    static func reopened(_ path: String) async throws -> Int {
        let database = try Database(path: path, access: .readWrite)
        #expect(try database.check(full: true, within: .seconds(30)) == .sound)
        return try database.first("SELECT coalesce(sum(samples), 0) FROM chunks") { $0.int(0) } ?? 0
    }
}
