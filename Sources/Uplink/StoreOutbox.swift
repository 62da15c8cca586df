import BandProfile
import GatewayModel
import IngestAPI

final class StoreOutbox: UploadOutbox {
    init(directory: String) throws {}
    func devices() throws -> [DeviceID] { [] }
    func nextBatch(limit: Int, skipping: Set<DeviceID>) throws -> PendingBatch? { nil }
    func confirm(_ batch: PendingBatch, _ indices: [Int]) throws {}
    func quarantine(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws {}
    func hold(_ batch: PendingBatch, _ indices: [Int], code: String, message: String) throws {}
    func releaseHeld() throws {}
    func unsentGaps(of device: DeviceID, limit: Int) throws -> [Gap] { [] }
    func markSent(_ gaps: [Gap], of device: DeviceID) throws {}
    func report(of device: DeviceID) throws -> DeviceReport? { nil }
    func highestSeq(of device: DeviceID, ring: RingID) throws -> UInt32? { nil }
    func pendingCount() throws -> Int { 0 }
}
