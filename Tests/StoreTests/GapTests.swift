import BandProfile
import GatewayModel
import SQLite
import Testing

@testable import Store

@Suite struct GapTests {
    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
    }

    /// (first, last, is healed) of every row.
    private func rows() throws -> [String] {
        try fixture.gaps().map { gap in
            "\(gap.firstSeq)-\(gap.lastSeq.map { "\($0)" } ?? "")\(gap.healedAt == nil ? "" : " healed")"
        }
    }

    @Test func aGapLiesBetweenTheTimesOfItsNeighbours() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(8)], gaps: [gap(4, 7)], through: 8), of: device, clock: reading())
        let samples = try fixture.samples()
        let row = try #require(try fixture.gaps().first)
        #expect(row.after == samples[2].recordedAt)
        #expect(row.before == samples[3].recordedAt)
        #expect(row.cause == .lostByBand)
    }

    @Test func aGapWithoutASuccessorLearnsItsEndFromTheNextRecord() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(chunk([], gaps: [gap(4, 7)], through: 7), of: device, clock: reading())
        #expect(try fixture.gaps().first?.before == nil)
        let outbox = try fixture.outbox()
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        _ = try await store.commit(chunk(8...9), of: device, clock: reading())
        let successor = try fixture.samples().first { $0.seq == 8 }
        #expect(try fixture.gaps().first?.before == successor?.recordedAt)
        #expect(try outbox.unsent(device).count == 1)
    }

    @Test(
        arguments: [
            (gap(4, 9, .unreadable), ["4-9 unreadable"]),
            (gap(4, 4, .unreadable), ["4-4 unreadable", "5-9"]),
            (gap(6, 7, .lostByBand), ["4-5", "6-7 lost_by_band", "8-9"]),
            (gap(8, 40, .unreadable), ["4-7", "8-9 unreadable"]), (gap(1, 3, .unreadable), ["4-9"]),
            (gap(10, nil, .unreadable), ["4-9"]), (gap(5, nil, .storageLost), ["4-4", "5-9 storage_lost"]),
            (gap(4, 9, .freedElsewhere), ["4-9"]), (gap(9, 4, .unreadable), ["4-9"]),
        ] as [(Gap, [String])])
    func whoeverFreedRecordsMayKnowWhyTheyAreMissing(_ theirs: Gap, _ expected: [String]) async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(4, 9, .freedElsewhere)], through: 10), of: device, clock: reading()
        )
        let outbox = try fixture.outbox()
        let gaps = try outbox.unsent(device)
        try outbox.markGapsSent(gaps, of: device)
        var healed = theirs
        healed.healedAt = Timestamp(milliseconds: 1)
        #expect(try outbox.learnCauses([healed], of: device) == 0)
        let learnt = try outbox.learnCauses([theirs], of: device)
        let rows = try fixture.gaps().map { gap in
            "\(gap.firstSeq)-\(gap.lastSeq.map { "\($0)" } ?? "")"
                + (gap.cause == .freedElsewhere ? "" : " \(gap.cause.rawValue)")
        }
        #expect(rows == expected)
        // What changed goes up again.
        let unsent = try outbox.unsent(device)
        #expect(learnt == (rows == ["4-9"] ? 0 : 1) && unsent.count == (learnt == 0 ? 0 : rows.count))
        #expect(try outbox.learnCauses([theirs], of: device) == 0)
    }

    /// A request of before may come to the server late, after a newer one, and is the last that counts then.
    @Test func aGapThatTheServerHasLongerOrNotGoesAgain() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(4, 6, .lostByBand), gap(7, 9, .unreadable)], through: 10),
            of: device,
            clock: reading())
        let outbox = try fixture.outbox()
        #expect(try !outbox.hasSentGaps(device))
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        #expect(try outbox.hasSentGaps(device))
        let cases: [(theirs: [UInt32: UInt32?], again: [UInt32])] = [
            ([4: 5, 7: 9], []), ([4: 6, 7: 9], []), ([4: 9, 7: 10], [4, 7]), ([4: 6], [7]), ([:], [4, 7]),
            // What is behind 10 is not known here: who said that knows more.
            ([4: 6, 7: 11], []), ([4: nil, 7: 9], []), ([4: .max, 7: nil], []),
        ]
        for (theirs, again) in cases {
            let ends = Dictionary(
                uniqueKeysWithValues: theirs.map { (GapPlace(ring: StoreFixture.ring, firstSeq: $0), $1) })
            #expect(try outbox.sendGapsAgain(device, besides: ends) == again.count, "\(theirs)")
            #expect(try outbox.unsent(device).map(\.firstSeq).sorted() == again, "\(theirs)")
            try outbox.markGapsSent(try outbox.unsent(device), of: device)
        }
    }

    /// Its cause is one that this program does not know, as after a downgrade.
    @Test func aGapOfAnUnknownCauseIsSentOnce() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(4, 9, .lostByBand)], through: 10), of: device, clock: reading())
        try Database(path: fixture.databasePath, vfs: StoreFixture.vfs).execute(
            "UPDATE gaps SET cause = 'eaten'")
        let outbox = try fixture.outbox()
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        #expect(try outbox.unsent(device).isEmpty)
    }

    @Test func whatIsKnownHereAboutAGapStands() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(4, 9, .overwritten)], through: 10), of: device, clock: reading())
        #expect(try fixture.outbox().learnCauses([gap(4, 9, .unreadable)], of: device) == 0)
        #expect(try fixture.gaps().first?.cause == .overwritten)
    }

    @Test(
        arguments: [
            (4...4, ["4-4 healed", "5-9"]), (9...9, ["4-8", "9-9 healed"]),
            (6...7, ["4-5", "6-7 healed", "8-9"]),
            (4...9, ["4-9 healed"]), (2...5, ["4-5 healed", "6-9"]), (8...10, ["4-7", "8-9 healed"]),
        ] as [(ClosedRange<UInt32>, [String])])
    func recordsThatTurnUpHealTheirPartOfAGap(_ late: ClosedRange<UInt32>, _ expected: [String]) async throws
    {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(4, 9)], through: 10), of: device, clock: reading())
        fixture.clock.advance(milliseconds: 1_000)
        _ = try await store.commit(chunk(late), of: device, clock: reading())
        #expect(try rows() == expected)
    }

    @Test func healingPieceByPieceEndsInHealedRowsOnly() async throws {
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(1, 9)], through: 10), of: device, clock: reading())
        for seq in [5, 1, 9, 2, 3, 4, 8, 7, 6] as [UInt32] {
            _ = try await store.commit(chunk(seq...seq), of: device, clock: reading())
        }
        #expect(try fixture.gaps().allSatisfy { $0.healedAt != nil })
        #expect(try await store.bandStatuses().first?.gaps == 0)
    }

    @Test func aDuplicateHealsNothing() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        let outbox = try fixture.outbox()
        let batch = try #require(try outbox.nextBatch())
        try outbox.quarantine([batch.items[1]], of: batch, code: "bad_time", message: "")
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        #expect(try rows() == ["2-2"])
    }

    @Test func aGapIsWrittenOnlyWhereNothingIsStoredOrNamed() async throws {
        _ = try await store.commit(
            chunk([record(5)], gaps: [gap(1, 2), gap(3, 4, .unreadable)], through: 5), of: device,
            clock: reading())
        try await store.writeGap(gap(1, 9, .overwritten), device: device)
        #expect(try rows() == ["1-2", "3-4", "6-9"])
        #expect(try fixture.gaps().map(\.cause) == [.lostByBand, .unreadable, .overwritten])
    }

    @Test func aReformattedRingLeavesOneGapWithAnOpenEnd() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        let next = RingID(rawValue: 7)
        var progress = try await store.progress(of: device, info: info(1, 5, ring: next, formatCount: 2))
        #expect(progress.predecessors == [.init(ring: StoreFixture.ring, nextSeq: 4)])
        try await store.writeGap(gap(4, nil, .reformatted), device: device)
        try await store.writeGap(gap(4, nil, .reformatted), device: device)
        #expect(try rows() == ["4-"])
        progress = try await store.progress(of: device, info: info(1, 5, ring: next, formatCount: 2))
        #expect(progress.predecessors.isEmpty)
        #expect(progress.nextSeq == 1)
    }

    @Test func aGapThatChangedWhileItWasSentGoesAgain() async throws {
        _ = try await store.commit(
            chunk([record(10)], gaps: [gap(1, 9)], through: 10), of: device, clock: reading())
        let outbox = try fixture.outbox()
        let sent = try outbox.unsent(device)
        _ = try await store.commit(chunk(9...9), of: device, clock: reading())
        try outbox.markGapsSent(sent, of: device)
        #expect(try outbox.unsent(device).map(\.firstSeq) == [1, 9])
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        #expect(try outbox.unsent(device).isEmpty)
    }
}
