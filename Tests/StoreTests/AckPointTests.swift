import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import Store

/// `ack = upload`: the highest seq up to which every record is confirmed, or is kept here and named where the server knows.
@Suite struct AckPointTests {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    let device = StoreFixture.device
    let ring = StoreFixture.ring

    init() async throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, ack: .upload, name: nil,
            configured: true)
        outbox = try fixture.outbox()
    }

    private func point() async throws -> UInt32 {
        try await store.ackPoint(of: device, ring: ring, ack: .upload)
    }

    private func confirmAll() throws {
        while let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
    }

    private func sendGaps() throws {
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
    }

    @Test func whatIsOnlyStoredHereIsNotAcked() async throws {
        let outcome = try await store.commit(chunk(1...10), of: device, clock: reading(), ack: .upload)
        #expect(outcome.ackThrough == 0)
        #expect(try await store.ackPoint(of: device, ring: ring, ack: .stored) == 10)
        let batch = try #require(try outbox.nextBatch())
        try outbox.confirm(batch.items.filter { $0.sample.seq != 7 }, of: batch)
        #expect(try await point() == 6)
        try confirmAll()
        #expect(try await point() == 10)
        let progress = try await store.progress(of: device, info: info(1, 20), ack: .upload)
        #expect(progress.ackThrough == 10 && progress.nextSeq == 11)
    }

    @Test func aRingThatIsNotKnownHereIsNotAcked() async throws {
        #expect(try await point() == 0)
        let other = RingID(rawValue: 7)
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        try confirmAll()
        #expect(try await store.ackPoint(of: device, ring: other, ack: .upload) == 0)
        #expect(try await store.ackPoint(of: device, ring: other, ack: .stored) == 0)
    }

    /// Its bytes are here, and the server knows what is missing there.
    @Test func whatCanNotBeReadIsPassedOnceItIsNamed() async throws {
        let records = [record(1), faulty(2), record(3)]
        _ = try await store.commit(chunk(records, through: 3), of: device, clock: reading())
        try confirmAll()
        #expect(try await point() == 1)
        try sendGaps()
        #expect(try await point() == 3)
    }

    @Test func whatTheServerRefusesIsPassedOnceItIsNamed() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        let batch = try #require(try outbox.nextBatch())
        try outbox.quarantine([batch.items[1]], of: batch, code: "bad_time", message: "")
        try outbox.confirm([batch.items[0], batch.items[2]], of: batch)
        #expect(try await point() == 1)
        try sendGaps()
        #expect(try await point() == 3)
    }

    /// It is named in no gap, and the server may take it yet.
    @Test func whatWaitsForConsentStaysOnTheBand() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        let batch = try #require(try outbox.nextBatch())
        try outbox.quarantine([batch.items[1]], of: batch, code: "consent_missing", message: "", held: true)
        try outbox.confirm([batch.items[0], batch.items[2]], of: batch)
        try sendGaps()
        #expect(try await point() == 1)
        try outbox.releaseHeld(device)
        try confirmAll()
        #expect(try await point() == 3)
    }

    @Test func whatWasConfirmedStaysSoWhileABetterVersionWaits() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        try confirmAll()
        try await store.correct(device, ring: ring, 3...5) { fields, _ in fields.recordedAt += 1 }
        #expect(try outbox.pendingCount() == 3)
        #expect(try await point() == 10)
        _ = try await store.commit(chunk(11...12), of: device, clock: reading(), ack: .upload)
        #expect(try await point() == 10)
        let batch = try #require(try outbox.nextBatch())
        try outbox.confirm(batch.items.filter { $0.sample.seq > 10 }, of: batch)
        #expect(try await point() == 12)
    }

    @Test func whatTheServerHasLostIsKeptByTheBandAgain() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        try confirmAll()
        #expect(try await point() == 10)
        try outbox.markUnconfirmed([4, 8], in: ring, of: device)
        #expect(try await point() == 3)
        try confirmAll()
        #expect(try await point() == 10)
    }

    /// The numbers of a band that fell back prove nothing: what comes again is compared first.
    @Test func aRingThatFellBackIsReadAgainFirst() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        try confirmAll()
        #expect(try await point() == 10)
        try await store.rewind(device, ring: ring, to: 4)
        #expect(try await point() == 3)
        let again = (4...8).map { record(UInt32($0), value: $0 == 6 ? 7 : nil) }
        _ = try await store.commit(chunk(again, through: 8), of: device, clock: reading())
        #expect(try await point() == 5, "the second reading of 6 was not sent")
        try confirmAll()
        #expect(try await point() == 8)
    }

    @Test func whatTheServerHadFromAnotherGatewayIsAckedToo() async throws {
        try await store.applyServerState(device, ring: ring, completeThrough: 50, maxVersion: 1)
        #expect(try await point() == 50)
    }

    @Test func theRoomOfABandThatWaitsIsSaid() async throws {
        _ = try await store.progress(of: device, info: info(1, 9_000), ack: .upload)
        _ = try await store.commit(chunk(1...20), of: device, clock: reading())
        let waiting = try #require(try await store.bandStatuses().first)
        #expect(waiting.ack == .upload && waiting.oldestSeq == 1 && waiting.capacity == 10_000)
        #expect(waiting.problem?.code == "band_waits_for_server")
        #expect(waiting.room == BandRoom(ackPoint: 0, newest: 9_000, capacity: 10_000))
        _ = try await store.commit(chunk(21...4_000), of: device, clock: reading())
        try confirmAll()
        let eased = try #require(try await store.bandStatuses().first)
        #expect(eased.oldestSeq == 4_001 && eased.room?.left == 5_000 && eased.problem == nil)
    }

    // MARK: random lives

    @Test(arguments: UInt64(0)..<24) func thePointIsTheHighestThatTheRuleAllows(_ number: UInt64) async throws
    {
        let seed = number + (ProcessInfo.processInfo.environment["STORE_SEED"].flatMap { UInt64($0) } ?? 0)
        var life = AckLife(fixture: fixture, store: store, outbox: outbox, random: SeededRandom(seed: seed))
        for step in 0..<80 {
            let event = try await life.step()
            let point = try await point()
            let expected = life.expected()
            #expect(point <= expected, "seed \(seed), step \(step): \(event)")
            // A row of gaps that grew, or was healed, is told anew as a whole: until then it counts as not told.
            if try outbox.unsent(device).isEmpty {
                #expect(point == expected, "seed \(seed), step \(step): \(event)")
            }
            life.point = point
        }
        try await life.settle()
        #expect(try await point() == life.expected(), "seed \(seed), at the end")
    }
}

