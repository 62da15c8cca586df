import Dispatch
import Foundation
import Locking

@testable import HTTPServer

/// The wrapper of libmicrohttpd, for tests that write bytes to it.
enum RawServer {
    static func run(
        limits: HTTPLimits = HTTPLimits(bodyBytes: 1000),
        admit: @escaping HTTPServer.Admit = { _ in .admitted },
        handler: @escaping HTTPServer.Handler = echo, _ body: @escaping @Sendable (UInt16) throws -> Void
    ) async throws {
        let server = try HTTPServer.start(
            address: ListenAddress(), limits: limits, admit: admit, handler: handler)
        let port = server.address.port
        // Raw sockets block: not on Swift's shared pool.
        let result = await withCheckedContinuation { continuation in
            DispatchQueue(label: "raw").async { continuation.resume(returning: Result { try body(port) }) }
        }
        await server.stop(within: .seconds(2))
        try result.get()
    }

    /// Says what it saw.
    static let echo: HTTPServer.Handler = { request in
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let path = request.path.joined(separator: "|")
        return ServerResponse(
            status: 200, contentType: "text/plain",
            body: Array("<\(request.method) \(path) ?\(query) \(request.body.count)>".utf8))
    }
}

/// Handlers wait at it until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if state.isOpen { return true }
                state.waiting.append(continuation)
                return false
            }
            if now { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Blocks, for tests on threads of their own.
    func waitForSomebody() {
        while state.withLock({ $0.waiting.isEmpty }) { usleep(2000) }
    }

    var waiting: Int { state.withLock { $0.waiting.count } }

    func somebodyWaits() async {
        while state.withLock({ $0.waiting.isEmpty }) { try? await Task.sleep(for: .milliseconds(5)) }
    }
}

/// Reads an answer on a thread of its own.
final class Answered: Sendable {
    private let queue = DispatchQueue(label: "answer")
    private let result = Guarded("")

    func read(_ connection: sending RawConnection, _ request: String) {
        connection.write(request)
        nonisolated(unsafe) let connection = connection
        queue.async {
            let text = connection.read()
            self.result.withLock { $0 = text }
        }
    }

    var text: String {
        get async {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.result.withLock { $0 }) }
            }
        }
    }
}
