import BandProfile
import Foundation
import GatewayModel
import SQLite
import Testing

@testable import Store

/// A log that is gone at a start, and all that only looks like it.
@Suite struct LostLogTests {
    let fixture: StoreFixture
    let device = StoreFixture.device

    init() throws { fixture = try StoreFixture() }

    /// On SQLite's own VFS, so that the files hold what the next opener finds.
    private func open(_ fixture: StoreFixture) throws -> Store {
        let clock = fixture.clock
        return try Store.open(directory: fixture.directory, now: { clock.now })
    }

    private func openWithBand() async throws -> Store {
        let store = try open(fixture)
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: nil, configured: true)
        return store
    }

    /// The files as a kill leaves them at this moment.
    private func image(_ suffixes: [String]) throws -> StoreFixture {
        let image = try StoreFixture()
        try FileManager.default.createDirectory(
            atPath: image.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        for suffix in suffixes {
            try FileManager.default.copyItem(
                atPath: fixture.databasePath + suffix, toPath: image.databasePath + suffix)
        }
        return image
    }

    /// The band tells what it still has, and who freed the rest is asked.
    private func sync(_ store: Store, oldest: UInt32, newest: UInt32) async throws {
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: nil, configured: true)
        let progress = try await store.progress(of: device, info: info(oldest, newest))
        let records = (oldest...newest).map { record($0) }
        let freed = suspect(progress.nextSeq, oldest - 1, .freedElsewhere)
        _ = try await store.commit(
            chunk(records, questions: progress.nextSeq < oldest ? [freed] : [], through: newest), of: device,
            clock: reading())
        for question in try await store.openQuestions() {
            let suspect = question.suspect
            try await store.answer(
                question, with: [.gap(gap(suspect.firstSeq, suspect.lastSeq, suspect.cause))])
        }
    }

    @Test(arguments: ["known", "new"]) func whatWasAckedAndLostWithItIsNamedSo(_ ring: String) async throws {
        var store = try await openWithBand()
        if ring == "known" {
            _ = try await store.commit(chunk(1...50), of: device, clock: reading())
            try await store.close()
            store = try open(fixture)
        }
        _ = try await store.commit(chunk(ring == "known" ? 51...180 : 1...180), of: device, clock: reading())
        let image = try image(["", ".made"])
        // As `bandferry status` does before the daemon starts: an empty log is there then.
        _ = try StoreReader(directory: image.directory).status()
        let after = try open(image)
        #expect(after.hasLostLog && after.salvage == nil)
        #expect(try await after.gatewayProblem()?.code == "store_log_lost")
        try await sync(after, oldest: 181, newest: 200)
        let first: UInt32 = ring == "known" ? 51 : 1
        let named = try StoreReader(directory: image.directory).gaps().map(\.gap)
        #expect(named.map(\.cause) == [.storageLost])
        #expect(named.first?.firstSeq == first && named.first?.lastSeq == 180)
        // What another gateway frees later is that gateway's.
        try await sync(after, oldest: 231, newest: 240)
        let later = try StoreReader(directory: image.directory).gaps().map(\.gap)
        #expect(later.map(\.cause) == [.storageLost, .freedElsewhere])
        try await after.close()
        let next = try open(image)
        #expect(!next.hasLostLog)
        try await next.close()
        try await store.close()
    }

    /// After a long stream, too, when the log was moved many times.
    @Test func itIsSeenAfterTheLogWasMovedInBetween() async throws {
        let store = try await openWithBand()
        var first: UInt32 = 1
        while StateDirectory(path: fixture.directory).databaseSize < 2 << 20 {
            _ = try await store.commit(chunk(first...first + 999), of: device, clock: reading())
            first += 1_000
            try #require(first < 1_000_000, "the log is never moved")
        }
        // The log is moved after the return of a commit: this one comes behind.
        _ = try await store.adoptedBands()
        _ = try await store.commit(chunk(first...first + 9), of: device, clock: reading())
        #expect(try open(try image(["", ".made"])).hasLostLog)
        #expect(try !open(try image(["", ".made", "-wal"])).hasLostLog)
        try await store.close()
    }

    @Test func ofABandThatStillHasAllNothingIsNamed() async throws {
        let store = try await openWithBand()
        _ = try await store.commit(chunk(1...50), of: device, clock: reading())
        try await store.close()
        let again = try open(fixture)
        _ = try await again.commit(chunk(51...80), of: device, clock: reading())
        let image = try image(["", ".made"])
        let after = try open(image)
        try await sync(after, oldest: 51, newest: 90)
        try await sync(after, oldest: 101, newest: 110)
        let named = try StoreReader(directory: image.directory).gaps().map(\.gap.cause)
        #expect(named == [.freedElsewhere])
        try await again.close()
    }

    // MARK: What is no loss

    @Test func aKilledOneHasItsLog() async throws {
        let store = try await openWithBand()
        let early = try image(["", ".made", "-wal"])
        _ = try await store.commit(chunk(1...50), of: device, clock: reading())
        for image in [early, try image(["", ".made", "-wal"])] { #expect(try !open(image).hasLostLog) }
        try await store.close()
    }

    @Test func aCleanStopRemovesIt() async throws {
        try await openWithBand().close()
        #expect(!fixture.names.contains("gateway.db-wal"))
        #expect(try !open(fixture).hasLostLog)
    }

    /// As the `sqlite3` of a person does after a kill.
    @Test func anotherProgramMovesItIntoTheDatabase() async throws {
        let store = try await openWithBand()
        _ = try await store.commit(chunk(1...50), of: device, clock: reading())
        let image = try image(["", ".made", "-wal"])
        try Database(path: image.databasePath, access: .readWrite).execute("DELETE FROM problems")
        #expect(!image.names.contains("gateway.db-wal"))
        let after = try open(image)
        #expect(!after.hasLostLog)
        #expect(try await after.bandStatuses().first?.stored == 50)
        try await store.close()
    }

    @Test func aBackupHasNone() async throws {
        let store = try await openWithBand()
        _ = try await store.commit(chunk(1...50), of: device, clock: reading())
        let other = try image([".made"])
        try Database(path: fixture.databasePath, access: .readOnly).backup(to: other.databasePath)
        // What the copy's connection left.
        for suffix in ["-wal", "-shm"] { unlink(other.databasePath + suffix) }
        #expect(try !open(other).hasLostLog)
        try await store.close()
    }

    @Test func aStoreThatWasOnlyDroppedLeavesNothingBehind() async throws {
        for _ in 0..<3 {
            #expect(try !open(fixture).hasLostLog)
            #expect(try await !openWithBand().hasLostLog)
        }
    }

    /// It wrote 1 into the file as soon as it had opened it.
    @Test func ofADatabaseOfAnEarlierProgramNothingIsSaid() async throws {
        try await openWithBand().close()
        try Database(path: fixture.databasePath, access: .readWrite).execute(
            "UPDATE meta SET value = 1 WHERE key = 'open'")
        #expect(!fixture.names.contains("gateway.db-wal"))
        #expect(try !open(fixture).hasLostLog)
    }

    @Test func theLogOfALinkIsWhereItLeads() async throws {
        try await openWithBand().close()
        mkdir(fixture.path("real"), 0o700)
        rename(fixture.databasePath, fixture.path("real/gateway.db"))
        symlink("real/gateway.db", fixture.databasePath)
        let store = try open(fixture)
        _ = try await store.commit(chunk(1...50), of: device, clock: reading())
        let image = try StoreFixture()
        try FileManager.default.copyItem(atPath: fixture.directory, toPath: image.directory)
        #expect(try !open(image).hasLostLog)
        try await store.close()
    }
}
