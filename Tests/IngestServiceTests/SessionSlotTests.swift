import Locking
import Testing

@testable import IngestStore

/// A connection that was cut while nobody used it costs no request an error.
@Suite struct SessionSlotTests {
    /// Connections that are cut when told, at the step that is told.
    private final class Engine: SQLEngine {
        struct State {
            var connects = 0
            /// What the begins of all connections meet, in turn; nil = it works.
            var begins: [StorageFailure?] = []
            var commits: [StorageFailure?] = []
        }

        let state = Guarded(State())
        var writers: Int { 1 }
        var readersOfAKind: Int { 1 }
        var freeBytes: UInt64? { nil }
        var name: String { "a stub" }
        var connects: Int { state.withLock { $0.connects } }

        func prepare(report: @Sendable (StoragePreparation) -> Void) {}
        func connect(toWrite: Bool, until end: ContinuousClock.Instant) throws(StorageFailure)
            -> any SQLSession
        {
            state.withLock { $0.connects += 1 }
            return Session(self)
        }

        func next(_ path: WritableKeyPath<State, [StorageFailure?]>) throws(StorageFailure) {
            let failure = state.withLock { $0[keyPath: path].isEmpty ? nil : $0[keyPath: path].removeFirst() }
            if let failure { throw failure }
        }
    }

    private final class Session: SQLSession {
        private let engine: Engine
        init(_ engine: Engine) { self.engine = engine }

        var isUsable: Bool { true }
        func limit(to end: ContinuousClock.Instant) {}
        func beginWriting(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
            try engine.next(\.begins)
            return []
        }
        func beginReading() throws(StorageFailure) { try engine.next(\.begins) }
        func run(_ calls: [SQLCall]) -> [SQLResult] { [] }
        func commit(_ calls: [SQLCall]) throws(StorageFailure) { try engine.next(\.commits) }
        func rollBack() {}
        func close() {}
    }

    private static var cut: StorageFailure {
        var failure = StorageFailure(.unavailable, "the connection is gone")
        failure.isCut = true
        return failure
    }

    private func transaction(_ slot: inout SessionSlot) throws(StorageFailure) -> Int {
        try slot.with(until: .now + .seconds(3600)) {
            session throws(StorageFailure) in
            try session.beginReading()
        } then: { session, _ throws(StorageFailure) in
            try session.commit([])
            return 7
        }
    }

    @Test func aConnectionThatWasCutWhileItWasIdleIsReplaced() throws {
        let engine = Engine()
        engine.state.withLock { $0.begins = [nil, Self.cut] }
        var slot = SessionSlot(engine, toWrite: false)
        #expect(try transaction(&slot) == 7)
        #expect(try transaction(&slot) == 7)
        #expect(engine.connects == 2)
        #expect(try transaction(&slot) == 7)
        #expect(engine.connects == 2)
    }

    @Test func aNewConnectionThatIsCutIsNotReplacedAtOnce() {
        let engine = Engine()
        engine.state.withLock { $0.begins = [Self.cut] }
        var slot = SessionSlot(engine, toWrite: false)
        #expect(throws: Self.cut) { try transaction(&slot) }
        #expect(engine.connects == 1)
    }

    @Test func aDatabaseThatIsGoneIsTriedOnceMore() throws {
        let engine = Engine()
        engine.state.withLock { $0.begins = [nil, Self.cut, Self.cut] }
        var slot = SessionSlot(engine, toWrite: false)
        #expect(try transaction(&slot) == 7)
        #expect(throws: Self.cut) { try transaction(&slot) }
        #expect(engine.connects == 2)
    }

    /// Whether it took effect is not known: only who asked can ask again.
    @Test func aCommitThatWasCutIsNotRepeated() throws {
        let engine = Engine()
        engine.state.withLock { $0.commits = [nil, Self.cut] }
        var slot = SessionSlot(engine, toWrite: true)
        #expect(try transaction(&slot) == 7)
        #expect(throws: Self.cut) { try transaction(&slot) }
        #expect(engine.connects == 1)
    }

    @Test func whatIsNoCutIsNotRepeated() throws {
        let engine = Engine()
        let full = StorageFailure(.unavailable, "the disk is full")
        engine.state.withLock { $0.begins = [nil, full] }
        var slot = SessionSlot(engine, toWrite: true)
        #expect(try transaction(&slot) == 7)
        #expect(throws: full) { try transaction(&slot) }
        #expect(engine.connects == 1)
    }
}
