import Locking

@testable import IngestStore

/// An engine that refuses to commit what a test says.
final class RefusingEngine: SQLEngine {
    private let base: any SQLEngine
    private let refusal = Guarded<@Sendable ([SQLCall]) -> StorageFailure?>({ _ in nil })

    private let readRefusal = Guarded<@Sendable () -> StorageFailure?>({ nil })

    private let spoilt = Guarded([UInt8]?.none)
    /// Rows that each `run` of calls came to, in order: each is a round trip to a database that is elsewhere.
    let runs = Guarded([Int]())

    init(_ base: any SQLEngine) { self.base = base }

    var writers: Int { base.writers }
    var readersOfAKind: Int { base.readersOfAKind }
    var freeBytes: UInt64? { nil }
    var name: String { base.name }

    func prepare(report: @Sendable (StoragePreparation) -> Void) throws(StorageFailure) {
        try base.prepare(report: report)
    }
    func connect(toWrite: Bool, until end: ContinuousClock.Instant) throws(StorageFailure) -> any SQLSession {
        RefusingSession(try base.connect(toWrite: toWrite, until: end), self)
    }

    /// Why the last calls of a transaction fail; nil = they don't.
    func refuse(_ reason: @escaping @Sendable ([SQLCall]) -> StorageFailure?) {
        refusal.withLock { $0 = reason }
    }

    /// Why nothing can be read.
    func refuseReading(_ reason: @escaping @Sendable () -> StorageFailure?) {
        readRefusal.withLock { $0 = reason }
    }

    /// Whose row can't be read behind its lock.
    func spoil(_ device: [UInt8]?) { spoilt.withLock { $0 = device } }

    fileprivate func spoiled(_ results: [SQLResult], of calls: [SQLCall]) -> [SQLResult] {
        guard let device = spoilt.withLock({ $0 }) else { return results }
        return zip(calls, results).map { call, result in
            let isSpoilt = call.text == DeviceStatement.lock.text && call.values == [.bytes(device)]
            return isSpoilt ? SQLResult(rows: result.rows.map { _ in SQLRow([]) }) : result
        }
    }

    /// As much as a transaction may write; nil = any number of bytes.
    func allow(_ bytes: Int?) {
        refuse { calls in
            let size = calls.flatMap(\.values).map(\.size).reduce(0, +)
            return size > bytes ?? .max ? StorageFailure(.unavailable, "the disk is full") : nil
        }
    }

    fileprivate func checkReading() throws(StorageFailure) {
        if let failure = readRefusal.withLock({ $0 })() { throw failure }
    }

    fileprivate func check(_ calls: [SQLCall]) throws(StorageFailure) {
        if let failure = refusal.withLock({ $0 })(calls) { throw failure }
    }
}

private final class RefusingSession: SQLSession {
    private let base: any SQLSession
    private let engine: RefusingEngine

    init(_ base: any SQLSession, _ engine: RefusingEngine) {
        self.base = base
        self.engine = engine
    }

    var isUsable: Bool { base.isUsable }
    func limit(to end: ContinuousClock.Instant) { base.limit(to: end) }
    func beginWriting(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
        engine.spoiled(try base.beginWriting(calls), of: calls)
    }
    func beginReading() throws(StorageFailure) {
        try engine.checkReading()
        try base.beginReading()
    }
    func run(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
        let results = try base.run(calls)
        engine.runs.withLock { $0.append(results.map(\.rows.count).reduce(0, +)) }
        return results
    }
    func commit(_ calls: [SQLCall]) throws(StorageFailure) {
        try engine.check(calls)
        try base.commit(calls)
    }
    func rollBack() { base.rollBack() }
    func close() { base.close() }
}
