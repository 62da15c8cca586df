import Dispatch
import Glibc
import HTTPServer
import Locking
import PostgreSQL
import PostgreSQLTestSupport
import Testing

@testable import IngestService
@testable import IngestStore

/// A database that hangs keeps nobody waiting for longer than is said, however many wait for it.
@Suite struct WaitingTests {
    private static let hour = Duration.seconds(3600)

    private static var late: StorageFailure {
        var failure = StorageFailure(.unavailable, "no answer within the deadline")
        failure.isLate = true
        return failure
    }

    private static var overdue: StorageFailure {
        StorageFailure(.overloaded, "it waited too long for its turn")
    }

    private func account(_ name: String) -> WriteJob<Void> {
        WriteJob { _, _ in
            Decision(value: (), writes: [SQLCall(AccountStatement.make, .text(name), .int(0))])
        }
    }

    /// It does what it is asked, or is late with it at once; and notes what of it was begun.
    private final class Engine: SQLEngine {
        struct State {
            var isLate = false
            /// What a commit fails with.
            var endFailure: StorageFailure?
            var begins = 0
            /// What each begin does, in turn.
            var steps: [@Sendable () -> Void] = []
            /// Until when connections, and transactions on those that were there, may take.
            var connects: [ContinuousClock.Instant] = []
            var limits: [ContinuousClock.Instant] = []
        }

        let state = Guarded(State())
        var writers: Int { 2 }
        var readersOfAKind: Int { 1 }
        var freeBytes: UInt64? { nil }
        var name: String { "a stub" }
        var begins: Int { state.withLock { $0.begins } }

        func prepare(report: @Sendable (StoragePreparation) -> Void) {}
        func connect(toWrite: Bool, until end: ContinuousClock.Instant) -> any SQLSession {
            state.withLock { $0.connects.append(end) }
            return Session(self)
        }

        func begin() throws(StorageFailure) {
            let (isLate, step) = state.withLock { state in
                state.begins += 1
                return (state.isLate, state.steps.isEmpty ? nil : state.steps.removeFirst())
            }
            step?()
            if isLate { throw WaitingTests.late }
        }
    }

    private final class Session: SQLSession {
        private let engine: Engine
        init(_ engine: Engine) { self.engine = engine }

        var isUsable: Bool { true }
        func limit(to end: ContinuousClock.Instant) { engine.state.withLock { $0.limits.append(end) } }
        func beginWriting(_ calls: [SQLCall]) throws(StorageFailure) -> [SQLResult] {
            try engine.begin()
            return []
        }
        func beginReading() throws(StorageFailure) { try engine.begin() }
        func run(_ calls: [SQLCall]) -> [SQLResult] { [] }
        func commit(_ calls: [SQLCall]) throws(StorageFailure) {
            if let failure = engine.state.withLock({ $0.endFailure }) { throw failure }
        }
        func rollBack() {}
        func close() {}
    }

    // MARK: in the queue

    @Test func whoWaitedWhileTheDatabaseHungIsToldWithTheFirst() async throws {
        let engine = Engine()
        let reader = ReadConnection(engine, label: "test", limits: .untilTheTestEnds)
        let writer = WriteQueue(engine, limits: .untilTheTestEnds)
        engine.state.withLock { $0.isLate = true }
        let asked = ContinuousClock.now
        for _ in 0..<3 {
            await #expect(throws: Self.late) { try await reader.perform(asked: asked) { _ in } }
            await #expect(throws: Self.late) { try await writer.perform(account("a"), asked: asked) }
        }
        #expect(engine.begins == 2)
        engine.state.withLock { $0.isLate = false }
        // Whoever comes later has a try of their own.
        try await reader.perform(asked: .now) { _ in }
        try await writer.perform(account("a"), asked: .now)
        #expect(engine.begins == 4)
    }

