import BandProfile
import GatewayModel
import IngestAPI
import Store
import Synchronization

@testable import Uplink

/// The store's side of the upload in memory, which can be looked at and made to fail from the test.
final class FakeOutbox: UploadOutbox, Sendable {
    struct Key: Hashable, Comparable {
        var device: DeviceID
        var seq: UInt32
        static func < (left: Key, right: Key) -> Bool {
            (left.device.text, left.seq) < (right.device.text, right.seq)
        }
    }

    enum State: Equatable {
        case pending
        case confirmed
        case quarantined(String)
        case held
    }

    struct Row {
        var sample: Sample
        var state = State.pending
    }

    struct Failure: Error {}

    struct Contents {
        var rows: [Key: Row] = [:]
        var gaps: [DeviceID: [Gap]] = [:]
        var sentGaps: [DeviceID: [Gap]] = [:]
        var reports: [DeviceID: DeviceReport] = [:]
        var completeThrough: UInt32?
        var failsToRead = false
        var failsToWrite = false
        var sharing = Sharing()
        var persons: [FakePerson] = []
        var record = UploadRecord()
        var errorsNoted = 0
        /// Confirmed, and let go since.
        var pruned = 0
        var letBe = 0
        var leased: [LeasedBand] = []
        var openGaps: [ClosedRange<UInt32>] = []
        /// Whose ring has them.
        var devicesWithGaps: Set<DeviceID> = [deviceA]
        var healed: [UInt32] = []
    }

    let contents = Locked(Contents())

    func add(_ samples: [Sample]) {
        contents.change { contents in
            for sample in samples {
                contents.rows[Key(device: sample.device, seq: sample.seq)] = Row(sample: sample)
            }
        }
    }

    /// A better clock offset: the row goes up again.
    func correct(_ seq: UInt32, device: DeviceID = deviceA) {
        contents.change { contents in
            let key = Key(device: device, seq: seq)
            contents.rows[key]?.sample.version += 1
            contents.rows[key]?.sample.recordedAt.milliseconds += 1
            contents.rows[key]?.state = .pending
        }
    }

    func state(_ seq: UInt32, device: DeviceID = deviceA) -> State? {
        contents.value.rows[Key(device: device, seq: seq)]?.state
    }

    func count(_ state: State) -> Int { contents.value.rows.values.count { $0.state == state } }

    // MARK: UploadOutbox

    func devices() throws -> [DeviceID] {
        try read { contents in
            Set(contents.rows.keys.map(\.device)).union(contents.gaps.keys).sorted { $0.text < $1.text }
        }
    }

    func nextBatch(limit: Int, skipping: Set<DeviceID>) throws -> PendingBatch? {
        try read { contents in
            let waiting = contents.rows.filter {
                $0.value.state == .pending && !skipping.contains($0.key.device)
            }
            guard let first = waiting.keys.min() else { return nil }
            let keys = waiting.keys.filter { $0.device == first.device }.sorted().prefix(limit)
            return PendingBatch(
                device: first.device, ring: ring, samples: keys.compactMap { waiting[$0]?.sample },
                completeThrough: contents.completeThrough)
        }
    }

    func completeThrough(of batch: PendingBatch, _ range: Range<Int>) throws -> UInt32? {
        range == batch.samples.indices ? batch.completeThrough : nil
    }

    func confirm(_ batch: PendingBatch, _ indices: [Int], contested: Bool) throws {
        try mark(batch, indices, .confirmed)
        guard contested else { return }
        try write { $0.sharing.toCompare.append(contentsOf: indices.map { batch.samples[$0] }) }
    }

    func quarantine(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws {
        try mark(batch, indices, .quarantined(code))
    }

    func hold(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws {
        try mark(batch, indices, .held)
    }

    func releaseHeld() throws {
        try write { contents in
            for (key, row) in contents.rows where row.state == .held { contents.rows[key]?.state = .pending }
        }
    }

    func unsentGaps(of device: DeviceID, behind place: GapPlace?, limit: Int) throws -> [UnsentRow] {
        try read { contents in
            let gaps = (contents.gaps[device] ?? []).sorted { $0.firstSeq > $1.firstSeq }
            let firsts = Set(gaps.map(\.firstSeq))
            let rows = gaps.filter { gap in place.map { gap.firstSeq < $0.firstSeq } ?? true }
            return rows.prefix(limit).map { gap in
                UnsentRow(gap: gap, isFollowed: gap.lastSeq.map { firsts.contains($0 + 1) } ?? false)
            }
        }
    }

    func markSent(_ gaps: [Gap], of device: DeviceID) throws {
        try write { contents in
            contents.gaps[device]?.removeAll { gaps.contains($0) }
            contents.sentGaps[device, default: []] += gaps
        }
    }

    func lacking(_ device: DeviceID, there: Int) throws -> Int {
        try read { contents in
            let confirmed = contents.rows.count { $0.key.device == device && $0.value.state == .confirmed }
            return max(0, confirmed + contents.pruned - there - contents.letBe)
        }
    }

    func letBe(_ count: Int, of device: DeviceID) throws { try write { $0.letBe = max(0, $0.letBe + count) } }

    func hasSentGaps(of device: DeviceID) throws -> Bool {
        try read { $0.sentGaps[device]?.isEmpty == false }
    }

    func sendGapsAgain(of device: DeviceID, besides theirs: [GapPlace: UInt32?]) throws -> Int {
        let lost = try read { contents in
            let own = contents.sentGaps[device] ?? []
            let named = (own + (contents.gaps[device] ?? [])).map { $0.firstSeq...($0.lastSeq ?? .max) }
            return own.filter { gap in
                guard let end = theirs[GapPlace(ring: gap.ring, firstSeq: gap.firstSeq)] else { return true }
                guard let last = gap.lastSeq, let end, last < end else { return false }
                return (last + 1...end).allSatisfy { seq in
                    contents.rows[Key(device: device, seq: seq)] != nil || named.contains { $0.contains(seq) }
                }
            }
        }
        try write { contents in
            contents.sentGaps[device]?.removeAll { lost.contains($0) }
            contents.gaps[device, default: []] += lost
        }
        return lost.count
    }

    func learnCauses(_ gaps: [Gap], of device: DeviceID) throws -> Int {
        let mine = try read { $0.gaps[device] ?? [] }
        let learnt = mine.map { own in
            gaps.first { $0.firstSeq == own.firstSeq && own.cause == .freedElsewhere } ?? own
        }
        try write { $0.gaps[device] = learnt }
        return zip(mine, learnt).count { $0 != $1 }
    }

    func report(of device: DeviceID) throws -> DeviceReport? { try read { $0.reports[device] } }

    func pendingCount() throws -> Int { try read { $0.rows.values.count { $0.state == .pending } } }

    // MARK: helpers

    private func mark(_ batch: PendingBatch, _ indices: [Int], _ state: State) throws {
        try write { contents in
            for index in indices {
                let sent = batch.samples[index]
                let key = Key(device: sent.device, seq: sent.seq)
                // A row that was corrected while its batch was under way stays to be sent.
                guard contents.rows[key]?.sample == sent else { continue }
                contents.rows[key]?.state = state
            }
        }
    }

    func read<Value: Sendable>(_ body: (Contents) -> Value) throws -> Value {
        let contents = contents.value
        if contents.failsToRead { throw Failure() }
        return body(contents)
    }

    func write(_ body: (inout Contents) -> Void) throws {
        let failed = contents.change { contents in
            if contents.failsToWrite { return true }
            body(&contents)
            return false
        }
        if failed { throw Failure() }
    }
}
