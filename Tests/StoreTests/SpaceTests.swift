import BandProfile
import GatewayModel
import Locking
import Testing

@testable import Store

@Suite struct SpaceJudgeTests {
    private let megabyte: Int64 = 1 << 20

    private func reading(free: Int64, log: Int64 = 8) -> SpaceJudge.Reading {
        SpaceJudge.Reading(free: free * megabyte, log: log * megabyte)
    }

    private func check(_ judge: inout SpaceJudge, _ reading: SpaceJudge.Reading?, isShort: Bool) {
        let verdict = judge.judge(reading)
        #expect(verdict == isShort)
        #expect(judge.isShort == isShort)
    }

    @Test func theLogsGrowthItsMoveAndTemporaryFilesAreCounted() {
        // 8 MiB of log that still has to be written, as much in the database, and 2 MiB for SQLite.
        #expect(reading(free: 100, log: 0).room == 82 * megabyte)
        // The log is there already, and has only to be moved.
        #expect(reading(free: 100, log: 8).room == 90 * megabyte)
        // A reader kept the log from being moved: all of it has to be.
        #expect(reading(free: 100, log: 30).room == 68 * megabyte)
    }

    @Test func belowTheFloorItIsShortAndWellAboveItNotAnyMore() {
        var judge = SpaceJudge(floor: 64 * megabyte)
        check(&judge, reading(free: 74), isShort: false)
        check(&judge, reading(free: 73), isShort: true)
        // 64 + 10 MiB is the floor again, and a quarter more ends it.
        check(&judge, reading(free: 74), isShort: true)
        check(&judge, reading(free: 89), isShort: true)
        check(&judge, reading(free: 90), isShort: false)
        check(&judge, reading(free: 74), isShort: false)
    }

    @Test func aSmallFloorHasHysteresisToo() {
        var judge = SpaceJudge(floor: 1)
        check(&judge, reading(free: 10), isShort: true)
        check(&judge, reading(free: 13), isShort: true)
        check(&judge, reading(free: 15), isShort: false)
    }

    @Test func withoutAFloorOrAnAnswerNothingIsHeldBack() {
        var none = SpaceJudge(floor: 0)
        check(&none, reading(free: 0), isShort: false)
        var judge = SpaceJudge(floor: 64 * megabyte)
        check(&judge, reading(free: 0), isShort: true)
        check(&judge, nil, isShort: false)
    }
}

@Suite struct SpaceTests {
    private let fixture: StoreFixture
    private let device = StoreFixture.device

    init() throws { fixture = try StoreFixture() }

    @Test func belowTheFloorNothingIsCommittedAndItHealsByItself() async throws {
        let free = Guarded<Int64>(1 << 40)
        let clock = fixture.clock
        let store = try Store.open(
            directory: fixture.directory, vfs: StoreFixture.vfs,
            limits: StoreLimits(freeSpaceFloor: 64 << 20),
            measuresSpace: { SpaceJudge.Reading(free: free.withLock { $0 }, log: 0) }, now: { clock.now })
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: nil, configured: true)
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        free.withLock { $0 = 50_000_000 }
        #expect(
            await isStoreError(.lowSpace) {
                _ = try await store.commit(chunk(11...20), of: device, clock: reading())
            })
        // Before any radio time is spent.
        #expect(await isStoreError(.lowSpace) { try await store.checkHealth() })
        let shortage = try #require(await store.shortage())
        #expect(shortage.message.contains("50.0 MB are free"))
        #expect(shortage.mayHealByItself)
        #expect(try await store.bandStatuses().first?.stored == 10)
        // What frees space, or says what is wrong, goes on.
        let outbox = try fixture.outbox()
        let batch = try #require(try outbox.nextBatch())
        try outbox.confirm(batch.items, of: batch)
        try await store.setProblem(device: device, Problem(code: "a", text: "b", remedy: "c"))
        free.withLock { $0 = 1 << 40 }
        #expect(await store.shortage() == nil)
        let outcome = try await store.commit(chunk(11...20), of: device, clock: reading())
        #expect(outcome.ackThrough == 20)
    }
}
