import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import Store

/// Random lives of one ring against `StoreModel`: chunks, repeats, conflicts, late rows, rewinds, questions, confirms,
/// rejections, corrections and power cuts.
@Suite struct PropertyTests {
    private let device = StoreFixture.device
    private let ring = StoreFixture.ring

    @Test(arguments: 0..<24) func theStoreIsTheModel(_ number: UInt64) async throws {
        let seed = number + (ProcessInfo.processInfo.environment["STORE_SEED"].flatMap { UInt64($0) } ?? 0)
        var life = try await Life(seed: seed)
        for step in 0..<60 {
            let event = try await life.step()
            try await life.check("seed \(seed), step \(step): \(event)")
        }
        try await life.drain("seed \(seed)")
    }
}

private struct Life {
    var random: SeededRandom
    var fixture: StoreFixture
    var store: Store
    var outbox: Outbox
    var model = StoreModel()
    let device = StoreFixture.device
    let ring = StoreFixture.ring

    init(seed: UInt64) async throws {
        random = SeededRandom(seed: seed)
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        outbox = try fixture.outbox()
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func step() async throws -> String {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: return try await commitNext()
        case 45..<55: return try await commitLate()
        case 55..<60: return try await rewind()
        case 60..<68: return try await answer()
        case 68..<88: return try upload()
        case 88..<92: return try await correct()
        case 92..<93: return try release()
        default: return try await powerCut()
        }
    }

    // MARK: Events

    private mutating func randomRecord(_ seq: UInt32) -> HistoryRecord {
        if chance(4) { return faulty(seq) }
        // Few types and values, so that a second reading is at times equal, another value or another type.
        let type: SampleType = chance(90) ? .heartRate : .steps
        return record(seq, type: type, value: chance(90) ? nil : 7, offset: chance(90) ? 22 : -128)
    }

    private mutating func commitNext() async throws -> String {
        var first = model.next
        var gaps: [Gap] = []
        var questions: [SuspectedGap] = []
        if chance(25) {
            let last = first + UInt32.random(in: 0..<12, using: &random)
            let middle = UInt32.random(in: first...last, using: &random)
            if chance(50) {
                gaps = [gap(first, middle, .lostByBand)]
                if middle < last { questions = [suspect(middle + 1, last, .overwritten)] }
            } else {
                questions = [suspect(first, middle, .overwritten)]
                if middle < last { gaps = [gap(middle + 1, last, .overwritten)] }
            }
            first = last + 1
        } else if chance(20) {
            first = max(1, first - min(first, UInt32.random(in: 0..<8, using: &random)))
        }
        let count = UInt32.random(in: 0..<30, using: &random)
        let records = (first..<(first + count)).map { randomRecord($0) }
        let through = max(model.next - 1, first + count - 1)
        return try await commit(chunk(records, gaps: gaps, questions: questions, through: through))
    }

    /// A run that lies anywhere below the resume point, over stored rows, gaps and questions.
    private mutating func commitLate() async throws -> String {
        guard model.next > 2 else { return "nothing" }
        let first = UInt32.random(in: 1..<(model.next - 1), using: &random)
        let last = min(model.next - 1, first + UInt32.random(in: 0..<10, using: &random))
        return try await commit(chunk((first...last).map { randomRecord($0) }, through: last))
    }

    private mutating func commit(_ given: Chunk) async throws -> String {
        let before = model
        model.commit(given)
        let outcome = try await store.commit(given, of: device, clock: reading())
        #expect(outcome.stored == model.stored.count - before.stored.count)
        #expect(outcome.keptRaw == model.raw.count - before.raw.count)
        #expect(outcome.ackThrough == model.ackThrough)
        return
            "commit \(given.records.first?.record.seq ?? 0) x \(given.records.count) through \(given.through)"
    }

    private mutating func rewind() async throws -> String {
        let seq = UInt32.random(in: 1...model.next, using: &random)
        model.rewind(to: seq)
        try await store.rewind(device, ring: ring, to: seq)
        return "rewind to \(seq)"
    }

    private mutating func answer() async throws -> String {
        guard let question = try await store.openQuestions().first, let last = question.suspect.lastSeq else {
            return "nothing"
        }
        let first = question.suspect.firstSeq
        let middle = UInt32.random(in: first...last, using: &random)
        if chance(50) {
            for seq in first...middle { model.asked.remove(seq) }
            try await store.answer(question, with: [.heldByServer(first...middle)])
        } else {
            let lost = gap(first, middle, question.suspect.cause)
            model.write(lost)
            try await store.answer(question, with: [.gap(lost)])
        }
        return "answer \(first) to \(middle) of \(last)"
    }

