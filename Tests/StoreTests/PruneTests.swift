import BandProfile
import GatewayModel
import SQLite
import Testing

@testable import Store

@Suite struct PruneTests {
    private let fixture: StoreFixture
    private let device = StoreFixture.device
    private let ring = StoreFixture.ring
    private static let day: Int64 = 86_400_000

    init() throws { fixture = try StoreFixture() }

    /// Records of a minute each; the fixture's band began at 2026-10-26T02:13:20Z by a clock that is a day behind.
    private func open(keptFor: Duration? = .seconds(2 * 86_400)) async throws -> Store {
        let clock = fixture.clock
        let store = try Store.open(
            directory: fixture.directory, vfs: StoreFixture.vfs, limits: StoreLimits(keptFor: keptFor),
            zones: StoreFixture.zoneOffset, now: { clock.now })
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: nil, configured: true)
        return store
    }

    private func trustClock(_ store: Store) async throws {
        try await store.noteHostClock(
            HostStamp(
                bootID: "boot", monotonic: 9_000_000, wall: fixture.clock.now, trust: .synchronised,
                boundMilliseconds: 10))
        try await store.settle()
    }

    /// Returns how many went.
    @discardableResult
    private func pruneAll(_ store: Store) async throws -> Int {
        var count = 0
        while let gone = try await store.prune() { count += gone }
        return count
    }

    private func confirm(_ seqs: ClosedRange<UInt32> = 0...(.max)) throws {
        let outbox = try fixture.outbox()
        while let batch = try outbox.nextBatch() {
            let items = batch.items.filter { seqs.contains($0.sample.seq) }
            guard !items.isEmpty else { return }
            try outbox.confirm(items, of: batch)
        }
    }

    private func seqs() throws -> [UInt32] { try fixture.samples().map(\.seq) }

    @Test func whatIsConfirmedAndOldGoesAndTheNewestStays() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...3_000), of: device, clock: reading())
        try confirm()
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        #expect(try await pruneAll(store) == 2_999)
        // The server has them all the same.
        #expect(try fixture.outbox().lacking(device, there: 2_990) == 10)
        #expect(try seqs() == [3_000])
        #expect(try await store.prunedCount() == 2_999)
        #expect(try await store.bandStatuses().first?.stored == 1)
        // The resume point, the last time and the file are as they should be.
        let progress = try await store.progress(of: device, info: info(1, 3_000))
        #expect(progress.nextSeq == 3_001)
        #expect(progress.lastRecordedAt != nil)
        try await store.close()
        let database = try Database(path: fixture.databasePath, vfs: StoreFixture.vfs)
        #expect(try database.check(full: true, within: .seconds(60)) == .sound)
    }

    @Test func whatIsYoungStays() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...10_000), of: device, clock: reading())
        try confirm()
        // The records reach over a week. What was recorded in the last two days, and up to two more, stays.
        let newest = try #require(try fixture.samples().last).recordedAt.milliseconds
        fixture.clock.advance(milliseconds: newest - fixture.clock.now.milliseconds)
        try await trustClock(store)
        try await pruneAll(store)
        let kept = try fixture.samples()
        let oldest = try #require(kept.first).recordedAt.milliseconds
        #expect(oldest <= newest - 3 * Self.day)
        #expect(oldest > newest - 4 * Self.day - 60_000)
        #expect(kept.count < 10_000)
        // Later, more goes.
        fixture.clock.advance(milliseconds: Self.day)
        try await trustClock(store)
        // A day's records; the bound of a time, a minute at most here, counts.
        #expect((1_438...1_442).contains(try await pruneAll(store)))
    }

    @Test func nothingGoesWithoutAConfirmation() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        try confirm(1...50)
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        try await pruneAll(store)
        #expect(try seqs() == Array(51...100))
    }

    @Test func nothingGoesWithoutAnAgeOrATimeThatIsKnown() async throws {
        var store = try await open()
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        try confirm()
        // The wall clock says that a month went by; nobody vouches for it.
        fixture.clock.advance(milliseconds: 30 * Self.day)
        #expect(try await pruneAll(store) == 0)
        try await store.close()
        store = try await open(keptFor: nil)
        try await trustClock(store)
        #expect(try await pruneAll(store) == 0)
        #expect(try seqs().count == 100)
    }

    @Test func whatSomebodyStillNeedsStays() async throws {
        let store = try await open()
        // 20 is refused, 30 is read a second time, 41 to 49 are asked about, 60 is contested.
        _ = try await store.commit(chunk(1...40), of: device, clock: reading())
        _ = try await store.commit(
            chunk((50...100).map { record($0) }, questions: [suspect(41, 49)], through: 100), of: device,
            clock: reading())
        try await store.rewind(device, ring: ring, to: 30)
        _ = try await store.commit(
            chunk([record(30, value: 7)], through: 30), of: device, clock: reading())
        let outbox = try fixture.outbox()
        let batch = try #require(try outbox.nextBatch())
        let refused = batch.items.filter { $0.sample.seq == 20 && $0.origin == .sample }
        try outbox.quarantine(refused, of: batch, code: "bad_time", message: "")
        let contested = batch.items.filter { $0.sample.seq == 10 }
        try outbox.confirm(contested, of: batch, contested: true)
        let rest = batch.items.filter { ![10, 20].contains($0.sample.seq) && $0.origin == .sample }
        try outbox.confirm(rest, of: batch)
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        try await pruneAll(store)
        // From 40 on they lie beside or above the question.
        #expect(try seqs() == [10, 20, 30] + [40] + Array(50...100))
    }

    @Test func whatComesAgainIsKnownAndNotNew() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        try confirm()
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        try await pruneAll(store)
        // A band that is only observed sends all of it at each contact.
        let outcome = try await store.commit(chunk(1...110), of: device, clock: reading())
        #expect(outcome.duplicates == 100)
        #expect(outcome.stored == 10)
        #expect(outcome.conflicts == 0)
        #expect(try fixture.outbox().pendingCount() == 10)
        // Nor is it missing.
        try await store.writeGap(gap(1, 110), device: device)
        #expect(try fixture.gaps().isEmpty)
        #expect(try seqs() == Array(100...110))
    }

    @Test func afterARollbackANumberSaysNothing() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        try confirm()
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        try await pruneAll(store)
        try await store.rewind(device, ring: ring, to: 1)
        let outcome = try await store.commit(
            chunk((1...20).map { record($0, value: 9) }, through: 20), of: device, clock: reading())
        #expect(outcome.stored == 20)
    }

    @Test func aDayThatWasLetGoIsNotCompared() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        try confirm()
        #expect(try fixture.outbox().keptFrom() == nil)
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        try await pruneAll(store)
        let kept = try #require(try fixture.outbox().keptFrom())
        #expect(kept == (fixture.clock.now.milliseconds - 2 * Self.day) / Self.day - 1)
        // Of the newest record's day there is still something.
        #expect(try fixture.outbox().days(of: device).count == 1)
    }

    /// A stop in the middle, and then an age that is longer: what went is not taken for there.
    @Test func aDayThatWasLetGoStaysSoAfterAKillAndWithALongerAge() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...3_000), of: device, clock: reading())
        try confirm()
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        // One slice, which is not all.
        let gone = try #require(try await store.prune())
        #expect((1..<2_999).contains(gone))
        let cutoff = (fixture.clock.now.milliseconds - 2 * Self.day) / Self.day - 1
        let image = try fixture.imageAfterPowerCut()
        let clock = fixture.clock
        let limits = StoreLimits(keptFor: .seconds(20 * 86_400))
        let again = try Store.open(
            directory: image.directory, vfs: StoreFixture.vfs, limits: limits,
            zones: StoreFixture.zoneOffset, checksInBackground: false, now: { clock.now })
        #expect(try image.outbox().keptFrom() == cutoff)
        // The rest goes by the longer age, and the day stands.
        #expect(try await pruneAll(again) == 2_999 - gone)
        #expect(try image.outbox().keptFrom() == cutoff)
    }

    @Test func whereNothingWentNothingIsSaid() async throws {
        let store = try await open()
        _ = try await store.commit(chunk(1...100), of: device, clock: reading())
        fixture.clock.advance(milliseconds: 30 * Self.day)
        try await trustClock(store)
        #expect(try await pruneAll(store) == 0)
        #expect(try fixture.outbox().keptFrom() == nil)
    }
}
