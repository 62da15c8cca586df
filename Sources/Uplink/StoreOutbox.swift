import BandProfile
import GatewayModel
import IngestAPI
import Store

/// The store's outbox as the uploader uses it.
final class StoreOutbox: UploadOutbox {
    let outbox: Outbox

    convenience init(directory: String, now: @escaping () -> Timestamp) throws(StoreError) {
        self.init(try Outbox(directory: directory, now: now))
    }

    init(_ outbox: Outbox) { self.outbox = outbox }

    func devices() throws -> [DeviceID] { try outbox.devices() }

    func nextBatch(limit: Int, skipping: Set<DeviceID>) throws -> PendingBatch? {
        try outbox.nextBatch(limit: limit, skipping: skipping).map { batch in
            PendingBatch(
                device: batch.device, ring: batch.ring, samples: batch.items.map(\.sample),
                completeThrough: batch.completeThrough, stored: batch)
        }
    }

    func completeThrough(of batch: PendingBatch, _ range: Range<Int>) throws -> UInt32? {
        try items(of: batch, Array(range)) { try outbox.completeThrough(of: $0, confirming: $1) } ?? nil
    }

    func confirm(_ batch: PendingBatch, _ indices: [Int], contested: Bool) throws {
        try items(of: batch, indices) { try outbox.confirm($1, of: $0, contested: contested) }
    }

    func quarantine(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws {
        try items(of: batch, indices) { try outbox.quarantine($1, of: $0, code: code, message: message) }
    }

    func hold(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws {
        try items(of: batch, indices) {
            try outbox.quarantine($1, of: $0, code: code, message: message, held: true)
        }
    }

    func releaseHeld() throws {
        for device in try outbox.devices() { try outbox.releaseHeld(device) }
    }

    func unsentGaps(of device: DeviceID, behind place: GapPlace?, limit: Int) throws -> [UnsentRow] {
        try outbox.unsentGaps(device, behind: place, limit: limit)
    }

    func markSent(_ gaps: [Gap], of device: DeviceID) throws { try outbox.markGapsSent(gaps, of: device) }

    func lacking(_ device: DeviceID, there: Int) throws -> Int { try outbox.lacking(device, there: there) }

    func letBe(_ count: Int, of device: DeviceID) throws { try outbox.letBe(count, of: device) }

    func hasSentGaps(of device: DeviceID) throws -> Bool { try outbox.hasSentGaps(device) }

    func sendGapsAgain(of device: DeviceID, besides theirs: [GapPlace: UInt32?]) throws -> Int {
        try outbox.sendGapsAgain(device, besides: theirs)
    }

    func learnCauses(_ gaps: [Gap], of device: DeviceID) throws -> Int {
        try outbox.learnCauses(gaps, of: device)
    }

    func report(of device: DeviceID) throws -> DeviceReport? {
        try outbox.deviceStatus(device).flatMap { status in
            // A band that was only named in the configuration has nothing to report.
            guard status.lastContact != nil || status.stored > 0 else { return nil }
            return DeviceReport(
                lastContact: status.lastContact.map { APITime($0) }, batteryPercent: status.battery,
                firmware: status.firmware, newestSeq: status.newestSeq,
                newestRecordedAt: status.newestRecordedAt.map { APITime($0) }, unsent: status.pending)
        }
    }

    func pendingCount() throws -> Int { try outbox.pendingCount() }

    /// Every batch of this outbox carries the store's own; the indices are the same.
    @discardableResult
    private func items<Result>(
        of batch: PendingBatch, _ indices: [Int], _ body: (OutboxBatch, [OutboxItem]) throws -> Result
    ) rethrows -> Result? {
        guard let stored = batch.stored else { return nil }
        return try body(stored, indices.filter(stored.items.indices.contains).map { stored.items[$0] })
    }
}
