import CMicrohttpd
import Locking

/// One request on its way through: collected on the server's thread, answered from anywhere, once.
final class Exchange: @unchecked Sendable {
    private enum State {
        /// Touched by the server's thread only.
        case collecting
        /// The connection is suspended; whoever takes it out of this state resumes it.
        case running(SuspendedConnection)
        case answered(ServerResponse)
    }

    private let state = Guarded(State.collecting)
    private let started = ContinuousClock.now

    // The server's thread alone reads and writes what follows, before the handler runs.
    var request: ServerRequest
    /// Set when the request is not for the handler; its body is then read and dropped.
    var refusal: ServerResponse?
    private(set) var received = 0

    init(request: ServerRequest, refusal: ServerResponse?) {
        self.request = request
        self.refusal = refusal
    }

    /// Takes bytes of the body; false when it is not worth going on.
    ///
    /// What is over the limit is read and dropped up to eight times the limit: an answer sent while the client
    /// is still writing is often lost with the connection.
    func receive(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: HTTPLimits, refuse: HTTPServer.Refuse
    ) -> Bool {
        guard ContinuousClock.now - started < limits.bodyDeadline else { return false }
        received += bytes.count
        guard received <= Self.drainLimit(limits) else { return false }
        guard refusal == nil else { return true }
        if received > limits.bodyBytes {
            refusal = refuse(.bodyTooLarge(limit: limits.bodyBytes))
            request.body = []
        } else {
            request.body.append(contentsOf: bytes)
        }
        return true
    }

    static func drainLimit(_ limits: HTTPLimits) -> Int { limits.bodyBytes * 8 + 64 * 1024 }

    /// Suspends the connection until `answer`. On the server's thread.
    func suspend(_ connection: OpaquePointer) {
        let suspended = SuspendedConnection(connection)
        state.withLock { $0 = .running(suspended) }
    }

    /// The first answer counts; a later one is dropped.
    func answer(_ response: ServerResponse) {
        state.withLock {
            guard case .running(let connection) = $0 else { return }
            $0 = .answered(response)
            // Under the lock, so that nobody sees the answer before the connection is on its way.
            connection.resume()
        }
    }

    var response: ServerResponse? {
        state.withLock {
            if case .answered(let response) = $0 { response } else { nil }
        }
    }
}

/// A connection that the library leaves alone until `resume`, which any thread may call once.
private struct SuspendedConnection: @unchecked Sendable {
    private let connection: OpaquePointer

    init(_ connection: OpaquePointer) {
        self.connection = connection
        MHD_suspend_connection(connection)
    }

    func resume() { MHD_resume_connection(connection) }
}
