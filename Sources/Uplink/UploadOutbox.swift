import BandProfile
import GatewayModel
import IngestAPI
import Store

/// What the uploader needs of the store: a set of unconfirmed rows, not a position.
///
/// Used on the upload thread alone. Every call may throw a `StoreError`; nothing is lost then, and all of it may be
/// called again.
protocol UploadOutbox: SharingOutbox, PersonOutbox, CommandOutbox {
    /// Every device that ever stored something, forgotten ones included.
    func devices() throws -> [DeviceID]
    /// Unconfirmed rows of one device and ring in the order in which they go; nil when nothing waits.
    func nextBatch(limit: Int, skipping: Set<DeviceID>) throws -> PendingBatch?
    /// What may be claimed as complete when these rows of a batch are confirmed; nil = nothing.
    func completeThrough(of batch: PendingBatch, _ range: Range<Int>) throws -> UInt32?
    /// Marks rows done, unless they changed since the batch was read. `contested`: the server knew some of them already,
    /// so that they are to be compared.
    func confirm(_ batch: PendingBatch, _ indices: [Int], contested: Bool) throws
    /// Sets rows aside for good; they stay in the database.
    func quarantine(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws
    /// Keeps rows back until `releaseHeld`.
    func hold(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws
    func releaseHeld() throws
    /// Gaps that are new or changed since they were sent, by ring and falling seq, those behind `place` only.
    func unsentGaps(of device: DeviceID, behind place: GapPlace?, limit: Int) throws -> [UnsentRow]
    func markSent(_ gaps: [Gap], of device: DeviceID) throws
    /// See `Outbox.lacking`.
    func lacking(_ device: DeviceID, there: Int) throws -> Int
    /// See `Outbox.letBe`.
    func letBe(_ count: Int, of device: DeviceID) throws
    func hasSentGaps(of device: DeviceID) throws -> Bool
    /// What the server has; see `Outbox.sendGapsAgain`.
    func sendGapsAgain(of device: DeviceID, besides theirs: [GapPlace: UInt32?]) throws -> Int
    /// What the server has; see `Outbox.learnCauses`.
    func learnCauses(_ gaps: [Gap], of device: DeviceID) throws -> Int
    /// Nil for a device that was never in contact.
    func report(of device: DeviceID) throws -> DeviceReport?
    func pendingCount() throws -> Int
}

/// A batch as the outbox has it now.
struct PendingBatch: Sendable {
    var device: DeviceID
    var ring: RingID
    var samples: [Sample]
    /// Every record of the ring up to here is in this batch, confirmed, or in a gap that the server has.
    var completeThrough: UInt32?
    /// What the store knows it by.
    var stored: OutboxBatch?
}
