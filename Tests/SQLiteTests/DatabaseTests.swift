import Foundation
import SQLite
import Testing

@Suite struct DatabaseTests {
    @Test func aTransactionThatThrowsLeavesNothingBehind() throws {
        struct Stop: Error {}
        let database = try Database(path: ":memory:")
        try database.execute("CREATE TABLE t (a)")
        #expect(throws: Stop.self) {
            try database.transaction {
                try database.run("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(!database.isInTransaction)
        try database.transaction { try database.run("INSERT INTO t VALUES (2)") }
        #expect(try database.all("SELECT a FROM t") { $0.int(0) } == [2])
    }

    @Test func anImmediateTransactionWaitsNoLongerThanItsBusyTimeout() throws {
        let directory = try TemporaryDirectory()
        let first = try Database(path: directory.file("a.db"))
        try first.setPragma("journal_mode", "WAL")
        let second = try Database(path: directory.file("a.db"), busyTimeout: .milliseconds(50))
        try first.transaction {
            do {
                try second.transaction {}
                Issue.record("two writers at once")
            } catch let error as SQLiteError {
                #expect(error.code.primary == .busy)
            }
        }
        try second.transaction {}
    }

    @Test func pragmasAreReadBack() throws {
        let directory = try TemporaryDirectory()
        let database = try Database(path: directory.file("a.db"))
        #expect(try database.setPragma("journal_mode", "WAL") == "wal")
        #expect(try database.setPragma("synchronous", "FULL") == "2")
        #expect(try database.setPragma("user_version", "7") == "7")
        #expect(try database.userVersion == 7)
    }

    @Test func aMissingFileIsNotMadeByAReader() throws {
        let directory = try TemporaryDirectory()
        do {
            _ = try Database(path: directory.file("none.db"), access: .readOnly)
            Issue.record("opened a file that is not there")
        } catch {
            #expect(error.code.primary == .cantOpen)
            #expect(error.path.hasSuffix("none.db"))
        }
    }

    @Test func aReaderSeesAWALDatabaseWhileItsWriterRunsAndAfter() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.db")
        var writer: Database? = try Database(path: path)
        try writer?.setPragma("journal_mode", "WAL")
        try writer?.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let running = try Database(path: path, access: .readOnly)
        #expect(try running.first("SELECT count(*) FROM t") { $0.int(0) } == 1)
        #expect(throws: SQLiteError.self) { try running.run("INSERT INTO t VALUES (2)") }
        writer = nil
        let stopped = try Database(path: path, access: .readOnly)
        #expect(try stopped.first("SELECT count(*) FROM t") { $0.int(0) } == 1)
    }

    @Test func anImmutableReaderNeedsNoLogAndTakesAnyFileName() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("ä b?c#%41.db")
        var writer: Database? = try Database(path: path)
        try writer?.setPragma("journal_mode", "WAL")
        try writer?.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        writer = nil
        let reader = try Database(path: path, access: .immutable)
        #expect(try reader.first("SELECT count(*) FROM t") { $0.int(0) } == 1)
        #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
    }

    @Test func damageIsFoundAndSoundnessToo() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.db")
        var writer: Database? = try Database(path: path)
        try writer?.execute("CREATE TABLE t (a)")
        try writer?.transaction {
            for number in 0..<5_000 { try writer?.run("INSERT INTO t VALUES (?)", .int(number)) }
        }
        #expect(try writer?.check(full: true, within: .seconds(60)) == .sound)
        #expect(try writer?.check(full: true, within: .zero) == .timeUp)
        writer = nil
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 4096 * 3)
        try file.write(contentsOf: Data(repeating: 0x5a, count: 4096))
        try file.close()
        let damaged = try Database(path: path)
        guard case .damaged(let findings) = try damaged.check(full: false, within: .seconds(60)) else {
            Issue.record("the damage was not found")
            return
        }
        #expect(!findings.isEmpty)
    }

    @Test func somethingElseThanADatabaseIsCalledThat() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.db")
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: path))
        let database = try Database(path: path)
        do {
            _ = try database.userVersion
            Issue.record("read a text file as a database")
        } catch {
            #expect(error.code == .notADatabase)
        }
    }

    @Test func checkpointsHappenOnlyWhenAskedForOnceTheyAreTheCallers() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.db")
        let database = try Database(path: path)
        try database.setPragma("journal_mode", "WAL")
        database.disableAutomaticCheckpoints()
        try database.execute("CREATE TABLE t (a)")
        for _ in 0..<1_200 { try database.run("INSERT INTO t VALUES (1)") }
        #expect(database.logFrames > 1_200)
        #expect(try database.checkpoint(.truncate))
        let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        #expect(size == 0)
    }

    @Test func aBackupAndACompactCopyHoldTheSameRows() throws {
        let directory = try TemporaryDirectory()
        let database = try Database(path: directory.file("a.db"))
        try database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
        try database.backup(to: directory.file("b.db"))
        try database.vacuum(into: directory.file("c.db"))
        for name in ["b.db", "c.db"] {
            let copy = try Database(path: directory.file(name), access: .readOnly)
            #expect(try copy.first("SELECT sum(a) FROM t") { $0.int(0) } == 6)
        }
    }
}
