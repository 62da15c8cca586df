import BandProfile
import Foundation
import GatewayModel
import SQLite
import Testing

@testable import Store

@Suite struct OpeningTests {
    let fixture: StoreFixture
    let device = StoreFixture.device

    init() throws { fixture = try StoreFixture() }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: fixture.directory + name)[.posixPermissions] as? Int
    }

    /// On SQLite's own VFS, so that the files are as the next opener finds them.
    private func plain() throws -> Store {
        let clock = fixture.clock
        return try Store.open(directory: fixture.directory, now: { clock.now })
    }

    private func makeClosedDatabase() async throws {
        let store = try plain()
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: nil, configured: true)
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        try await store.close()
    }

    @Test func whatIsMadeIsClosedToOthers() async throws {
        let store = try plain()
        _ = try StateDirectoryLock.acquire(directory: fixture.directory)
        try await store.checkHealth()
        #expect(try mode("") == 0o700)
        for name in ["gateway.db", "gateway.db-wal", "gateway.db-shm", "lock"] {
            #expect(try mode("/" + name) == 0o600, "\(name)")
        }
        try await store.close()
        chmod(fixture.directory, 0o755)
        _ = try plain()
        #expect(try mode("") == 0o700)
    }

    @Test func oneDaemonAStateDirectory() throws {
        var lock: StateDirectoryLock? = try StateDirectoryLock.acquire(directory: fixture.directory)
        #expect(StateDirectoryLock.isHeld(directory: fixture.directory))
        do {
            _ = try StateDirectoryLock.acquire(directory: fixture.directory)
            Issue.record("locked twice")
        } catch {
            #expect(error.kind == .locked)
            #expect(error.message.contains("\(getpid())"))
        }
        #expect(lock != nil)
        lock = nil
        #expect(!StateDirectoryLock.isHeld(directory: fixture.directory))
        _ = try StateDirectoryLock.acquire(directory: fixture.directory)
    }

    @Test func whoAsksIsNotInTheWayOfADaemon() async throws {
        let directory = fixture.directory
        _ = try StateDirectoryLock.acquire(directory: directory)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while !Task.isCancelled { _ = StateDirectoryLock.isHeld(directory: directory) }
                }
            }
            for _ in 0..<3000 { _ = try StateDirectoryLock.acquire(directory: directory) }
            group.cancelAll()
        }
    }

    @Test func aNewerSchemaIsRefusedAndNotAltered() async throws {
        try await makeClosedDatabase()
        do {
            let database = try Database(path: fixture.databasePath)
            try database.setPragma("user_version", "\(Schema.version + 1)")
            try database.checkpoint(.truncate)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath))
        #expect(await isStoreError(.newerSchema) { _ = try plain() })
        #expect(await isStoreError(.newerSchema) { _ = try StoreReader(directory: fixture.directory) })
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath)) == before)
        #expect(!fixture.names.contains { $0.contains("corrupt") })
    }

    @Test func somebodyElsesDatabaseIsRefused() async throws {
        try FileManager.default.createDirectory(
            atPath: fixture.directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try Database(path: fixture.databasePath).execute("CREATE TABLE t (a)")
        #expect(await isStoreError(.directory) { _ = try plain() })
    }

    @Test func aFileInPlaceOfTheDirectoryIsRefused() async throws {
        _ = FileManager.default.createFile(atPath: fixture.directory, contents: Data())
        #expect(await isStoreError(.directory) { _ = try plain() })
    }

    @Test(arguments: ["header", "page", "garbage"])
    func aDamagedDatabaseIsSetAsideAndNothingIsOpenedUntilItIsRestored(_ damage: String) async throws {
        try await makeClosedDatabase()
        let good = try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath))
        var bad = good
        switch damage {
        case "header": bad.replaceSubrange(0..<16, with: Data(repeating: 0x58, count: 16))
        case "page":
            for page in 1..<(bad.count / 4096) {
                bad.replaceSubrange(
                    page * 4096..<(page * 4096 + 100), with: Data(repeating: 0xee, count: 100))
            }
        default: bad = Data(repeating: 0x41, count: 10_000)
        }
        try bad.write(to: URL(fileURLWithPath: fixture.databasePath))
        #expect(await isStoreError(.corrupt) { _ = try plain() })
        let aside = try #require(fixture.names.first { $0.hasPrefix("gateway.db.corrupt-") })
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path(aside))) == bad)
        #expect(!fixture.names.contains("gateway.db"))
        #expect(await isStoreError(.corrupt) { _ = try plain() })
        #expect(await isStoreError(.corrupt) { _ = try StoreReader(directory: fixture.directory) })
        #expect(!fixture.names.contains("gateway.db"))
        // Restored from a backup, it opens.
        try good.write(to: URL(fileURLWithPath: fixture.databasePath))
        let store = try plain()
        #expect(try await store.bandStatuses().first?.stored == 100)
    }

    @Test(arguments: ["gone", "empty"]) func aDatabaseThatWasLostIsNotReplacedInSilence(_ loss: String)
        async throws
    {
        try await makeClosedDatabase()
        if loss == "gone" {
            unlink(fixture.databasePath)
        } else {
            truncate(fixture.databasePath, 0)
        }
        for _ in 0..<2 { #expect(await isStoreError(.corrupt) { _ = try plain() }) }
        try StoreRecovery.startEmpty(directory: fixture.directory, now: fixture.clock.now)
        #expect(try await plain().bandStatuses().isEmpty)
    }

    @Test func damageFoundWhileItIsOpenStopsEverythingUntilItIsOpenedAgain() async throws {
        var store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading())
        try await store.close()
        store = try fixture.open()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.databasePath))
        let size = try file.seekToEnd()
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xee, count: Int(size) - 4096))
        try file.close()
        // A change by the other connection empties the cache of this one.
        try Database(path: fixture.databasePath, access: .readWrite, vfs: StoreFixture.vfs)
            .setPragma("user_version", "1")
        #expect(
            await isStoreError(.corrupt) {
                try await store.correct(device, ring: StoreFixture.ring, 1...2_000) { fields, _ in
                    fields.offsetQuarterHours = 8
                }
            })
        #expect(await isStoreError(.corrupt) { try await store.checkHealth() })
        #expect(
            await isStoreError(.corrupt) {
                _ = try await store.commit(chunk(2_001...2_002), of: device, clock: reading())
            })
        try await store.close()
        #expect(await isStoreError(.corrupt) { _ = try fixture.open() })
        #expect(fixture.names.contains { $0.hasPrefix("gateway.db.corrupt-") })
    }

    @Test func aSynchronousThatReadsBackAsSomethingElseIsRefused() async throws {
        // WAL can't be had on a database in memory: what reads back is `memory`.
        let database = try Database(path: ":memory:")
        let opening = DatabaseOpening(directory: StateDirectory(path: fixture.directory))
        #expect(
            await isStoreError(.other) {
                try opening.configure(database, synchronous: "FULL", expecting: "2", cacheKilobytes: 100)
            })
        let file = try Database(path: NSTemporaryDirectory() + UUID().uuidString)
        defer { unlink(file.path) }
        #expect(
            await isStoreError(.other) {
                try opening.configure(file, synchronous: "OFF", expecting: "2", cacheKilobytes: 100)
            })
        try opening.configure(file, synchronous: "FULL", expecting: "2", cacheKilobytes: 100)
        #expect(try file.pragma("synchronous") == "2")
    }

    @Test func aClosedStoreSaysSo() async throws {
        let store = try plain()
        try await store.close()
        try await store.close()
        #expect(await isStoreError(.closed) { try await store.checkHealth() })
        #expect(!fixture.names.contains("gateway.db-wal"))
    }

    @Test func theOutboxWaitsForTheStoreToMakeTheDatabase() async throws {
        #expect(
            await isStoreError(.missing) {
                _ = try Outbox(directory: fixture.directory, now: { Timestamp(milliseconds: 0) })
            })
    }

    @Test func aReaderWorksWithTheStoreOpenAndClosed() async throws {
        #expect(await isStoreError(.missing) { _ = try StoreReader(directory: fixture.directory) })
        let store = try plain()
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: nil, configured: true)
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        let running = try StoreReader(directory: fixture.directory)
        #expect(try running.status().first?.stored == 5)
        _ = try await store.commit(chunk(6...7), of: device, clock: reading())
        #expect(try running.status().first?.stored == 7)
        try await store.close()
        #expect(try StoreReader(directory: fixture.directory).status().first?.stored == 7)
    }

    @Test func aReaderOfAReadOnlyDirectoryReadsOrSaysWhyNot() async throws {
        try await makeClosedDatabase()
        chmod(fixture.directory, 0o500)
        let reader = try StoreReader(directory: fixture.directory)
        #expect(try reader.status().first?.stored == 100)
    }
}

