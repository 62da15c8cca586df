import IngestAPI
import SampleChunks

/// What is known of one ring of a device.
struct RingLedger: Equatable, Sendable {
    struct Keys: Equatable, Sendable {
        var highest: UInt32
        /// Ever stored, whatever expires later.
        var count: Int
    }

    let ring: Int64
    var completeThrough: UInt32?
    let firstSeen: APITime
    private(set) var keys: [APISampleType: Keys] = [:]

    init(ring: Int64, firstSeen: APITime) {
        self.ring = ring
        self.firstSeen = firstSeen
    }

    init(_ row: SQLRow) throws(StorageFailure) {
        ring = try row.int64(0)
        completeThrough = row.isNull(1) ? nil : try row.seq(1)
        firstSeen = APITime(milliseconds: try row.int64(2))
        var reader = NumberReader(try row.text(3))
        while !reader.isAtEnd {
            guard let code = reader.int(), let highest = reader.int(), let count = reader.int(),
                let type = APISampleType(code: code), let highest = UInt32(exactly: highest)
            else { throw StorageFailure(.damaged, "the types of a ring can't be read") }
            keys[type] = Keys(highest: highest, count: count)
        }
    }

    mutating func add(_ type: APISampleType, _ seq: UInt32) {
        let known = keys[type] ?? Keys(highest: 0, count: 0)
        keys[type] = Keys(highest: max(known.highest, seq), count: known.count + 1)
    }

    /// Per type, the highest seq that is stored.
    var ackSeq: [String: UInt32] {
        Dictionary(uniqueKeysWithValues: keys.map { ($0.key.rawValue, $0.value.highest) })
    }

    var state: RingState {
        RingState(
            ring: RingCode.text(ring), completeThrough: completeThrough, ackSeq: ackSeq, firstSeen: firstSeen)
    }

    func put(_ device: DeviceKey) -> SQLCall {
        let text = keys.sorted { $0.key.code < $1.key.code }.map {
            "\($0.key.code) \($0.value.highest) \($0.value.count)"
        }
        return SQLCall(
            DeviceStatement.putRing, device.value, .int(ring), .optional(completeThrough),
            .int(firstSeen.milliseconds), .text(text.joined(separator: " ")))
    }
}
