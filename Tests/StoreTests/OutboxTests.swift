import BandProfile
import GatewayModel
import Testing

@testable import Store

@Suite struct OutboxTests {
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

    private func next(_ limit: Int = 500) throws -> OutboxBatch {
        try #require(try outbox.nextBatch(limit: limit))
    }
    private func seqs(_ limit: Int = 500) throws -> [UInt32]? {
        try outbox.nextBatch(limit: limit)?.items.map(\.sample.seq)
    }

    @Test func batchesGoUpInOrderOfSeqAndNoMoreThanTheLimit() async throws {
        _ = try await store.commit(chunk(1...1_200), of: device, clock: reading())
        var sent: [UInt32] = []
        while let batch = try outbox.nextBatch(limit: 500) {
            #expect(batch.items.count <= 500)
            sent += batch.items.map(\.sample.seq)
            #expect(batch.completeThrough == sent.last)
            try outbox.confirm(batch.items, of: batch)
        }
        #expect(sent == Array(1...1_200))
        #expect(try outbox.pendingCount() == 0)
        #expect(try outbox.completeThrough(device, ring) == 1_200)
    }

    @Test func aPartialConfirmationLeavesExactlyTheRest() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        let batch = try next()
        try outbox.confirm(batch.items.filter { [1, 4, 5, 10].contains($0.sample.seq) }, of: batch)
        #expect(try seqs() == [2, 3, 6, 7, 8, 9])
        #expect(try outbox.pendingCount() == 6)
        #expect(try outbox.completeThrough(device, ring) == 1)
        #expect(try outbox.completeThrough(of: batch, confirming: Array(batch.items[1...2])) == 5)
    }

    @Test func aLateRowBelowWhatIsConfirmedStillGoes() async throws {
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(1, 9)], through: 10), of: device, clock: reading())
        var batch = try next()
        try outbox.confirm(batch.items, of: batch)
        #expect(try outbox.nextBatch() == nil)
        _ = try await store.commit(chunk(4...5), of: device, clock: reading())
        batch = try next()
        #expect(batch.items.map(\.sample.seq) == [4, 5])
    }

    @Test func aSampleCorrectedWhileItWasSentStaysUnconfirmed() async throws {
        _ = try await store.commit(chunk(1...4), of: device, clock: reading())
        let batch = try next()
        try await store.correct(device, ring: ring, 2...2) { fields, _ in fields.offsetQuarterHours = 4 }
        try outbox.confirm(batch.items, of: batch)
        let again = try next()
        #expect(again.items.map(\.sample.seq) == [2])
        #expect(again.items.first?.sample.version == 2)
        #expect(again.items.first?.sample.offsetMinutes == 60)
        try outbox.confirm(again.items, of: again)
        #expect(try outbox.nextBatch() == nil)
    }

    @Test func conflictsGoUpAfterTheFirstReadingAndOnce() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        var other = record(2)
        other.value += 5
        _ = try await store.commit(chunk([other], through: 2), of: device, clock: reading())
        #expect(try seqs(2) == [1, 2])
        let batch = try next()
        #expect(batch.items.map(\.sample.seq) == [1, 2, 3, 2])
        #expect(batch.items.map(\.isConflict) == [false, false, false, true])
        #expect(batch.items[3].sample.value == Int(other.value))
        #expect(batch.completeThrough == 3)
        try outbox.confirm(Array(batch.items.prefix(3)), of: batch)
        #expect(try outbox.completeThrough(device, ring) == 1)
        let rest = try next()
        #expect(rest.items.map(\.isConflict) == [true])
        #expect(try outbox.pendingCount() == 1)
        try outbox.confirm(rest.items, of: rest)
        #expect(try outbox.nextBatch() == nil)
        #expect(try outbox.completeThrough(device, ring) == 3)
    }

    @Test func twoTypesUnderOneSeqAreDoneTogether() async throws {
        _ = try await store.commit(chunk(1...2), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(2, type: .steps, value: 3)], through: 2), of: device, clock: reading())
        #expect(try seqs(2) == [1])
        let batch = try next()
        #expect(batch.items.map(\.sample.seq) == [1, 2, 2])
        try outbox.confirm(Array(batch.items.prefix(2)), of: batch)
        #expect(try next().items.count == 2)
        try outbox.quarantine([batch.items[2]], of: batch, code: "bad_field", message: "")
        try outbox.confirm([batch.items[1]], of: batch)
        #expect(try outbox.nextBatch() == nil)
    }

    @Test func aRejectedSampleIsPassedKeptAndNamed() async throws {
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        let batch = try next()
        try outbox.quarantine([batch.items[2]], of: batch, code: "value_out_of_range", message: "no")
        try outbox.confirm(batch.items, of: batch)
        #expect(try outbox.nextBatch() == nil)
        #expect(try fixture.samples().count == 5)
        let gaps = try outbox.unsent(device)
        #expect(gaps.map(\.firstSeq) == [3])
        #expect(gaps.first?.cause == .unreadable)
        #expect(try outbox.completeThrough(device, ring) == 2)
        try outbox.markGapsSent(gaps, of: device)
        #expect(try outbox.completeThrough(device, ring) == 5)
        #expect(try await store.bandStatuses().first?.quarantined == 1)
        // With better fields it gets another chance; its gap heals when the server takes it.
        try await store.correct(device, ring: ring, 3...3) { fields, _ in fields.offsetQuarterHours = nil }
        let again = try next()
        #expect(again.items.map(\.sample.seq) == [3])
        #expect(try fixture.gaps().map(\.healedAt) == [nil])
        try outbox.confirm(again.items, of: again)
        #expect(try fixture.gaps().first?.healedAt != nil)
        #expect(try await store.bandStatuses().first?.quarantined == 0)
    }

    @Test func whatWasRefusedGoesUpAgainWhenAPersonAsks() async throws {
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        let batch = try next()
        try outbox.quarantine([batch.items[1]], of: batch, code: "bad_time", message: "no")
        try outbox.quarantine([batch.items[3]], of: batch, code: "consent_missing", message: "", held: true)
        try outbox.confirm(batch.items, of: batch)
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        #expect(try outbox.releaseQuarantined(device) == 1)
        #expect(try outbox.releaseQuarantined(device) == 0)
        // What only waits for consent is not among them.
        #expect(try seqs() == [2])
        #expect(try outbox.unsent(device).isEmpty, "a server keeps a gap healed that once was")
        #expect(try await store.bandStatuses().first?.quarantined == 1)
        let again = try next()
        try outbox.quarantine(again.items, of: again, code: "bad_time", message: "no")
        #expect(try outbox.nextBatch() == nil)
        #expect(try fixture.gaps().map(\.healedAt) == [nil], "refused once more: the gap is as before")
        #expect(try outbox.releaseQuarantined(device) == 1)
        let last = try next()
        try outbox.confirm(last.items, of: last)
        #expect(try outbox.nextBatch() == nil)
        #expect(try outbox.unsent(device).map(\.healedAt) == [fixture.clock.now])
    }

    @Test func manyRefusedSamplesAndSecondReadingsAreReleasedInSlices() async throws {
        for first in stride(from: 1, to: 2_200, by: 1_000) as StrideTo<UInt32> {
            _ = try await store.commit(
                chunk(first...min(first + 999, 2_200)), of: device, clock: reading())
        }
        var other = record(2_200)
        other.value += 1
        _ = try await store.commit(chunk([other], through: 2_200), of: device, clock: reading())
        while let batch = try outbox.nextBatch() {
            try outbox.quarantine(batch.items, of: batch, code: "malformed", message: "")
        }
        #expect(try outbox.releaseQuarantined(device) == 2_201)
        #expect(try outbox.pendingCount() == 2_201)
    }

    @Test func aHeldSampleIsPendingNamedNowhereAndReleased() async throws {
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        let batch = try next()
        try outbox.quarantine([batch.items[1]], of: batch, code: "consent_missing", message: "", held: true)
        try outbox.confirm(batch.items, of: batch)
        #expect(try outbox.nextBatch() == nil)
        #expect(try outbox.pendingCount() == 1)
        #expect(try fixture.gaps().isEmpty)
        #expect(try outbox.completeThrough(device, ring) == 1)
        #expect(try outbox.releaseHeld(device) == 1)
        #expect(try seqs() == [2])
    }

    /// The first reading is confirmed; the second waits for its wearer's consent, and the band keeps its copy.
    @Test func aHeldSecondReadingIsPendingAndReleasedAndHoldsTheAck() async throws {
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        let first = try next()
        try outbox.confirm(first.items, of: first)
        var other = record(3)
        other.value += 1
        _ = try await store.commit(chunk([other], through: 5), of: device, clock: reading())
        let second = try next()
        try outbox.quarantine(second.items, of: second, code: "consent_missing", message: "", held: true)
        #expect(try outbox.nextBatch() == nil)
        #expect(try outbox.releaseQuarantined(device) == 0, "it was not refused")
        #expect(try outbox.pendingCount() == 1)
        #expect(try fixture.reader().uploadBands().flatMap(\.kept).map(\.reason) == [.consent])
        #expect(try outbox.completeThrough(device, ring) == 2)
        #expect(try await store.ackPoint(of: device, ring: ring, ack: .upload) == 2)
        #expect(try outbox.releaseHeld(device) == 1)
        let again = try next()
        #expect(again.items.map(\.sample.value) == [other.value].map(Int.init))
        try outbox.confirm(again.items, of: again)
        #expect(try await store.ackPoint(of: device, ring: ring, ack: .upload) == 5)
        #expect(try outbox.releaseHeld(device) == 0)
    }

    @Test func openQuestionsAndUnsentGapsHoldCompleteness() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(9)], gaps: [gap(4, 5)], questions: [suspect(6, 8)], through: 9), of: device,
            clock: reading())
        #expect(try next().completeThrough == 3)
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        #expect(try next().completeThrough == 5)
        try await store.answer(try await store.openQuestions()[0], with: [.heldByServer(6...8)])
        #expect(try next().completeThrough == 9)
    }

    @Test func bandsTakeTurnsAndSkippedOnesWait() async throws {
        let other = BluetoothAddress(bits: 5)
        try await store.adopt(
            address: other, device: DeviceID(other), mode: .observe, name: nil, configured: false)
        _ = try await store.commit(chunk(1...4), of: device, clock: reading())
        _ = try await store.commit(chunk(1...4), of: DeviceID(other), clock: reading())
        let turns = try (0..<4).map { _ in try next(1).device }
        #expect(turns == [device, DeviceID(other), device, DeviceID(other)])
        for _ in 0..<2 { #expect(try outbox.nextBatch(skipping: [device])?.device == DeviceID(other)) }
        #expect(try outbox.nextBatch(skipping: [device, DeviceID(other)]) == nil)
    }

    @Test func aForgottenBandGoesOnUploading() async throws {
        _ = try await store.commit(chunk(1...4), of: device, clock: reading())
        try await store.clearConfigured()
        try await store.forget(StoreFixture.address)
        #expect(try await store.adoptedBands().isEmpty)
        #expect(try next().items.count == 4)
        #expect(try outbox.devices() == [device])
        #expect(try outbox.rings(of: device) == [ring])
        #expect(try outbox.deviceStatus(device)?.pending == 4)
    }

    @Test func theUploadDoesNotBlockACommit() async throws {
        _ = try await store.commit(chunk(1...600), of: device, clock: reading())
        // A batch is read in a transaction of its own that is over when it is handed out.
        let batch = try next()
        _ = try await store.commit(chunk(601...700), of: device, clock: reading())
        try outbox.confirm(batch.items, of: batch)
        #expect(try outbox.pendingCount() == 200)
    }
}