    private mutating func upload() throws -> String {
        guard let batch = try outbox.nextBatch(limit: Int.random(in: 1..<80, using: &random)) else {
            return "idle"
        }
        var confirmed: [OutboxItem] = []
        for item in batch.items {
            let key = StoreModel.Key(seq: item.sample.seq, type: item.sample.type.rawValue)
            if chance(85) {
                confirmed.append(item)
            } else if chance(20), !item.isConflict {
                try outbox.quarantine([item], of: batch, code: "bad_time", message: "no")
                model.quarantine(key)
            }
        }
        try outbox.confirm(confirmed, of: batch)
        model.confirm(
            Set(
                confirmed.filter { !$0.isConflict }.map {
                    StoreModel.Key(seq: $0.sample.seq, type: $0.sample.type.rawValue)
                }))
        for item in confirmed where item.isConflict {
            model.unsentConflicts = model.unsentConflicts.filter { !$0.isReading(item.sample) }
        }
        return "upload \(confirmed.count) of \(batch.items.count)"
    }

    /// A person asks for what was refused to be tried again.
    private mutating func release() throws -> String {
        #expect(try outbox.releaseQuarantined(device) == model.quarantined.count)
        model.release()
        return "release"
    }

    private mutating func correct() async throws -> String {
        let first = UInt32.random(in: 1...model.next, using: &random)
        model.correct(first...(first + 5))
        try await store.correct(device, ring: ring, first...(first + 5)) { fields, _ in
            fields.recordedAt += 1
        }
        return "correct from \(first)"
    }

    /// What the upload wrote is made durable by the store's next commit; what the store returned for is anyway.
    private mutating func powerCut() async throws -> String {
        try await store.setProblem(device: nil, nil)
        try await store.setProblem(
            device: nil, Problem(code: "x", text: "", remedy: "", since: Timestamp(milliseconds: 0)))
        fixture = try fixture.imageAfterPowerCut()
        store = try fixture.open()
        outbox = try fixture.outbox()
        return "power cut"
    }

    // MARK: Checks

    func check(_ event: String) async throws {
        let samples = try fixture.samples()
        let expected = model.stored.sorted { ($0.key.seq, $0.key.type) < ($1.key.seq, $1.key.type) }
        try #require(samples.count == expected.count, "\(event)")
        for (sample, (key, record)) in zip(samples, expected) {
            #expect(record.isReading(sample), "\(event)")
            #expect(sample.version == model.versions[key], "\(event)")
        }
        var missing: Set<UInt32> = []
        var healed: Set<UInt32> = []
        for gap in try fixture.gaps() {
            let seqs = gap.firstSeq...(try #require(gap.lastSeq))
            if gap.healedAt == nil { missing.formUnion(seqs) } else { healed.formUnion(seqs) }
            for seq in seqs where gap.healedAt == nil { #expect(model.missing[seq] == gap.cause, "\(event)") }
        }
        #expect(missing == Set(model.missing.keys), "\(event)")
        #expect(healed == model.healed, "\(event)")
        let progress = try await store.progress(of: device, info: info(1, model.next))
        #expect(progress.nextSeq == model.next, "\(event)")
        #expect(progress.ackThrough == model.ackThrough, "\(event)")
        #expect(Set(progress.openQuestions.flatMap { $0 }) == model.asked, "\(event)")
        #expect(
            try outbox.pendingCount() == model.unconfirmed.count + model.unsentConflicts.count, "\(event)")
        try outbox.markGapsSent(try outbox.unsent(device, limit: 100_000), of: device)
        #expect(try outbox.completeThrough(device, ring) == model.completeThrough, "\(event)")
        let status = try #require(try await store.bandStatuses().first)
        #expect(status.stored == model.stored.count, "\(event)")
        #expect(status.conflicts == model.conflicts.count, "\(event)")
        #expect(status.undecodable == model.raw.count, "\(event)")
        #expect(status.quarantined == model.quarantined.count, "\(event)")
    }

    /// In the end everything unconfirmed goes up.
    mutating func drain(_ event: String) async throws {
        var sent: Set<UInt32> = []
        while let batch = try outbox.nextBatch(limit: 50) {
            sent.formUnion(batch.items.filter { !$0.isConflict }.map(\.sample.seq))
            try outbox.confirm(batch.items, of: batch)
        }
        #expect(sent == model.unconfirmed, "\(event)")
        #expect(try outbox.pendingCount() == 0, "\(event)")
    }
}

extension HistoryRecord {
    /// The sample says what this record says.
    fileprivate func isReading(_ sample: Sample) -> Bool {
        seq == sample.seq && type == sample.type.rawValue && Int(value) == sample.value
            && bandTimeMilliseconds == sample.bandTimeMilliseconds && offsetMinutes == sample.offsetMinutes
            && flags == sample.flags
    }
}

/// xorshift64*: the same on every machine.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 2_654_435_769 &+ 88_172_645_463_325_252 }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }
}