    @Test(.timeLimit(.minutes(5))) func soIsWhoWaitedForALock() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        engine.refuse { calls in
            guard calls.contains(where: { $0.values.first == .text("held") }) else { return Self.late }
            var contended = StorageFailure(.unavailable, "55P03: a lock was not to be had")
            contended.isTransient = true
            contended.isContended = true
            return contended
        }
        let held = Task { try await queue.perform(account("held")) }
        while await queue.held == 0 { await Task.yield() }
        await #expect(throws: Self.late) { try await queue.perform(account("a")) }
        await #expect(throws: Self.late) { try await held.value }
        await queue.close()
    }

    /// The next group may be one that hangs.
    @Test(.timeLimit(.minutes(5))) func anAnswerDoesNotWaitForTheNextGroup() async throws {
        let engine = Engine()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        let (stream, begun) = AsyncStream.makeStream(of: Void.self)
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isOver = Guarded(false)
        engine.state.withLock {
            $0.steps = [
                {
                    begun.yield()
                    first.wait()
                },
                // Not for ever, so that a test that fails ends.
                { if second.wait(timeout: .now() + 30) == .timedOut { isOver.withLock { $0 = true } } },
            ]
        }
        let answer = Task { try await queue.perform(account("a")) }
        for await _ in stream { break }
        let next = Task { try await queue.perform(account("b")) }
        // So that it is in the queue by then; if not, there is nothing to be seen.
        try await Task.sleep(for: .milliseconds(100))
        first.signal()
        try await answer.value
        second.signal()
        try await next.value
        #expect(!isOver.withLock { $0 })
        await queue.close()
    }

    @Test func whatIsOverdueIsNotBegun() async throws {
        let engine = Engine()
        let limits = TimeLimits(begin: Self.hour, end: Self.hour * 2)
        let reader = ReadConnection(engine, label: "test", limits: limits)
        let writer = WriteQueue(engine, limits: limits)
        let asked = ContinuousClock.now - Self.hour
        await #expect(throws: Self.overdue) { try await reader.perform(asked: asked) { _ in } }
        await #expect(throws: Self.overdue) { try await writer.perform(account("a"), asked: asked) }
        #expect(engine.begins == 0)
    }

    @Test(.timeLimit(.minutes(5))) func whatIsHeldUpBecomesOverdueToo() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        let queue = WriteQueue(
            engine, lockPauses: LockPauses(afterWait: .milliseconds(20)),
            limits: TimeLimits(begin: .milliseconds(500), end: Self.hour))
        engine.refuse { _ in
            var contended = StorageFailure(.unavailable, "55P03: a lock was not to be had")
            contended.isTransient = true
            contended.isContended = true
            return contended
        }
        // With the lock's failure, or as overdue where it was not begun any more.
        await #expect(throws: StorageFailure.self) { try await queue.perform(account("a")) }
        await queue.close()
    }

    @Test(.timeLimit(.minutes(5))) func soManyQuestionsWaitAndNoMore() async throws {
        let pool = ReadPool(
            Engine(), label: "test", count: 1, limits: .untilTheTestEnds, mostQuestions: 1)
        let (stream, begun) = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        let first = Task {
            try await pool.perform { _ in
                begun.yield()
                // Not for ever, so that a test that fails ends.
                _ = end.wait(timeout: .now() + 30)
            }
        }
        for await _ in stream { break }
        await #expect(throws: StorageFailure(.overloaded, "1 questions wait for each connection")) {
            try await pool.perform { _ in }
        }
        end.signal()
        try await first.value
        try await pool.perform { _ in }
    }

    // MARK: at the database

    @Test func aTransactionIsOverSoLongAfterItWasAskedFor() async throws {
        let engine = Engine()
        let limits = TimeLimits(begin: Self.hour, end: Self.hour * 2)
        let reader = ReadConnection(engine, label: "test", limits: limits)
        let writer = WriteQueue(engine, limits: limits)
        let asked = (0..<4).map { ContinuousClock.now - .seconds(60 * $0) }
        try await reader.perform(asked: asked[0]) { _ in }
        try await writer.perform(account("a"), asked: asked[1])
        try await reader.perform(asked: asked[2]) { _ in }
        try await writer.perform(account("a"), asked: asked[3])
        let state = engine.state.withLock { $0 }
        #expect(state.connects == [asked[0] + limits.end, asked[1] + limits.end])
        #expect(state.limits == [asked[2] + limits.end, asked[3] + limits.end])
    }

    /// However many connections it looks at, and however often it writes.
    @Test func aProbeIsOneQuestion() async throws {
        let engine = Engine()
        let pool = WritePool(engine, limits: .untilTheTestEnds)
        try await pool.probe()
        let connects = engine.state.withLock { $0.connects }
        #expect(connects.count == 2)
        #expect(Set(connects).count == 1)
    }

    @Test(.timeLimit(.minutes(5))) func askedByManyAtOnceItWritesOnce() async throws {
        let engine = Engine()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        let (stream, begun) = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        engine.state.withLock {
            $0.steps = [
                {
                    begun.yield()
                    // Not for ever, so that a test that fails ends.
                    _ = end.wait(timeout: .now() + 60)
                }
            ]
        }
        let first = Task { try await queue.probe(asked: .now) }
        for await _ in stream { break }
        let others = (0..<200).map { _ in Task { try await queue.probe(asked: .now) } }
        while queue.probes.waiting < others.count { await Task.yield() }
        end.signal()
        try await first.value
        for other in others { try await other.value }
        #expect(engine.begins == 1)
        await queue.close()
    }

    @Test(.timeLimit(.minutes(5))) func whoeverWaitsForAProbeIsToldTheSameAndNoMoreWaitThanSo() async throws {
        let probe = SharedProbe(mostWaiting: 2)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (stream, begun) = AsyncStream.makeStream(of: Void.self)
        let finds = Guarded(0)
        @Sendable func ask() async throws(StorageFailure) {
            try await probe.outcome { () async throws(StorageFailure) in
                finds.withLock { $0 += 1 }
                begun.yield()
                for await _ in gate { break }
                throw Self.late
            }
        }
        let first = Task { try await ask() }
        for await _ in stream { break }
        let others = (0..<2).map { _ in Task { try await ask() } }
        while probe.waiting < 2 { await Task.yield() }
        await #expect(throws: StorageFailure(.overloaded, "2 wait for the same answer")) { try await ask() }
        open.yield()
        await #expect(throws: Self.late) { try await first.value }
        for other in others { await #expect(throws: Self.late) { try await other.value } }
        #expect(finds.withLock { $0 } == 1)
        // Whoever comes later finds it out anew.
        open.yield()
        await #expect(throws: Self.late) { try await ask() }
        #expect(finds.withLock { $0 } == 2)
    }

    @Test func aDatabaseThatHungLeavesNoDoubtAboutRoom() async throws {
        let engine = Engine()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        engine.state.withLock { $0.isLate = true }
        await #expect(throws: Self.late) { try await queue.probe(asked: .now) }
        #expect(await !queue.room.isDoubtful)
        let asked = ContinuousClock.now
        engine.state.withLock { ($0.isLate, $0.endFailure) = (false, Self.late) }
        await #expect(throws: Self.late) {
            try await queue.perform(account("a"), asked: asked + .seconds(60))
        }
        #expect(await !queue.room.isDoubtful)
        await queue.close()
    }

    @Test func whatMayBeAFullDiskLeavesDoubtAboutRoom() async throws {
        func closed(_ state: String?) -> StorageFailure {
            var error = PostgreSQLError(kind: .connection, message: "bye")
            error.closedWith = state
            return StorageFailure(error)
        }
        func refused(_ state: String) -> StorageFailure {
            StorageFailure(PostgreSQLError(kind: .server(sqlState: state), message: "no"))
        }
        let failures =
            // The database stops, or has not started.
            ["57P01", "57P02", "57P03"].flatMap { [(closed($0), false), (refused($0), false)] }
            // Where its log of writes has no room it ends every connection, and tells none of them why.
            + [(closed(nil), true), (closed("57P05"), true), (refused("57P04"), true)]
            + [(refused("53100"), true), (refused("40001"), false), (refused("42601"), false)]
        for (failure, isDoubtful) in failures {
            let engine = Engine()
            let queue = WriteQueue(engine, limits: .untilTheTestEnds)
            engine.state.withLock { $0.endFailure = failure }
            await #expect(throws: failure) { try await queue.perform(account("a")) }
            #expect(await queue.room.isDoubtful == isDoubtful, "\(failure)")
            await queue.close()
        }
    }

    @Test(.enabled(if: TestEngine.isPostgreSQL), .timeLimit(.minutes(5)))
    func aServerThatEndsAConnectionSaysWhetherItIsToldTo() async throws {
        let server = try TestPostgreSQL()
        let engine = PostgreSQLEngine(uri: server.conninfo())
        try engine.prepare()
        for isTold in [true, false] {
            let queue = WriteQueue(engine, limits: .untilTheTestEnds)
            let end = isTold ? "pg_terminate_backend(pg_backend_pid())" : "pg_sleep(0)"
            let job = WriteJob<Void>(reads: [SQLCall(TestStatement(text: "SELECT pg_backend_pid()"))]) {
                _, results throws(StorageFailure) in
                if !isTold, let backend = try results.first?.rows.first?.int(0), backend > 1 {
                    kill(pid_t(backend), SIGKILL)
                }
                return Decision(
                    value: (),
                    writes: [
                        SQLCall(AccountStatement.make, .text("a"), .int(0)),
                        SQLCall(TestStatement(text: "SELECT 1 FROM (SELECT \(end)) AS ended")),
                    ])
            }
            do throws(StorageFailure) {
                try await queue.perform(job)
                Issue.record("a connection that is ended commits")
            } catch {
                #expect(error.isCut, "\(error)")
                #expect(error.isStop == isTold, "\(error)")
            }
            #expect(await queue.room.isDoubtful == !isTold)
            await queue.close()
        }
    }

    @Test(.enabled(if: TestEngine.isPostgreSQL), .timeLimit(.minutes(5)))
    func aServerThatHangsIsLate() async throws {
        let server = try TestPostgreSQL()
        let engine = PostgreSQLEngine(uri: server.conninfo())
        let limits = TimeLimits(begin: Self.hour * 2, end: Self.hour)
        let known = ReadConnection(engine, label: "test", limits: limits)
        let fresh = ReadConnection(engine, label: "test", limits: limits)
        try await known.perform(asked: .now) { _ in }
        server.freeze()
        defer { server.thaw() }
        let begin = ContinuousClock.now
        for connection in [known, fresh] {
            let asked = ContinuousClock.now - Self.hour + .milliseconds(400)
            do throws(StorageFailure) {
                try await connection.perform(asked: asked) { _ in }
                Issue.record("a server that stands still answers")
            } catch {
                #expect(error.isLate)
            }
        }
        // A call that nobody waits for has thirty seconds.
        #expect(ContinuousClock.now - begin < .seconds(20))
    }

    // MARK: the stop

    @Test(.timeLimit(.minutes(5))) func aStorageThatDoesNotCloseHoldsUpNoStop() async throws {
        let storage = FillingStorage()
        for isStuck in [false, true] {
            storage.isStuck.withLock { $0 = isStuck }
            let server = try IngestServer(service: IngestService(storage: storage), storage: storage)
            let deadline = isStuck ? Duration.milliseconds(200) : Self.hour
            #expect(await server.stop(within: deadline) == !isStuck)
        }
    }
}