@Suite struct RecoveryTests {
    let fixture: StoreFixture
    let device = StoreFixture.device

    init() throws { fixture = try StoreFixture() }

    private func startEmpty() async throws -> Store {
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...50), of: device, clock: reading())
        try await store.close()
        try StoreRecovery.startEmpty(directory: fixture.directory, now: fixture.clock.now)
        return try await fixture.openWithBand()
    }

    @Test func theOldDatabaseIsKept() async throws {
        let store = try await startEmpty()
        #expect(fixture.names.contains { $0.hasPrefix("gateway.db.corrupt-") })
        #expect(try await store.bandStatuses().first?.stored == 0)
    }

    /// What is known of the old one's damage is no reason to copy the new one.
    @Test func theNewDatabaseIsNotSuspected() async throws {
        try await fixture.openWithBand().close()
        StateDirectory(path: fixture.directory).note(.proven)
        try StoreRecovery.startEmpty(directory: fixture.directory, now: fixture.clock.now)
        #expect(!fixture.names.contains("gateway.db.suspect"))
        #expect(try fixture.open().salvage == nil)
    }

    /// What a person gave up, or put another one in place of, stays where it is when the later one is lost.
    @Test(arguments: ["start empty", "restore"]) func whatWasGivenUpDoesNotComeBackUnasked(_ decision: String)
        async throws
    {
        try await fixture.openWithBand().close()
        let good = try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath))
        let directory = StateDirectory(path: fixture.directory)
        let name = try directory.setDatabaseAside(at: fixture.clock.now)
        #expect(directory.awaited == name)
        if decision == "restore" {
            try good.write(to: URL(fileURLWithPath: fixture.databasePath))
        } else {
            try StoreRecovery.startEmpty(directory: fixture.directory, now: fixture.clock.now)
        }
        try await fixture.openWithBand().close()
        for suffix in ["", "-wal", "-shm"] { unlink(fixture.databasePath + suffix) }
        for _ in 0..<2 { #expect(await isStoreError(.corrupt) { _ = try fixture.open() }) }
        #expect(fixture.names.contains(name))
        // A person may ask for it all the same.
        let report = try StoreRecovery.salvage(directory: fixture.directory, now: fixture.clock.now)
        #expect(report != nil)
    }

    /// Nobody has decided yet: a medium that gave nothing of it may give it now.
    @Test func whatNobodyDecidedAboutComesBackWhenItCanBeRead() async throws {
        try await fixture.openWithBand().close()
        _ = try StateDirectory(path: fixture.directory).setDatabaseAside(at: fixture.clock.now)
        #expect(try await fixture.open().adoptedBands().count == 1)
        #expect(!fixture.names.contains("gateway.db.awaited"))
    }

    @Test func whatWasAckedAndNeverSentIsNamedAsLostStorage() async throws {
        let store = try await startEmpty()
        // The server has 20, the band was acked to 50 and holds 51 to 60.
        try await store.applyServerState(device, ring: StoreFixture.ring, completeThrough: 20, maxVersion: 1)
        let progress = try await store.progress(of: device, info: info(51, 60))
        #expect(progress.nextSeq == 21)
        _ = try await store.commit(
            chunk((51...60).map { record($0) }, questions: [suspect(21, 50, .freedElsewhere)], through: 60),
            of: device, clock: reading())
        let question = try #require(try await store.openQuestions().first)
        try await store.answer(question, with: [.gap(gap(21, 50, .freedElsewhere))])
        let row = try #require(try fixture.gaps().first)
        #expect(row.cause == .storageLost)
        #expect(row.firstSeq == 21)
        #expect(row.lastSeq == 50)
        // A later hole is no longer the database's fault.
        _ = try await store.commit(
            chunk([record(70)], gaps: [gap(61, 69, .overwritten)], through: 70), of: device, clock: reading())
        #expect(try fixture.gaps().map(\.cause) == [.storageLost, .overwritten])
    }

    @Test func theEndOfAnEarlierRingIsNamedAsLostStorageToo() async throws {
        let store = try await startEmpty()
        try await store.applyServerState(device, ring: StoreFixture.ring, completeThrough: 20, maxVersion: 1)
        let next = info(1, 3, ring: RingID(rawValue: 9), formatCount: 2)
        #expect(
            try await store.progress(of: device, info: next).predecessors
                == [.init(ring: StoreFixture.ring, nextSeq: 21)])
        try await store.writeGap(gap(21, nil, .reformatted), device: device)
        #expect(try fixture.gaps().map(\.cause) == [.storageLost])
    }

    @Test func withoutALossTheCauseIsTheBands() async throws {
        let store = try await fixture.openWithBand()
        _ = try await store.commit(
            chunk([record(9)], gaps: [gap(1, 8, .overwritten)], through: 9), of: device, clock: reading())
        #expect(try fixture.gaps().map(\.cause) == [.overwritten])
    }
}
