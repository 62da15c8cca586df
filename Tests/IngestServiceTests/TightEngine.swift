import Locking

@testable import IngestStore

/// An engine whose disk has as much room for a transaction as a test says.
final class TightEngine: SQLEngine {
    private let base: any SQLEngine
    /// Bytes that a transaction may write; nil = any.
    private let room = Guarded(Int?.none)

    init(_ base: any SQLEngine) { self.base = base }

    var writers: Int { base.writers }
    var readersOfAKind: Int { base.readersOfAKind }
    var freeBytes: UInt64? { nil }
    var name: String { base.name }

    func prepare() throws(StorageFailure) { try base.prepare() }
    func connect(toWrite: Bool) throws(StorageFailure) -> any SQLSession {
        TightSession(try base.connect(toWrite: toWrite), self)
    }

    func allow(_ bytes: Int?) { room.withLock { $0 = bytes } }

    fileprivate func check(_ calls: [SQLCall]) throws(StorageFailure) {
        let size = calls.flatMap(\.values).map(\.size).reduce(0, +)
        guard let room = room.withLock({ $0 }), size > room else { return }
        throw StorageFailure(.unavailable, "the disk is full")
    }
}

private final class TightSession: SQLSession {
    private let base: any SQLSession
    private let engine: TightEngine

    init(_ base: any SQLSession, _ engine: TightEngine) {
        self.base = base
        self.engine = engine
    }

    var isUsable: Bool { base.isUsable }
    func beginWriting(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
        try base.beginWriting(calls)
    }
    func beginReading() throws(StorageFailure) { try base.beginReading() }
    func run(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] { try base.run(calls) }
    func commit(_ calls: [SQLCall]) throws(StorageFailure) {
        try engine.check(calls)
        try base.commit(calls)
    }
    func rollBack() { base.rollBack() }
    func close() { base.close() }
}
