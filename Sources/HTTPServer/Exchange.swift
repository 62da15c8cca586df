import CMicrohttpd
import Locking

/// One request on its way through: collected on the server's thread, answered from anywhere, once.
final class Exchange: @unchecked Sendable {
    private enum State {
        /// Touched by the server's thread only.
        case collecting
        /// The connection is suspended, its body unread; whoever takes it out of this state resumes it.
        case judging(SuspendedConnection)
        /// With the refusal, if it is refused.
        case judged(ServerResponse?)
        /// The connection is suspended, as above.
        case running(SuspendedConnection)
        case answered(ServerResponse)
        case sent
    }

    /// What the library's next call for this request is about.
    enum Turn {
        case body
        case judgement(ServerResponse?)
        case answer(ServerResponse)
    }

    private let state = Guarded(State.collecting)

    // The server's thread alone reads and writes what follows, before the handler runs.
    var request: ServerRequest
    /// Set when the request is not for the handler; its body is then read and dropped.
    var refusal: ServerResponse?
    /// The body is read and dropped although the request is for the handler.
    var dropsBody = false
    /// Where the request ends can't be told: its body is not waited for, and the answer is the connection's last.
    let isUnframed: Bool
    /// The answer is the connection's last: of chunks the library hands over what is in them, and how they were
    /// told apart it alone saw, so a proxy may have found the request's end elsewhere.
    var isLast: Bool { isUnframed || !request.header("transfer-encoding").isEmpty }
    private(set) var received = 0
    /// Bytes that count against the limit of all requests together.
    var charged = 0
    /// Of the answer that is being sent.
    var hold: AnswerHold?

    init(request: ServerRequest, refusal: ServerResponse?, isUnframed: Bool = false) {
        self.request = request
        self.refusal = refusal
        self.isUnframed = isUnframed
    }

    /// Takes bytes of the body; false when it is not worth going on.
    ///
    /// What is over the limit is read and dropped up to eight times the limit: an answer sent while the client
    /// is still writing is often lost with the connection.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>, limits: HTTPLimits) -> Bool {
        received += bytes.count
        guard received <= Self.drainLimit(limits) else { return false }
        if refusal == nil, !dropsBody { request.body.append(contentsOf: bytes) }
        return true
    }

    func drop(for refusal: ServerResponse) {
        self.refusal = refusal
        request.body = []
    }

    static func drainLimit(_ limits: HTTPLimits) -> Int { limits.bodyBytes * 8 + 64 * 1024 }

    // MARK: on the server's thread

    /// Suspends the connection until `judge` or `answer`.
    func suspendForJudgement(_ connection: OpaquePointer) {
        let suspended = SuspendedConnection(connection)
        state.withLock { $0 = .judging(suspended) }
    }

    /// Suspends the connection until `answer`.
    func suspend(_ connection: OpaquePointer) {
        let suspended = SuspendedConnection(connection)
        state.withLock { $0 = .running(suspended) }
    }

    /// Takes what has come out, so that it is acted on once.
    func takeTurn() -> Turn {
        state.withLock {
            switch $0 {
            case .collecting, .judging, .running, .sent: return .body
            case .judged(let refusal):
                $0 = .collecting
                return .judgement(refusal)
            case .answered(let response):
                // The library has a copy from here on.
                $0 = .sent
                return .answer(response)
            }
        }
    }

    // MARK: from anywhere

    /// Nil = the body may come.
    func judge(_ refusal: ServerResponse?) {
        state.withLock {
            guard case .judging(let connection) = $0 else { return }
            $0 = .judged(refusal)
            connection.resume()
        }
    }

    /// The first answer counts; a later one is dropped.
    func answer(_ response: ServerResponse) {
        state.withLock {
            switch $0 {
            case .judging(let connection):
                $0 = .judged(response)
                connection.resume()
            case .running(let connection):
                $0 = .answered(response)
                // Under the lock, so that nobody sees the answer before the connection is on its way.
                connection.resume()
            case .collecting, .judged, .answered, .sent: return
            }
        }
    }
}

/// A connection that the library leaves alone until `resume`, which any thread may call once.
private struct SuspendedConnection: @unchecked Sendable {
    private let connection: OpaquePointer

    init(_ connection: OpaquePointer) {
        self.connection = connection
        bandferry_mhd_suspend(connection)
    }

    func resume() { bandferry_mhd_resume(connection) }
}