/// What became of each record, one by one.
private struct AckLife {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    var random: SeededRandom
    let device = StoreFixture.device
    let ring = StoreFixture.ring

    var next: UInt32 = 1
    /// The server has it as it is now.
    var confirmed: Set<UInt32> = []
    /// Of a gap, as far as the server was told.
    var named: Set<UInt32> = []
    var stored: Set<UInt32> = []
    /// By the server, for good.
    var refused: Set<UInt32> = []

    /// What was free to go once stays so.
    var point: UInt32 = 0

    /// By the words of the rule, one record after the other.
    mutating func expected() -> UInt32 {
        while point + 1 < next, isFree(point + 1) { point += 1 }
        return point
    }

    /// The server has it, or it is kept here alone and the server knows that.
    private func isFree(_ seq: UInt32) -> Bool {
        confirmed.contains(seq) || (named.contains(seq) && (!stored.contains(seq) || refused.contains(seq)))
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func step() async throws -> String {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: return try await commit()
        case 35..<75: return try upload()
        case 75..<85: return try sendGaps()
        case 85..<92: return try await correct()
        case 92..<96: return try await answer()
        default: return try release()
        }
    }

    private mutating func commit() async throws -> String {
        var gaps: [Gap] = []
        var questions: [SuspectedGap] = []
        let start = next
        if chance(20) {
            let last = next + UInt32.random(in: 0..<5, using: &random)
            if chance(50) { gaps = [gap(next, last)] } else { questions = [suspect(next, last)] }
            next = last + 1
        }
        let count = UInt32.random(in: 0..<20, using: &random)
        let records = (next..<next + count).map { chance(5) ? faulty($0) : record($0) }
        stored.formUnion(records.filter { $0.contentFault == nil }.map(\.seq))
        next += count
        guard next > start else { return "nothing" }
        _ = try await store.commit(
            chunk(records, gaps: gaps, questions: questions, through: next - 1), of: device, clock: reading(),
            ack: .upload)
        return "commit through \(next - 1)"
    }

    private mutating func upload() throws -> String {
        guard let batch = try outbox.nextBatch(limit: Int.random(in: 1..<40, using: &random)) else {
            return "idle"
        }
        var taken: [OutboxItem] = []
        for item in batch.items {
            if chance(80) {
                taken.append(item)
                confirmed.insert(item.sample.seq)
            } else if chance(30) {
                let isHeld = chance(40)
                try outbox.quarantine([item], of: batch, code: "x", message: "", held: isHeld)
                if !isHeld { refused.insert(item.sample.seq) }
            }
        }
        try outbox.confirm(taken, of: batch)
        return "upload \(taken.count) of \(batch.items.count)"
    }

    private mutating func sendGaps() throws -> String {
        let gaps = try outbox.unsent(device).filter { _ in chance(60) }
        try outbox.markGapsSent(gaps, of: device)
        for gap in gaps where gap.healedAt == nil {
            named.formUnion(gap.firstSeq...(gap.lastSeq ?? gap.firstSeq))
        }
        return "\(gaps.count) gaps"
    }

    private mutating func correct() async throws -> String {
        let first = UInt32.random(in: 1...next, using: &random)
        try await store.correct(device, ring: ring, first...first + 5) { fields, _ in fields.recordedAt += 1 }
        for seq in first...first + 5 where stored.contains(seq) {
            confirmed.remove(seq)
            // It deserves another try, and counts as refused no more.
            refused.remove(seq)
        }
        return "correct from \(first)"
    }

    private mutating func answer() async throws -> String {
        guard let question = try await store.openQuestions().first, let last = question.suspect.lastSeq else {
            return "nothing"
        }
        let first = question.suspect.firstSeq
        if chance(50) {
            try await store.answer(question, with: [.heldByServer(first...last)])
            confirmed.formUnion(first...last)
        } else {
            try await store.answer(question, with: [.gap(gap(first, last, .overwritten))])
        }
        return "answer \(first) to \(last)"
    }

    /// What was refused goes up again; what waited for consent as well.
    private mutating func release() throws -> String {
        try outbox.releaseHeld(device)
        return "release"
    }

    /// Everything goes up, and everything is told.
    mutating func settle() async throws {
        try outbox.releaseHeld(device)
        while let batch = try outbox.nextBatch() {
            confirmed.formUnion(batch.items.map(\.sample.seq))
            try outbox.confirm(batch.items, of: batch)
        }
        let gaps = try outbox.unsent(device, limit: 10_000)
        try outbox.markGapsSent(gaps, of: device)
        for gap in try fixture.gaps() where gap.healedAt == nil {
            named.formUnion(gap.firstSeq...(gap.lastSeq ?? gap.firstSeq))
        }
    }
}
