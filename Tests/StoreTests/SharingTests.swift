import BandProfile
import GatewayModel
import Testing

@testable import Store

/// What is compared with the server, and when a band counts as shared.
@Suite struct SharingTests {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    let device = StoreFixture.device
    let other = RingID(rawValue: 7)

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        outbox = try fixture.outbox()
    }

    private func commit(_ seqs: ClosedRange<UInt32>, ring: RingID = StoreFixture.ring) async throws {
        _ = try await store.commit(chunk(seqs, ring: ring), of: device, clock: reading())
    }

    private func confirm(contested: Bool = false) throws {
        while let batch = try outbox.nextBatch(limit: 100) {
            try outbox.confirm(batch.items, of: batch, contested: contested)
        }
    }

    /// All that is to be compared, slice by slice.
    private func compared(limit: Int = 40) throws -> [String] {
        var slices: [String] = []
        while let slice = try outbox.nextComparison(limit: limit) {
            #expect(slice.moments.allSatisfy { slice.seqs.contains($0.seq) })
            if !slice.moments.isEmpty {
                slices.append("\(slice.ring) \(slice.seqs) x \(slice.moments.count)")
            }
            try outbox.endComparison(slice)
        }
        return slices
    }

    @Test func whatTheServerKnewIsComparedOnceAlsoAfterARestart() async throws {
        try await commit(1...100)
        try confirm()
        #expect(try compared().isEmpty)
        try await commit(101...200)
        try confirm(contested: true)
        let slice = try #require(try outbox.nextComparison(limit: 10))
        #expect(slice.seqs == 101...110)
        #expect(slice.moments.first?.boundMilliseconds != nil)
        #expect(try fixture.outbox().nextComparison(limit: 10) == slice)
        #expect(
            try compared() == [
                "b5e5d00d 101...140 x 40", "b5e5d00d 141...180 x 40", "b5e5d00d 181...200 x 20",
            ])
        #expect(try fixture.outbox().nextComparison() == nil)
    }

    @Test func whatWaitsToBeSentIsNotCompared() async throws {
        try await commit(1...100)
        try confirm(contested: true)
        try await store.correct(device, ring: StoreFixture.ring, 41...60) { fields, _ in
            fields.offsetQuarterHours = 1
        }
        #expect(try compared() == ["b5e5d00d 1...40 x 40", "b5e5d00d 61...100 x 40"])
    }

    @Test func aDeviceThatRestsIsPassed() async throws {
        try await commit(1...10)
        try confirm(contested: true)
        #expect(try outbox.nextComparison(skipping: [device]) == nil)
        #expect(try outbox.nextComparison() != nil)
    }

    @Test func sweepsTakeWhatIsNewAndGoDownThroughWhatIsOld() async throws {
        try await commit(1...300)
        try await commit(1...100, ring: other)
        try confirm()
        #expect(try !outbox.sweep(device, count: 100), "nobody else is there")
        #expect(try !outbox.isShared(device))
        try outbox.noteOthers(of: device)
        #expect(try outbox.isShared(device))
        #expect(try outbox.sweep(device, count: 80))
        #expect(
            try compared(limit: 500) == [
                "00000007 21...100 x 80", "00000007 1...20 x 20", "b5e5d00d 241...300 x 60",
            ])
        #expect(try outbox.sweep(device, count: 80))
        #expect(try compared(limit: 500) == ["00000007 21...100 x 80", "b5e5d00d 161...240 x 80"])
        #expect(try outbox.sweep(device, count: 80))
        #expect(try outbox.sweep(device, count: 80))
        #expect(try compared(limit: 500) == ["00000007 21...100 x 80", "b5e5d00d 1...80 x 80"])
        #expect(try outbox.sweep(device, count: 80))
        #expect(try compared(limit: 500) == ["00000007 21...100 x 80"])
        // From the top again.
        #expect(try outbox.sweep(device, count: 80))
        #expect(
            try compared(limit: 500) == [
                "00000007 21...100 x 80", "00000007 1...20 x 20", "b5e5d00d 241...300 x 60",
            ])
    }

    @Test func aBandIsNoLongerSharedWhenNobodyWasSeenForLong() async throws {
        try await commit(1...10)
        try outbox.noteOthers(of: device)
        for _ in 0..<60 { #expect(try outbox.sweep(device, count: 10)) }
        #expect(try !outbox.sweep(device, count: 10))
        #expect(try !outbox.isShared(device))
    }

    @Test func whatIsAdoptedShowsThatSomebodyIsThere() async throws {
        try await commit(1...10)
        try confirm()
        var sample = try #require(try fixture.samples().first)
        #expect(try outbox.adopt([sample], of: device).adopted == 0)
        #expect(try !outbox.isShared(device))
        sample.version = 2
        #expect(try outbox.adopt([sample], of: device).adopted == 1)
        #expect(try outbox.isShared(device))
    }

    @Test func statusesThatWereSentAreRemembered() async throws {
        #expect(try outbox.reports(of: device).isEmpty)
        try outbox.noteSending(report: "one", of: device)
        try outbox.noteTaken(report: "one", of: device)
        try outbox.noteSending(report: "two", of: device)
        #expect(try fixture.outbox().reports(of: device) == ["two", "one"])
    }
}
