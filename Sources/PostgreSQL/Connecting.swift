import CPostgreSQL

/// Opens a connection within a deadline.
///
/// It runs on a thread of its own: PQconnectPoll itself never waits for the server, but it does for the resolver of
/// names and for a ticket of Kerberos. When the deadline passes, the thread is left to end by itself and to close.
enum Connecting {
    /// Passed from the thread that opened it to the owner, never used by both.
    private struct Opened: @unchecked Sendable {
        let handle: OpaquePointer
    }

    static func open(
        _ options: ConnectionOptions, until limit: ContinuousClock.Instant
    ) throws(PostgreSQLError) -> OpaquePointer {
        let outcome = DetachedThread.run(until: limit) {
            connect(options, until: limit)
        } late: { result in
            if case .success(let opened) = result { PQfinish(opened.handle) }
        }
        switch outcome {
        case .finished(let result): return try result.get().handle
        case .deadlinePassed: throw timeout
        case .noThread: throw PostgreSQLError(kind: .connection, message: "no thread could be made")
        }
    }

    private static var timeout: PostgreSQLError {
        PostgreSQLError(kind: .timeout, message: "no connection within the deadline")
    }

    private static func connect(
        _ options: ConnectionOptions, until limit: ContinuousClock.Instant
    ) -> Result<Opened, PostgreSQLError> {
        guard let handle = options.start() else {
            return .failure(PostgreSQLError(kind: .connection, message: "no memory for a connection"))
        }
        // Severity and primary text, nothing else; notices go nowhere.
        PQsetErrorVerbosity(handle, PQERRORS_TERSE)
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        do throws(PostgreSQLError) {
            try finish(handle, until: limit)
            return .success(Opened(handle: handle))
        } catch {
            PQfinish(handle)
            return .failure(error)
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
