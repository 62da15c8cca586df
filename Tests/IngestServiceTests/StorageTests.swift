import Dispatch
import Foundation
import IngestAPI
import SQLite
import Testing

@testable import IngestService
@testable import IngestStore

@Suite struct StorageTests {
    private func received(_ sent: SampleBatch) -> ReceivedBatch {
        ReceivedBatch(
            deviceID: sent.deviceID, ring: sent.ring, syncID: sent.syncID,
            completeThrough: sent.completeThrough,
            samples: sent.samples.map { .success($0) })
    }

    @Test func theFilesAreForTheirOwnerOnly() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        let storage = try await DatabaseStorage(.sqlite(path: path))
        _ = try await storage.store(received(batch([sample(1)])), account: "a")
        for file in [path, path + "-wal", path + "-shm"] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(file)")
        }
        await storage.close()
    }

    @Test func everythingIsThereAfterAReopen() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        let first = try await DatabaseStorage(.sqlite(path: path))
        _ = try await first.store(
            received(batch([sample(1), sample(2)], device: "d", completeThrough: 2)), account: "a")
        let before = try await first.device("d", account: "a")
        await first.close()
        let second = try await DatabaseStorage(.sqlite(path: path))
        #expect(try await second.device("d", account: "a") == before)
        #expect(
            try await second.store(received(batch([sample(2)], device: "d")), account: "a").duplicates == 1)
        await second.close()
    }

    @Test func aNewerSchemaIsRefusedAndLeftUntouched() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        await (try DatabaseStorage(.sqlite(path: path))).close()
        do {
            let database = try Database(path: path)
            try database.execute("PRAGMA user_version = 99")
            try database.checkpoint(.truncate)
        }
        let before = FileManager.default.contents(atPath: path)
        await #expect(throws: StorageFailure.self) { try await DatabaseStorage(.sqlite(path: path)) }
        do {
            _ = try await DatabaseStorage(.sqlite(path: path))
        } catch {
            #expect(error.kind == .incompatible)
            #expect(error.message.contains("99"))
        }
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test func anotherProgramsDatabaseIsRefusedAndLeftUntouched() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        do {
            let database = try Database(path: path)
            try database.execute("CREATE TABLE theirs (x)")
        }
        let before = FileManager.default.contents(atPath: path)
        await #expect(throws: StorageFailure.self) { try await DatabaseStorage(.sqlite(path: path)) }
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test func aFileThatIsNoDatabaseIsDamaged() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        try Data(repeating: 0x2a, count: 8192).write(to: URL(fileURLWithPath: path))
        do {
            _ = try await DatabaseStorage(.sqlite(path: path))
            Issue.record("opened")
        } catch {
            #expect(error.kind == .damaged)
        }
    }

    @Test func theStoreIsInWriteAheadModeWithFullSync() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        await (try DatabaseStorage(.sqlite(path: path))).close()
        let session = try SQLiteEngine(path: path).connect(toWrite: true)
        let pragmas = try ["journal_mode", "synchronous"].map {
            try session.first(SQLCall(TestStatement(text: "PRAGMA \($0)")))?.values.first
        }
        #expect(pragmas == [.text("wal"), .integer(2)])
        session.close()
    }

    @Test func requestsThatWaitAreCommittedTogether() async throws {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        try engine.prepare()
        let writer = WriteQueue(engine, limits: .untilTheTestEnds)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = writer.perform(
            WriteJob { _, _ in
                gate.wait()
                return Decision(value: ())
            })
        async let rest = (0..<50).asyncMap { number in
            try? await writer.perform(account("account \(number)"))
        }
        // The first transaction is held open while the others are on their way; how many arrive in time depends on
        // the machine, so it waits for a while and then for the outcome.
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { gate.signal() }
        try await first
        #expect(await rest == (0..<50).map { "account \($0)" })
        #expect(await writer.commits < 51)
        await writer.close()
    }

    @Test func aDefectOfOneRequestLeavesTheGroupAlone() async throws {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        try engine.prepare()
        let writer = WriteQueue(engine, limits: .untilTheTestEnds)
        let outcomes = await (0..<30).asyncMap { number in
            var job = account("account \(number)")
            if number % 3 == 0 {
                // One that the engine refuses, or one that can't be decided.
                let spoilt = number % 2 == 0
                job.decide = { _, _ throws(StorageFailure) in
                    guard spoilt else { throw StorageFailure(.defect, "not this one") }
                    return Decision(value: "", writes: [SQLCall(AccountStatement.make, .null, .int(0))])
                }
            }
            do {
                _ = try await writer.perform(job)
                return true
            } catch {
                #expect((error as? StorageFailure)?.kind == .defect)
                return false
            }
        }
        #expect(outcomes == (0..<30).map { $0 % 3 != 0 })
        await writer.close()
        let session = try engine.connect(toWrite: false)
        #expect(try session.rows(SQLCall(ServerStatement.accounts)).count == 20)
        session.close()
    }

    private func account(_ name: String) -> WriteJob<String> {
        WriteJob { _, _ in
            Decision(value: name, writes: [SQLCall(AccountStatement.make, .text(name), .int(0))])
        }
    }

    @Test func afterCloseNothingIsTaken() async throws {
        let directory = TemporaryDirectory()
        let storage = try await DatabaseStorage(.sqlite(path: directory.path + "/s.sqlite"))
        await storage.close()
        await #expect(throws: StorageFailure.self) {
            try await storage.store(received(batch([sample(1)])), account: "a")
        }
    }

}
