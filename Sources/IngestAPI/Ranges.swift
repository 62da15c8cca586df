/// What is stored of one ring, type and UTC day: for reconciliation.
public struct DayRange: Codable, Equatable, Sendable {
    public var ring: String
    public var type: APISampleType
    /// `2026-10-27`, UTC.
    public var day: String
    public var count: Int
    public var minSeq: UInt32
    public var maxSeq: UInt32

    public init(ring: String, type: APISampleType, day: String, count: Int, minSeq: UInt32, maxSeq: UInt32) {
        self.ring = ring
        self.type = type
        self.day = day
        self.count = count
        self.minSeq = minSeq
        self.maxSeq = maxSeq
    }

    enum CodingKeys: String, CodingKey {
        case ring, type, day, count
        case minSeq = "min_seq"
        case maxSeq = "max_seq"
    }

    /// It counts one sample a seq at most. What is summed of others' numbers never overflows by that.
    public var isPossible: Bool { minSeq <= maxSeq && (0...Int(maxSeq - minSeq) + 1).contains(count) }
}

/// The answer to `GET /v1/devices/{device_id}/ranges?by=day`.
public struct RangeList: Codable, Equatable, Sendable {
    public var ranges: [DayRange]
    public init(ranges: [DayRange]) { self.ranges = ranges }
}
