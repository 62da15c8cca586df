import CPostgreSQL

/// One connection to PostgreSQL, used by one owner at a time. Its calls block, each within the deadline.
///
/// Statements are prepared once, parameters and rows travel in binary form, and the calls of one `run` share one round
/// trip. Not `Sendable` on purpose.
public final class PostgreSQLConnection {
    /// Nil once it is closed or broken.
    private var handle: OpaquePointer?
    private let parameters = ParameterBuffer()
    private var preparer = Preparer()

    /// For each `run` and `script` to come; one for migrations is longer than one for requests.
    public var deadline: Duration
    /// When every call has to be over, though its deadline is later; nil = whenever its deadline says.
    public var limit: ContinuousClock.Instant?
    /// After a connection error or a timeout nothing more can be asked of it.
    public private(set) var isBroken = false
    /// For instance 150018.
    public let serverVersion: Int

    /// Connects.
    ///
    /// - Parameters:
    ///   - conninfo: a libpq URI or keyword string; what it leaves out comes from libpq's environment.
    ///   - deadline: bounds connecting, and each later `run` and `script`. When it passes, a cancel request is sent and
    ///     given a quarter of a second at most.
    ///   - limit: as the property; connecting has to be over by then, too.
    ///   - applicationName: what the server shows of it, unless `conninfo` says otherwise.
    public init(
        _ conninfo: String, deadline: Duration, limit: ContinuousClock.Instant? = nil,
        applicationName: String = "bandferry-ingest"
    ) throws(PostgreSQLError) {
        let options = try ConnectionOptions(conninfo, applicationName: applicationName)
        let opened = try Connecting.open(options, until: Self.end(deadline, limit))
        handle = opened
        self.deadline = deadline
        self.limit = limit
        serverVersion = Int(PQserverVersion(opened))
    }

    deinit { close() }

    /// Also closes what is in an open transaction, which the server then rolls back.
    public func close() {
        PQfinish(handle)
        handle = nil
    }

    /// True from a BEGIN to its COMMIT or ROLLBACK, also after an error in between.
    public var isInTransaction: Bool {
        let status = PQtransactionStatus(handle)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
    }

    /// Runs all calls in one pipeline and returns their results in order.
    ///
    /// Outside an explicit transaction the pipeline is one implicit transaction, committed when this returns. BEGIN,
    /// COMMIT and ROLLBACK may be calls of their own. When one call fails, its error is thrown and what follows it is
    /// not run; an explicit transaction then waits for its ROLLBACK. A statement is prepared before the first call
    /// runs, so it can't use a table that a call before it makes.
    public func run(_ calls: [PostgreSQLCall]) throws(PostgreSQLError) -> [PostgreSQLResult] {
        guard !calls.isEmpty else { return [] }
        let exchange = try begin()
        do throws(PostgreSQLError) {
            let statements = try preparer.statements(for: calls, on: exchange)
            for (call, statement) in zip(calls, statements) {
                guard let complaint = statement.complaint(about: call.parameters) else { continue }
                throw PostgreSQLError(kind: .misuse, message: "\(complaint), in: \(call.sql)")
            }
            for (call, statement) in zip(calls, statements) {
                guard parameters.send(call.parameters, to: statement, on: exchange.handle) else {
                    throw exchange.lost()
                }
            }
            return try exchange.results(of: statements)
        } catch {
            if case .server(let sqlState) = error.kind { preparer.note(sqlState: sqlState) }
            throw failed(error, exchange)
        }
    }

    /// Runs several statements at once by the simple protocol, for migrations. One that fails ends it.
    ///
    /// Without BEGIN and COMMIT of its own, all of it is one transaction. Rows are dropped.
    public func script(_ sql: String) throws(PostgreSQLError) {
        let exchange = try begin()
        do throws(PostgreSQLError) {
            try exchange.script(sql)
        } catch {
            throw failed(error, exchange)
        }
    }

    private func begin() throws(PostgreSQLError) -> Exchange {
        guard let handle else {
            throw PostgreSQLError(
                kind: isBroken ? .connection : .misuse, message: "this connection has ended; open another")
        }
        return Exchange(handle: handle, limit: Self.end(deadline, limit))
    }

    private static func end(
        _ deadline: Duration, _ limit: ContinuousClock.Instant?
    ) -> ContinuousClock.Instant {
        let end = ContinuousClock.now + deadline
        return limit.map { min($0, end) } ?? end
    }

    /// What an error means for the connection.
    private func failed(_ error: PostgreSQLError, _ exchange: Exchange) -> PostgreSQLError {
        switch error.kind {
        case .connection: break
        case .timeout: Cancellation.request(exchange.handle)
        // Half an exchange that can't be finished is no use either.
        case .server, .misuse: guard !exchange.isInStep else { return error }
        }
        isBroken = true
        close()
        return error
    }
}
