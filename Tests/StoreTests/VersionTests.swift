import BandProfile
import GatewayModel
import Testing

@testable import Store

/// A correction that the server would take for known goes above what it has seen.
@Suite struct VersionTests {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    let device = StoreFixture.device
    let ring = StoreFixture.ring

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        outbox = try fixture.outbox()
        _ = try await store.commit(chunk(1...1_200), of: device, clock: reading())
    }

    private func correct(_ seqs: ClosedRange<UInt32>) async throws {
        try await store.correct(device, ring: ring, seqs) { fields, _ in
            fields.offsetQuarterHours = (fields.offsetQuarterHours ?? 0) + 1
        }
    }

    private func confirm(_ number: Int = 10) throws {
        for _ in 0..<number {
            if let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
        }
    }

    private func versions() throws -> [Int] { try fixture.samples().map(\.version) }

    @Test func aCorrectionOfAnOldCopyGoesAboveWhatTheServerHasSeen() async throws {
        try confirm()
        // Corrected offline, by a database that knows of no correction.
        try await correct(5...1_104)
        #expect(try versions().max() == 2)
        #expect(try outbox.raiseVersions(of: device, above: 5) == VersionNews(isNews: true, raised: 1_100))
        #expect(
            try versions() == Array(repeating: 1, count: 4) + Array(repeating: 6, count: 1_100)
                + Array(repeating: 1, count: 96))
        #expect(try outbox.nextBatch()?.items.first?.sample.version == 6)
        // What comes after that is above it, too.
        try await correct(1...1)
        #expect(try versions().first == 6)
        try await correct(5...5)
        #expect(try versions()[4] == 7)
    }

    @Test func anEqualVersionSaysNothingNewEither() async throws {
        try confirm()
        try await correct(5...6)
        #expect(try outbox.raiseVersions(of: device, above: 2) == VersionNews(isNews: false, raised: 2))
        #expect(try versions().max() == 3)
        // Within a run that is what this gateway sent itself.
        #expect(try outbox.raiseVersions(of: device, above: 3, onlyNews: true) == VersionNews())
        #expect(try versions().max() == 3)
        #expect(
            try outbox.raiseVersions(of: device, above: 4, onlyNews: true)
                == VersionNews(isNews: true, raised: 2))
        #expect(try versions().max() == 5)
    }

    @Test func onlyCorrectionsThatWaitGetAnotherVersion() async throws {
        try confirm()
        try await correct(5...6)
        try confirm()
        try await correct(7...8)
        #expect(try outbox.raiseVersions(of: device, above: 9).raised == 2)
        #expect(try Array(versions()[3..<9]) == [1, 2, 2, 10, 10, 1])
        // Samples that were never corrected go up as they are, however far the server is.
        _ = try await store.commit(chunk(1_201...1_210), of: device, clock: reading())
        #expect(try outbox.raiseVersions(of: device, above: 20).raised == 2)
        #expect(try Array(versions()[1_198...]) == Array(repeating: 1, count: 12))
    }

    @Test func aRaiseThatWasCutOffIsDoneAtTheNextStart() async throws {
        try confirm()
        try await correct(1...1_200)
        // Half of it, as after a crash: the floor is known, the rest is not done.
        let versions = OutboxVersions(database: outbox.database, unconfirmed: outbox.unconfirmed)
        try versions.raiseFloor(band: 1, to: 5)
        try versions.raise(try versions.stale(ring: 1, upTo: 5, above: 0), above: 5, band: 1)
        #expect(try self.versions().count { $0 == 2 } == 700)
        #expect(try outbox.raiseVersions(of: device, above: 5) == VersionNews(isNews: false, raised: 700))
        #expect(try self.versions().allSatisfy { $0 == 6 })
    }

    @Test func withoutACorrectionNothingIsDone() async throws {
        #expect(try outbox.raiseVersions(of: device, above: 5) == VersionNews(isNews: true))
        #expect(try outbox.raiseVersions(of: device, above: 0) == VersionNews())
        let other = try #require(DeviceID("other"))
        #expect(try outbox.raiseVersions(of: other, above: 5) == VersionNews())
        #expect(try versions().allSatisfy { $0 == 1 })
    }
}
