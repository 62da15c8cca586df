import BandProfile
import GatewayModel
import Testing

@testable import Store

/// What people tell the upload, and what does not go up.
@Suite struct UploadRecordTests {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    let device = StoreFixture.device

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        outbox = try fixture.outbox()
    }

    @Test func aPauseOutlivesAPowerCut() async throws {
        #expect(try outbox.record() == UploadRecord())
        let pause = UploadPause(since: fixture.clock.now, until: Timestamp(milliseconds: 1_900_000_000_000))
        try await store.setUploadPause(pause)
        let image = try fixture.imageAfterPowerCut()
        let restarted = try image.open()
        #expect(try await restarted.uploadRecord().pause == pause)
        #expect(try image.outbox().record().pause == pause)
        #expect(try image.reader().uploadRecord().pause == pause)
        try await store.setUploadPause(nil)
        #expect(try outbox.record().pause == nil)
    }

    @Test(arguments: [nil, Timestamp(milliseconds: 1_800_000_000_000)])
    func onlyThePauseThatIsOverEnds(until: Timestamp?) async throws {
        let first = UploadPause(since: fixture.clock.now, until: until)
        let second = UploadPause(since: Timestamp(milliseconds: 5), until: until)
        try await store.setUploadPause(second)
        try outbox.endPause(first)
        #expect(try await store.uploadRecord().pause == second)
        try outbox.endPause(second)
        #expect(try await store.uploadRecord().pause == nil)
    }

    @Test func successAndFailureAreKept() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        let batch = try #require(try outbox.nextBatch())
        try outbox.confirm(batch.items, of: batch)
        try outbox.noteError("server_error", at: Timestamp(milliseconds: 7))
        let record = try fixture.reader().uploadRecord()
        #expect(record.lastSuccess == fixture.clock.now)
        #expect(record.lastErrorCode == "server_error" && record.lastErrorAt == Timestamp(milliseconds: 7))
    }

    @Test func whatDoesNotGoUpIsListedByReasonAndCodeWithoutValuesOrWords() async throws {
        _ = try await store.commit(chunk(1...40), of: device, clock: reading())
        var other = record(40)
        other.value += 1
        _ = try await store.commit(chunk([other], through: 40), of: device, clock: reading())
        let batch = try #require(try outbox.nextBatch())
        func refuse(_ seqs: [UInt32], _ code: String, held: Bool = false) throws {
            let items = batch.items.filter { seqs.contains($0.sample.seq) && !$0.isConflict }
            try outbox.quarantine(items, of: batch, code: code, message: "value 72 is out", held: held)
        }
        try refuse([3, 4, 9], "value_out_of_range")
        try refuse([5], "bad_time")
        try refuse([20, 21], "consent_missing", held: true)
        try outbox.quarantine(
            batch.items.filter(\.isConflict), of: batch, code: "bad_field", message: "")
        let band = try #require(try fixture.reader().uploadBands().first)
        #expect(band.device == device && band.name == "Band")
        #expect(band.pending == 36 - 2 + 2)
        #expect(band.kept.map(\.code) == ["bad_time", "value_out_of_range", "consent_missing", ""])
        #expect(band.kept.map(\.reason) == [.refused, .refused, .consent, .refusedReading])
        #expect(band.kept.map(\.count) == [1, 3, 2, 1])
        #expect(band.kept[1].ranges == [3...4, 9...9])
        let times = try fixture.samples().filter { [3, 9].contains($0.seq) }.map(\.recordedAt)
        #expect(band.kept[1].from == times.first && band.kept[1].to == times.last)
        #expect(try await store.uploadBands() == [band])
    }

    @Test func manyRangesAreCountedAndNotAllNamed() async throws {
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        let batch = try #require(try outbox.nextBatch())
        try outbox.quarantine(
            batch.items.filter { $0.sample.seq % 2 == 0 }, of: batch, code: "bad_time", message: "")
        let kept = try #require(try fixture.reader().uploadBands().first?.kept.first)
        #expect(kept.count == 50 && kept.ranges.count == KeptSamples.rangeLimit)
        #expect(kept.ranges.first == 2...2)
    }
}
