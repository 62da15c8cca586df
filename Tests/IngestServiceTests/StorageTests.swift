import Dispatch
import Foundation
import IngestAPI
import SQLite
import Testing

@testable import IngestService

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
        let storage = try await SQLiteIngestStorage(path: path)
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
        let first = try await SQLiteIngestStorage(path: path)
        _ = try await first.store(
            received(batch([sample(1), sample(2)], device: "d", completeThrough: 2)), account: "a")
        let before = try await first.device("d", account: "a")
        await first.close()
        let second = try await SQLiteIngestStorage(path: path)
        #expect(try await second.device("d", account: "a") == before)
        #expect(
            try await second.store(received(batch([sample(2)], device: "d")), account: "a").duplicates == 1)
        await second.close()
    }

    @Test func aNewerSchemaIsRefusedAndLeftUntouched() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        await (try SQLiteIngestStorage(path: path)).close()
        do {
            let database = try Database(path: path)
            try database.execute("PRAGMA user_version = 99")
            try database.checkpoint(.truncate)
        }
        let before = FileManager.default.contents(atPath: path)
        await #expect(throws: StorageFailure.self) { try await SQLiteIngestStorage(path: path) }
        do {
            _ = try await SQLiteIngestStorage(path: path)
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
        await #expect(throws: StorageFailure.self) { try await SQLiteIngestStorage(path: path) }
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test func aFileThatIsNoDatabaseIsDamaged() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        try Data(repeating: 0x2a, count: 8192).write(to: URL(fileURLWithPath: path))
        do {
            _ = try await SQLiteIngestStorage(path: path)
            Issue.record("opened")
        } catch {
            #expect(error.kind == .damaged)
        }
    }

    @Test func theStoreIsInWriteAheadModeWithFullSync() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        await (try SQLiteIngestStorage(path: path)).close()
        let writer = WriteConnection(path: path)
        let pragmas = try await writer.perform {
            [try $0.pragma("journal_mode"), try $0.pragma("synchronous")]
        }
        #expect(pragmas == ["wal", "2"])
        await writer.close()
    }

    @Test func requestsThatWaitAreCommittedTogether() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        await (try SQLiteIngestStorage(path: path)).close()
        let writer = WriteConnection(path: path)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = writer.perform { _ in gate.wait() }
        async let rest = (0..<50).asyncMap { number in
            try? await writer.perform { database in
                try database.run("INSERT INTO accounts (name) VALUES (?)", .text("account \(number)"))
                return number
            }
        }
        // The first transaction is held open while the others are on their way; how many arrive in time depends on
        // the machine, so it waits for a while and then for the outcome.
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { gate.signal() }
        try await first
        #expect(await rest == Array(0..<50))
        #expect(await writer.commits < 51)
        await writer.close()
    }

    @Test func aDefectOfOneRequestLeavesTheGroupAlone() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        await (try SQLiteIngestStorage(path: path)).close()
        let writer = WriteConnection(path: path)
        let outcomes = await (0..<30).asyncMap { number in
            do {
                return try await writer.perform { database in
                    try database.run("INSERT INTO accounts (name) VALUES (?)", .text("account \(number)"))
                    if number % 3 == 0 { try database.run("INSERT INTO accounts (name) VALUES (NULL)") }
                    return true
                }
            } catch {
                #expect((error as? StorageFailure)?.kind == .defect)
                return false
            }
        }
        #expect(outcomes == (0..<30).map { $0 % 3 != 0 })
        let kept = try await writer.perform { try $0.first("SELECT count(*) FROM accounts") { $0.int(0) } }
        #expect(kept == 20)
        await writer.close()
    }

    @Test func afterCloseNothingIsTaken() async throws {
        let directory = TemporaryDirectory()
        let storage = try await SQLiteIngestStorage(path: directory.path + "/s.sqlite")
        await storage.close()
        await #expect(throws: StorageFailure.self) {
            try await storage.store(received(batch([sample(1)])), account: "a")
        }
    }

    @Test func uploadsSeekAndReadsUseTheirIndexes() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        await (try SQLiteIngestStorage(path: path)).close()
        let database = try Database(path: path)
        func plan(_ sql: String) throws -> String {
            let statement = try database.prepare("EXPLAIN QUERY PLAN \(sql)")
            var steps: [String] = []
            while try statement.step() { steps.append(statement.text(3)) }
            return steps.joined(separator: "; ")
        }
        let byDevice = try plan(SampleReader.sql(filter: "s.device_id = ?1"))
        #expect(byDevice.contains("samples_by_time (device_id=? AND recorded_at_ms>?)"))
        #expect(try plan(SampleReader.sql(filter: "s.person_id = ?1")).contains("samples_by_person"))
    }
}
