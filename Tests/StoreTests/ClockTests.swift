import BandProfile
import GatewayModel
import Testing

@testable import Store

@Suite struct ClockTests {
    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
    }

    private func offsets() throws -> [Int64] {
        try fixture.samples().map { $0.recordedAt.milliseconds - $0.bandTimeMilliseconds }
    }

    @Test func aRecordIsTimedByTheReadingOfItsOwnClock() async throws {
        _ = try await store.commit(chunk(1...1, clockID: 3), of: device, clock: reading(3, offset: 100))
        _ = try await store.commit(chunk(2...2, clockID: 4), of: device, clock: reading(4, offset: 200))
        // A record under the older clock, on the connection that read the newer one.
        _ = try await store.commit(chunk(3...3, clockID: 3), of: device, clock: reading(4, offset: 200))
        #expect(try offsets() == [100, 200, 100])
        #expect(try fixture.samples().allSatisfy { !$0.timeUncertain })
    }

    @Test func theNewestReadingOfAClockCounts() async throws {
        _ = try await store.commit(chunk(1...1), of: device, clock: reading(3, offset: 100))
        _ = try await store.commit(chunk(2...2), of: device, clock: reading(3, offset: 150, bound: 7))
        _ = try await store.commit(chunk(3...3), of: device, clock: nil)
        let found = try offsets()
        #expect(found == [100, 150, 150])
        let bounds = try fixture.samples().map(\.timeBoundMilliseconds)
        #expect(bounds == [340, 300, 290])
    }

    @Test func aClockThatWasNeverReadMakesTimesUncertainUntilItIs() async throws {
        _ = try await store.commit(chunk(1...2, clockID: 9), of: device, clock: reading(3, offset: 100))
        _ = try await store.commit(chunk(3...3, clockID: 3), of: device, clock: reading(3, offset: 100))
        _ = try await store.commit(chunk(4...4, clockID: 9), of: device, clock: reading(3, offset: 100))
        try await store.settle()
        #expect(try fixture.samples().map(\.timeUncertain) == [true, true, false, true])
        let outbox = try fixture.outbox()
        let batch = try #require(try outbox.nextBatch())
        try outbox.confirm(batch.items, of: batch)
        #expect(try outbox.pendingCount() == 0)

        _ = try await store.commit(chunk(5...5, clockID: 9), of: device, clock: reading(9, offset: 700))
        try await store.settle()
        #expect(try fixture.samples().allSatisfy { !$0.timeUncertain })
        #expect(try offsets() == [700, 700, 100, 700, 700])
        #expect(try outbox.nextBatch()?.items.map(\.sample.seq) == [1, 2, 4, 5])
    }

    @Test func manyUncertainTimesAreSettled() async throws {
        _ = try await store.commit(chunk(1...1_200, clockID: 9), of: device, clock: nil)
        #expect(try offsets().allSatisfy { $0 == 0 })
        #expect(try fixture.samples().allSatisfy { $0.timeUncertain })
        var late = reading(9, offset: 5)
        late.bandTimeMilliseconds += 100_000_000
        late.hostTime.milliseconds += 100_000_000
        _ = try await store.commit(chunk([], through: 1_200), of: device, clock: late)
        try await store.settle()
        #expect(try offsets().allSatisfy { $0 == 5 })
        #expect(try fixture.samples().allSatisfy { !$0.timeUncertain && $0.version == 2 })
    }
}
