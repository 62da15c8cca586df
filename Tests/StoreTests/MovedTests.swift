import BandProfile
import Foundation
import GatewayModel
import PowercutVFS
import SQLite
import Testing
import Threading

@testable import Store

/// Files that are taken away, or exchanged, under a store that has them open.
@Suite struct MovedTests {
    let fixture: StoreFixture
    let device = StoreFixture.device

    init() throws { fixture = try StoreFixture() }

    /// On SQLite's own VFS, so that the files hold what the next opener finds.
    private func plain() throws -> Store {
        let clock = fixture.clock
        return try Store.open(directory: fixture.directory, now: { clock.now })
    }

    private func plainOutbox() throws -> Outbox {
        let clock = fixture.clock
        return try Outbox(directory: fixture.directory, now: { clock.now })
    }

    /// 1 to 100 are acked, of which the last 50 are only in the log.
    private func filled() async throws -> Store {
        let store = try plain()
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: nil, configured: true)
        _ = try await store.commit(chunk(1...50), of: device, clock: reading())
        try Database(path: fixture.databasePath, access: .readOnly).backup(to: fixture.path("copy"))
        _ = try await store.commit(chunk(51...100), of: device, clock: reading())
        return store
    }

    private func expectNothingIsTaken(by store: Store) async {
        #expect(
            await isStoreError(.moved) {
                _ = try await store.commit(chunk(101...110), of: device, clock: reading())
            })
        #expect(
            await isStoreError(.moved) {
                _ = try await store.ackPoint(of: device, ring: StoreFixture.ring, ack: .stored)
            })
        #expect(await isStoreError(.moved) { try await store.checkHealth() })
        #expect(await isStoreError(.moved) { _ = try await store.openQuestions() })
    }

    private func stored(_ store: Store) async throws -> Int? { try await store.bandStatuses().first?.stored }

    private func exchange(_ from: String, _ to: String) throws {
        guard rename(fixture.path(from), fixture.path(to)) == 0 else { throw POSIXError(.EIO) }
    }

    @Test(arguments: [["", "-wal", "-shm"], [""], ["", "-wal", "-shm", ".made"]])
    func whatIsRemovedWhileItIsOpenTakesNothingMore(_ suffixes: [String]) async throws {
        let store = try await filled()
        for suffix in suffixes { unlink(fixture.databasePath + suffix) }
        await expectNothingIsTaken(by: store)
        try await store.close()
        // It is known that there was one.
        for _ in 0..<2 { #expect(await isStoreError(.corrupt) { _ = try plain() }) }
        // As `bandferry recover` asks.
        #expect(await isStoreError(.corrupt) { _ = try StoreReader(directory: fixture.directory) })
        #expect(!fixture.names.contains("gateway.db") && !fixture.names.contains("gateway.db-wal"))
    }

    @Test func theDirectoryThatIsRemovedTakesNothingMore() async throws {
        let store = try await filled()
        try FileManager.default.removeItem(atPath: fixture.directory)
        await expectNothingIsTaken(by: store)
        try await store.close()
        #expect(await isStoreError(.corrupt) { _ = try plain() })
    }

    @Test func whatIsRenamedIsWholeAndGoesOnWhenItIsBack() async throws {
        let store = try await filled()
        try exchange("gateway.db", "elsewhere")
        await expectNothingIsTaken(by: store)
        try await store.close()
        #expect(await isStoreError(.corrupt) { _ = try plain() })
        try exchange("elsewhere", "gateway.db")
        let again = try plain()
        #expect(try await stored(again) == 100)
        try await again.close()
    }

    /// The log of the one that went does not become that of the one that came.
    @Test func whatIsReplacedIsOpenedAsItIs() async throws {
        let store = try await filled()
        try exchange("copy", "gateway.db")
        #expect(await isStoreError(.moved) { _ = try plainOutbox() })
        await expectNothingIsTaken(by: store)
        #expect(await isStoreError(.moved) { _ = try plainOutbox() })
        try await store.close()
        #expect(!fixture.names.contains("gateway.db-wal"))
        let again = try plain()
        #expect(again.salvage == nil)
        #expect(try await stored(again) == 50)
        #expect(try plainOutbox().pendingCount() == 50)
        try await again.close()
    }

    @Test(arguments: [["-wal"], ["-wal", "-shm"]])
    func ofALogThatIsRemovedWhileItIsOpenNothingIsLost(_ suffixes: [String]) async throws {
        let store = try await filled()
        for suffix in suffixes { unlink(fixture.databasePath + suffix) }
        #expect(await isStoreError(.moved) { _ = try plainOutbox() })
        await expectNothingIsTaken(by: store)
        // Also when the process is killed before it closes.
        let image = try StoreFixture()
        try FileManager.default.createDirectory(
            atPath: image.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.copyItem(atPath: fixture.databasePath, toPath: image.databasePath)
        #expect(try StoreReader(directory: image.directory).status().first?.stored == 100)
        try await store.close()
        let again = try plain()
        #expect(try await stored(again) == 100)
        _ = try await again.commit(chunk(101...110), of: device, clock: reading())
        #expect(try await stored(again) == 110)
        try await again.close()
    }

    /// Somebody wrote to a new log: what is in the old one does not go over it.
    @Test func aLogOfSomebodyElseIsLeftAlone() async throws {
        let store = try await filled()
        unlink(fixture.databasePath + "-wal")
        try Data(repeating: 1, count: 5_000).write(to: URL(fileURLWithPath: fixture.databasePath + "-wal"))
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath))
        await expectNothingIsTaken(by: store)
        try await store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath)) == before)
        #expect(fixture.names.contains("gateway.db-wal"))
    }

    @Test(arguments: ["gateway.db", "gateway.db-wal"]) func theUploadConfirmsNothingInWhatWasRemoved(
        _ name: String
    )
        async throws
    {
        let store = try await filled()
        let outbox = try plainOutbox()
        let batch = try #require(try outbox.nextBatch())
        unlink(fixture.path(name))
        #expect(await isStoreError(.moved) { try outbox.confirm(batch.items, of: batch) })
        #expect(try outbox.pendingCount() == 100)
        try await store.close()
    }

    /// Neither before the commit nor after: between them.
    @Test func whatIsRemovedInTheMiddleOfACommitIsNotDone() async throws {
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        powercut_stop_disk(fixture.directory)
        let outcome = Task { [device] in
            await isStoreError(.moved) {
                _ = try await store.commit(chunk(11...20), of: device, clock: reading())
            }
        }
        // The commit waits for the disk by now; if not, it finds the file gone earlier.
        try? await Task.sleep(for: .milliseconds(100))
        unlink(fixture.databasePath)
        powercut_resume_disk(fixture.directory)
        #expect(await outcome.value)
        try await store.close()
    }

    /// The file system is gone for a moment: a stick that comes back.
    @Test func aDirectoryThatCameBackIsOpenedAgain() async throws {
        let store = try await filled()
        let away = fixture.directory + ".away"
        rename(fixture.directory, away)
        await expectNothingIsTaken(by: store)
        try await store.close()
        #expect(await isStoreError(.corrupt) { _ = try plain() })
        try FileManager.default.removeItem(atPath: fixture.directory)
        rename(away, fixture.directory)
        let again = try plain()
        #expect(try await stored(again) == 100)
        try await again.close()
    }

    @Test func aLinkToTheDatabaseIsFollowedAndOneThatIsSetElsewhereIsSeen() async throws {
        try await filled().close()
        try exchange("gateway.db", "real")
        symlink("real", fixture.databasePath)
        let store = try plain()
        _ = try await store.commit(chunk(101...110), of: device, clock: reading())
        unlink(fixture.databasePath)
        symlink("copy", fixture.databasePath)
        await expectNothingIsTaken(by: store)
        try await store.close()
        let again = try plain()
        #expect(try await stored(again) == 50)
        try await again.close()
    }
}
