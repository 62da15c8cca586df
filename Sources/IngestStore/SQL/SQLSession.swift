/// A connection to an engine, used by one owner at a time.
///
/// After an error the transaction is over: nothing of it is stored.
protocol SQLSession: AnyObject {
    /// False when it must be made anew: it is broken, or what it is connected to is another than before.
    var isUsable: Bool { get }
    /// From now on no call waits longer for the database than until then.
    func limit(to end: ContinuousClock.Instant)
    /// Begins a transaction that writes and runs the calls in it: as few round trips as the engine can.
    func beginWriting(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult]
    /// Begins a transaction that reads one snapshot.
    func beginReading() throws(StorageFailure)
    func run(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult]
    /// Runs the last calls of the transaction; durable when it returns.
    func commit(_ calls: [SQLCall]) throws(StorageFailure)
    func rollBack()
    /// Leaves files tidy.
    func close()
}

extension SQLSession {
    func first(_ call: SQLCall) throws(StorageFailure) -> SQLRow? { try run([call]).first?.rows.first }
    func rows(_ call: SQLCall) throws(StorageFailure) -> [SQLRow] { try run([call]).first?.rows ?? [] }
}

/// Makes sessions with one database.
protocol SQLEngine: Sendable {
    /// Creates what is not there and brings its tables up to date. What may take long is reported as it begins.
    func prepare(report: @Sendable (StoragePreparation) -> Void) throws(StorageFailure)
    /// Whose calls are limited to `end`, as the making of it is.
    func connect(toWrite: Bool, until end: ContinuousClock.Instant) throws(StorageFailure) -> any SQLSession
    /// Connections that write at the same time.
    var writers: Int { get }
    /// Connections that read, for each kind of reading.
    var readersOfAKind: Int { get }
    /// Nil where the engine does not know.
    var freeBytes: UInt64? { get }
    /// For messages; without passwords.
    var name: String { get }
}

extension SQLEngine {
    func prepare() throws(StorageFailure) { try prepare(report: { _ in }) }

    /// For whoever waits for nobody else's sake.
    func connect(toWrite: Bool) throws(StorageFailure) -> any SQLSession {
        try connect(toWrite: toWrite, until: .now + TimeLimits.background.end)
    }
}

/// Holds one session, and makes a new one when the old can't be trusted any more.
struct SessionSlot {
    private let engine: any SQLEngine
    private let toWrite: Bool
    private var session: (any SQLSession)?
    /// The transaction that runs, or ran last, is past its first step.
    private var hasBegun = false

    init(_ engine: any SQLEngine, toWrite: Bool) {
        self.engine = engine
        self.toWrite = toWrite
    }

    /// A transaction, which is over by `end`. `begin` is its first step, which changes nothing: where the connection was kept from
    /// before and was cut meanwhile, it is done again on a new one.
    mutating func with<Begun, Value>(
        until end: ContinuousClock.Instant,
        _ begin: (any SQLSession) throws(StorageFailure) -> Begun,
        then body: (any SQLSession, Begun) throws(StorageFailure) -> Value
    ) throws(StorageFailure) -> Value {
        if session != nil {
            do {
                return try attempt(until: end, begin, then: body)
            } catch {
                guard error.isCut, !hasBegun else { throw error }
            }
        }
        return try attempt(until: end, begin, then: body)
    }

    private mutating func attempt<Begun, Value>(
        until end: ContinuousClock.Instant,
        _ begin: (any SQLSession) throws(StorageFailure) -> Begun,
        then body: (any SQLSession, Begun) throws(StorageFailure) -> Value
    ) throws(StorageFailure) -> Value {
        hasBegun = false
        let session = try usable(until: end)
        do {
            let begun = try begin(session)
            hasBegun = true
            return try body(session, begun)
        } catch {
            session.rollBack()
            // What went wrong may stick to a connection; a restored file or a server that came back is found next time.
            if error.kind == .damaged || error.kind == .unavailable && !error.isTransient { close() }
            throw error
        }
    }

    mutating func close() {
        session?.close()
        session = nil
    }

    private mutating func usable(until end: ContinuousClock.Instant) throws(StorageFailure) -> any SQLSession
    {
        if let session, session.isUsable {
            session.limit(to: end)
            return session
        }
        close()
        let made = try engine.connect(toWrite: toWrite, until: end)
        session = made
        return made
    }
}
