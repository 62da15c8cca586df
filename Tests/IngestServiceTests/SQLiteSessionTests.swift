import Glibc
import SQLite
import Testing

@testable import IngestStore

/// A SQLite file that another process has locked.
@Suite struct SQLiteSessionTests {
    private let directory = TemporaryDirectory()
    private let engine: SQLiteEngine
    private var path: String { engine.path }

    init() throws {
        engine = SQLiteEngine(path: directory.path + "/s.sqlite")
        try engine.prepare()
    }

    /// Bytes of the write-ahead log.
    private var logSize: Int {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
    }

    private func write(_ session: any SQLSession) throws {
        _ = try session.beginWriting([])
        try session.commit([
            SQLCall(AccountStatement.putPerson, .text("a"), .text("p"), .text("{}"))
        ])
    }

    @Test func aLockIsWaitedForNoLongerThanIsLeft() throws {
        let longest = SQLiteSession.wait(until: .now + .seconds(3600))
        #expect(longest == .seconds(5))
        #expect(SQLiteSession.wait(until: .now) == .zero)
        #expect(SQLiteSession.wait(until: .now + .seconds(2)) <= .seconds(2))

        let session = try #require(
            try engine.connect(toWrite: true, until: .now + .seconds(3600)) as? SQLiteSession)
        func limit() throws -> Int {
            try session.first(SQLCall(TestStatement(text: "PRAGMA busy_timeout")))?.int(0) ?? -1
        }
        #expect(try limit() == 5000)
        session.limit(to: .now + .seconds(2))
        #expect(try limit() <= 2000)
        session.limit(to: .now)
        #expect(try limit() == 0)
        session.limit(to: .now + .seconds(3600))
        #expect(try limit() == 5000)
        session.close()
        let late = try engine.connect(toWrite: true, until: .now)
        #expect(try late.first(SQLCall(TestStatement(text: "PRAGMA busy_timeout")))?.int(0) == 0)
        late.close()
    }

    @Test func whoWasLockedOutLeavesTheLogToTheNext() throws {
        // The last to close a file empties its log: this is not the last.
        let other = try Database(path: path, access: .readWrite)
        let session = try engine.connect(toWrite: true)
        try write(session)
        let size = logSize
        #expect(size > 0)
        session.limit(to: .now)
        try other.execute("BEGIN IMMEDIATE")
        #expect(throws: StorageFailure.self) { try session.beginWriting([]) }
        // Nothing would keep it from waiting, and from emptying the log, now.
        try other.execute("ROLLBACK")
        session.close()
        #expect(logSize == size)

        let next = try engine.connect(toWrite: true)
        try write(next)
        next.close()
        #expect(logSize == 0)
        try other.execute("SELECT 1")
    }

    /// Every transaction begins with the time that is left of its own.
    @Test func aTransactionThatIsLateDoesNotWait() throws {
        let other = try Database(path: path, access: .readWrite)
        var slot = SessionSlot(engine, toWrite: true)
        func attempt(until end: ContinuousClock.Instant) throws {
            try slot.with(until: end) {
                session throws(StorageFailure) in
                try session.beginWriting([])
            } then: { session, _ throws(StorageFailure) in
                try session.commit([])
            }
        }
        try attempt(until: .now + .seconds(3600))
        try other.execute("BEGIN IMMEDIATE")
        for _ in 0..<3 {
            #expect(throws: StorageFailure.self) { try attempt(until: .now) }
        }
        try other.execute("ROLLBACK")
        try attempt(until: .now + .seconds(3600))
        slot.close()
    }
}
