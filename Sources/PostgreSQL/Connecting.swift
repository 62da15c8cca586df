import CPostgreSQL
import Dispatch
import Locking

/// Opens a connection within a deadline.
///
/// It runs on a thread of its own: PQconnectPoll itself never waits for the server, but it does for the resolver of
/// names and for a ticket of Kerberos. When the deadline passes, the thread is left to end by itself and to close.
enum Connecting {
    private enum Hand {
        case empty, holding(Opened), failed(PostgreSQLError), abandoned
    }

    /// Passed from the thread that opened it to the owner, never used by both.
    private struct Opened: @unchecked Sendable {
        let handle: OpaquePointer
    }

    static func open(
        _ options: ConnectionOptions, until limit: ContinuousClock.Instant
    ) throws(PostgreSQLError) -> OpaquePointer {
        let hand = Guarded(Hand.empty)
        let done = DispatchSemaphore(value: 0)
        let started = DetachedThread.start {
            let outcome = connect(options, until: limit)
            let isAbandoned = hand.withLock { hand in
                if case .abandoned = hand { return true }
                hand = outcome
                return false
            }
            if isAbandoned, case .holding(let opened) = outcome { PQfinish(opened.handle) }
            done.signal()
        }
        guard started else { throw PostgreSQLError(kind: .connection, message: "no thread could be made") }
        _ = done.wait(timeout: .now() + .milliseconds(Int(limit.millisecondsLeft)))
        let outcome = hand.withLock { hand in
            let outcome = hand
            hand = .abandoned
            return outcome
        }
        switch outcome {
        case .holding(let opened): return opened.handle
        case .failed(let error): throw error
        case .empty, .abandoned: throw timeout
        }
    }

    private static var timeout: PostgreSQLError {
        PostgreSQLError(kind: .timeout, message: "no connection within the deadline")
    }

    private static func connect(_ options: ConnectionOptions, until limit: ContinuousClock.Instant) -> Hand {
        guard let handle = options.start() else {
            return .failed(PostgreSQLError(kind: .connection, message: "no memory for a connection"))
        }
        // Severity and primary text, nothing else; notices go nowhere.
        PQsetErrorVerbosity(handle, PQERRORS_TERSE)
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        do throws(PostgreSQLError) {
            try finish(handle, until: limit)
            return .holding(Opened(handle: handle))
        } catch {
            PQfinish(handle)
            return .failed(error)
        }
    }

    private static func finish(
        _ handle: OpaquePointer, until limit: ContinuousClock.Instant
    ) throws(PostgreSQLError) {
        var wanted = PGRES_POLLING_WRITING
        while wanted != PGRES_POLLING_OK {
            guard wanted != PGRES_POLLING_FAILED, PQstatus(handle) != CONNECTION_BAD else {
                throw failure(handle)
            }
            let outcome = Readiness.wait(
                PQsocket(handle), reading: wanted == PGRES_POLLING_READING,
                writing: wanted == PGRES_POLLING_WRITING, until: limit)
            if case .deadlinePassed = outcome { throw timeout }
            wanted = PQconnectPoll(handle)
        }
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            throw failure(handle)
        }
    }

    static func failure(_ handle: OpaquePointer) -> PostgreSQLError {
        let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        return PostgreSQLError(kind: .connection, message: ServerMessage.oneLine(text))
    }
}
