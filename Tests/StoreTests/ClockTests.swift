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
        #expect(try fixture.samples().allSatisfy { !$0.timeUncertain && $0.timeBoundMilliseconds == 40 })
    }

    @Test func theNewestReadingOfAClockCounts() async throws {
        _ = try await store.commit(chunk(1...1), of: device, clock: reading(3, offset: 100))
        _ = try await store.commit(chunk(2...2), of: device, clock: reading(3, offset: 150, bound: 7))
        _ = try await store.commit(chunk(3...3), of: device, clock: nil)
        #expect(try offsets() == [100, 150, 150])
        #expect(try fixture.samples().map(\.timeBoundMilliseconds) == [40, 7, 7])
    }

    @Test func aClockThatWasNeverReadMakesTimesUncertainUntilItIs() async throws {
        _ = try await store.commit(chunk(1...2, clockID: 9), of: device, clock: reading(3, offset: 100))
        _ = try await store.commit(chunk(3...3, clockID: 3), of: device, clock: reading(3, offset: 100))
        _ = try await store.commit(chunk(4...4, clockID: 9), of: device, clock: reading(3, offset: 100))
        #expect(try fixture.samples().map(\.timeUncertain) == [true, true, false, true])
        #expect(try fixture.samples().map(\.timeBoundMilliseconds) == [nil, nil, 40, nil])
        #expect(try offsets() == [100, 100, 100, 100])
        let outbox = try fixture.outbox()
        let batch = try #require(try outbox.nextBatch())
        try outbox.confirm(batch.items, of: batch)
        #expect(try outbox.pendingCount() == 0)

        // The next connection reads clock 9: a run of uncertain samples a commit.
        _ = try await store.commit(chunk(5...5, clockID: 9), of: device, clock: reading(9, offset: 700))
        _ = try await store.commit(chunk(6...6, clockID: 9), of: device, clock: reading(9, offset: 700))
        #expect(try fixture.samples().allSatisfy { !$0.timeUncertain })
        #expect(try offsets() == [700, 700, 100, 700, 700, 700])
        #expect(try fixture.samples().map(\.version) == [2, 2, 1, 2, 1, 1])
        // What was corrected goes up again.
        #expect(try outbox.nextBatch()?.items.map(\.sample.seq) == [1, 2, 4, 5, 6])
    }

    @Test func manyUncertainTimesAreSettledInBoundedSteps() async throws {
        _ = try await store.commit(chunk(1...1_200, clockID: 9), of: device, clock: nil)
        #expect(try offsets().allSatisfy { $0 == 0 })
        for step in 0..<3 {
            let uncertain = try fixture.samples().filter(\.timeUncertain).count
            #expect(uncertain == 1_200 - step * 500)
            _ = try await store.commit(chunk([], through: 1_200), of: device, clock: reading(9, offset: 5))
        }
        #expect(try offsets().allSatisfy { $0 == 5 })
    }
}
