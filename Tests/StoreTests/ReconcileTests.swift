import BandProfile
import GatewayModel
import Testing

@testable import Store

/// What a comparison with the server reads and marks.
@Suite struct StoredDayTests {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    let device = StoreFixture.device
    let ring = StoreFixture.ring

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        outbox = try fixture.outbox()
    }

    /// The day on which sample n was recorded: a minute a sample, from 2026-10-27T07:33:20Z on.
    private func day(of seq: UInt32) throws -> Int64 {
        let sample = try #require(try fixture.samples().first { $0.seq == seq })
        return sample.recordedAt.milliseconds / 86_400_000
    }

    private func upload(_ seqs: ClosedRange<UInt32>) throws {
        while let batch = try outbox.nextBatch() {
            let items = batch.items.filter { seqs.contains($0.sample.seq) }
            guard !items.isEmpty else { return }
            try outbox.confirm(items, of: batch)
        }
    }

    @Test func aDayHasWhatIsConfirmedAndCountsTheRest() async throws {
        let records = (UInt32(1)...3_000).map { record($0, type: $0 % 3 == 0 ? .steps : .heartRate) }
        _ = try await store.commit(chunk(records, through: 3_000), of: device, clock: reading())
        let batch = try #require(try outbox.nextBatch())
        try outbox.quarantine([batch.items[4]], of: batch, code: "bad_time", message: "")
        try outbox.quarantine([batch.items[6]], of: batch, code: "consent_missing", message: "", held: true)
        try upload(1...900)
        let days = try outbox.days(of: device)
        let begin = try day(of: 1)
        #expect(days == [begin, begin + 1, begin + 2])
        let parts = try outbox.storedDay(days[0], of: device)
        #expect(parts.map(\.type) == [.heartRate, .steps] && parts.allSatisfy { $0.ring == ring })
        let first = try fixture.samples().filter { $0.recordedAt.milliseconds / 86_400_000 == days[0] }
        #expect(parts.reduce(0) { $0 + $1.seqs.count + $1.waiting + $1.kept } == first.count)
        #expect(parts[0].kept == 2 && parts[1].kept == 0)
        #expect(
            parts[0].seqs
                == first.filter { $0.type == .heartRate && $0.seq <= 900 && ![5, 7].contains($0.seq) }.map(
                    \.seq))
        #expect(parts[0].times.first == first.first?.recordedAt.milliseconds)
        #expect(parts[1].waiting == first.filter { $0.type == .steps && $0.seq > 900 }.count)
        #expect(try outbox.storedDay(days[0] - 1, of: device).isEmpty)
    }

    @Test func whatTheServerHasToHaveIsWhatItConfirmed() async throws {
        #expect(try outbox.lacking(device, there: 0) == 0)
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        #expect(try outbox.lacking(device, there: 0) == 0, "nothing is confirmed")
        let batch = try #require(try outbox.nextBatch())
        try outbox.quarantine([batch.items[4]], of: batch, code: "bad_time", message: "")
        try outbox.quarantine([batch.items[6]], of: batch, code: "consent_missing", message: "", held: true)
        try upload(1...50)
        #expect(try outbox.lacking(device, there: 48) == 0 && outbox.lacking(device, there: 47) == 1)
        #expect(try outbox.lacking(device, there: 90) == 0, "another gateway brought more")
        try upload(51...100)
        #expect(try outbox.lacking(device, there: 0) == 98)
        // Marked, they are not said to be there any more.
        try outbox.markUnconfirmed([11, 12], in: ring, of: device)
        #expect(try outbox.lacking(device, there: 90) == 6)
        try outbox.letBe(6, of: device)
        #expect(try outbox.lacking(device, there: 90) == 0 && outbox.lacking(device, there: 89) == 1)
        try outbox.letBe(-10, of: device)
        #expect(try outbox.lacking(device, there: 90) == 6)
    }

    /// Read again after a roll-back, with other content: nothing of it is at the server.
    @Test func twoSamplesOfOneRecordThatWaitAreNotLacking() async throws {
        _ = try await store.commit(chunk([record(1)], through: 1), of: device, clock: reading())
        _ = try await store.progress(of: device, info: info(1, 0))
        _ = try await store.commit(
            chunk([record(1, type: .steps)], through: 1), of: device, clock: reading())
        #expect(try fixture.samples().count == 2)
        #expect(try outbox.lacking(device, there: 0) == 0)
    }

    @Test func whatTheServerLacksGoesUpAgainAndNothingElse() async throws {
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        try upload(1...100)
        try outbox.markUnconfirmed([3, 4, 50], in: ring, of: device)
        #expect(try outbox.nextBatch()?.items.map(\.sample.seq) == [3, 4, 50])
        #expect(try outbox.completeThrough(device, ring) == 2)
        // A stream goes on where it was.
        _ = try await store.commit(chunk(101...102), of: device, clock: reading())
        #expect(try outbox.nextBatch()?.items.map(\.sample.seq) == [3, 4, 50, 101, 102])
        try upload(1...102)
        #expect(try outbox.nextBatch() == nil)
        try outbox.markUnconfirmed([3], in: RingID(rawValue: 7), of: device)
        #expect(try outbox.nextBatch() == nil, "of a ring that is not known")
    }

    @Test func whatAnotherGatewayBroughtIsMissingNoMore() async throws {
        _ = try await store.commit(
            chunk([record(20)], gaps: [gap(1, 9, .freedElsewhere), gap(10, 19)], through: 20), of: device,
            clock: reading())
        #expect(try outbox.openGaps(of: device) == [ring: [1...9, 10...19]])
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        try outbox.heal([2, 3, 12, 13], in: ring, of: device)
        #expect(try outbox.openGaps(of: device) == [ring: [1...1, 4...9, 10...11, 14...19]])
        #expect(try outbox.unsent(device).filter { $0.healedAt != nil }.map(\.firstSeq) == [2, 12])
    }

    @Test func whatIsStoredIsFoundWheneverItWas() async throws {
        let records = (UInt32(1)...6).map { record($0, type: $0 % 3 == 0 ? .steps : .heartRate) }
        _ = try await store.commit(chunk(records, through: 6), of: device, clock: reading())
        #expect(try outbox.stored([2, 3, 9], .heartRate, in: ring, of: device) == [2])
        #expect(try outbox.stored([2], .heartRate, in: RingID(rawValue: 7), of: device).isEmpty)
        #expect(try outbox.hasStored(3...9, .steps, in: ring, of: device))
        #expect(try !outbox.hasStored(4...5, .steps, in: ring, of: device))
        #expect(try !outbox.hasStored(1...9, .spo2, in: ring, of: device))
    }

    @Test func aMarkThatAPowerCutTakesIsOnlyMadeAgain() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        try upload(1...10)
        try outbox.markUnconfirmed([3], in: ring, of: device)
        let image = try fixture.imageAfterPowerCut()
        let restarted = try image.open()
        let waiting = try image.outbox().pendingCount()
        #expect([0, 1, 10].contains(waiting))
        _ = restarted
    }
}
