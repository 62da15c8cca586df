import CPostgreSQL

/// One round trip of a connection: what was sent is answered to its end, or the connection is given up.
struct Exchange {
    let handle: OpaquePointer
    let limit: ContinuousClock.Instant

    /// Nothing is under way: the next exchange can begin.
    var isInStep: Bool {
        PQstatus(handle) == CONNECTION_OK && PQpipelineStatus(handle) == PQ_PIPELINE_ON
            && PQtransactionStatus(handle) != PQTRANS_ACTIVE
    }

    func lost() -> PostgreSQLError { Connecting.failure(handle) }

    // MARK: pipelines

    /// Ends the pipeline and returns what each of its statements came to, or throws the first error.
    func results(of statements: [Statement]) throws(PostgreSQLError) -> [PostgreSQLResult] {
        var results: [PostgreSQLResult] = []
        results.reserveCapacity(statements.count)
        var wrong = false
        try pipeline(of: statements.count) { index, result in
            if let decoded = statements[index].decode(result) {
                results.append(decoded)
            } else {
                wrong = true
            }
        }
        guard !wrong else { throw outOfStep }
        return results
    }

    /// Ends the pipeline and reads the answers to its commands. All are read before the first error is thrown, and
    /// before anything is reported as done: the commit of an implicit transaction comes last.
    func pipeline(of count: Int, each: (Int, OpaquePointer) -> Void) throws(PostgreSQLError) {
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        var failure: PostgreSQLError?
        var index = 0
        // A command's answer ends with nil, the pipeline with the answer to its sync.
        var idle = 0
        while true {
            guard let result = try next() else {
                guard PQstatus(handle) == CONNECTION_OK else { throw failure ?? lost() }
                index += 1
                idle += 1
                guard idle < 3 else { throw outOfStep }
                continue
            }
            defer { PQclear(result) }
            idle = 0
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                if let failure { throw failure }
                guard index == count else { throw outOfStep }
                return
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                guard index < count else { throw outOfStep }
                if failure == nil { each(index, result) }
            case PGRES_PIPELINE_ABORTED: break
            case PGRES_FATAL_ERROR:
                let error = ServerMessage.error(of: result)
                failure = failure ?? error
                if error.kind == .connection { throw error }
            default: throw unsupported(result)
            }
        }
    }

    private var outOfStep: PostgreSQLError {
        PostgreSQLError(kind: .connection, message: "the server's answers are not in step")
    }

    private func unsupported(_ result: OpaquePointer) -> PostgreSQLError {
        let status = PQresStatus(PQresultStatus(result)).map { String(cString: $0) } ?? "?"
        return PostgreSQLError(
            kind: .misuse, message: "a statement asks for what is not done here (\(status))")
    }

    // MARK: the simple protocol

    func script(_ sql: String) throws(PostgreSQLError) {
        guard !sql.utf8.contains(0) else {
            throw PostgreSQLError(kind: .misuse, message: "a zero byte in the SQL")
        }
        guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, sql) == 1 else { throw lost() }
        var failure: PostgreSQLError?
        while let result = try next() {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            case PGRES_FATAL_ERROR:
                let error = ServerMessage.error(of: result)
                failure = failure ?? error
                if error.kind == .connection { throw error }
            default: throw unsupported(result)
            }
        }
        guard PQenterPipelineMode(handle) == 1 else { throw failure ?? lost() }
        if let failure { throw failure }
    }

    // MARK: waiting

    /// The next result, once it has all arrived. Sends meanwhile what waits to be sent: neither side waits for the
    /// other with full buffers.
    private func next() throws(PostgreSQLError) -> OpaquePointer? {
        while PQisBusy(handle) != 0 {
            // -1 is an error that reading explains better.
            let isWriting = PQflush(handle) == 1
            switch Readiness.wait(PQsocket(handle), reading: true, writing: isWriting, until: limit) {
            case .deadlinePassed:
                throw PostgreSQLError(kind: .timeout, message: "no answer within the deadline")
            case .ready(let canRead):
                // A failure leaves the connection bad, and PQgetResult says why.
                if canRead, PQconsumeInput(handle) == 0, PQstatus(handle) != CONNECTION_BAD { throw lost() }
            }
        }
        return PQgetResult(handle)
    }
}
