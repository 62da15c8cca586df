/// The Info characteristic: what a band's ring holds now. 24 bytes. Band History Profile 1, "Info".
public struct RingInfo: Equatable, Sendable {
    public var liveHeartRate: Bool
    public var firmwareUpdate: Bool
    public var clockID: UInt16
    /// Orders the rings of one band, nothing else.
    public var formatCount: UInt16
    /// Most History Data notifications of one stream outstanding without an ack; 0 = no limit.
    public var window: UInt16
    public var ring: RingID
    public var oldestSeq: UInt32
    public var newestSeq: UInt32
    /// In records.
    public var capacity: UInt32

    public static let size = 24

    public init(
        liveHeartRate: Bool = false, firmwareUpdate: Bool = false, clockID: UInt16, formatCount: UInt16,
        window: UInt16, ring: RingID, oldestSeq: UInt32, newestSeq: UInt32, capacity: UInt32
    ) {
        self.liveHeartRate = liveHeartRate
        self.firmwareUpdate = firmwareUpdate
        self.clockID = clockID
        self.formatCount = formatCount
        self.window = window
        self.ring = ring
        self.oldestSeq = oldestSeq
        self.newestSeq = newestSeq
        self.capacity = capacity
    }

    /// No record is stored.
    public var isEmpty: Bool { UInt64(oldestSeq) == UInt64(newestSeq) + 1 }

    public init(decoding bytes: [UInt8]) throws(DecodingFailure) {
        var reader = LittleEndianReader(bytes)
        guard try reader.read(UInt8.self) == BandHistory.profileVersion else {
            throw .invalid(field: "profile version", at: 0)
        }
        let flags = try reader.read(UInt8.self)
        liveHeartRate = flags & 1 != 0
        firmwareUpdate = flags & 2 != 0
        clockID = try reader.read(UInt16.self)
        formatCount = try reader.read(UInt16.self)
        window = try reader.read(UInt16.self)
        ring = RingID(rawValue: try reader.read(UInt32.self))
        guard ring.rawValue != 0 else { throw .invalid(field: "ring_id", at: 8) }
        oldestSeq = try reader.read(UInt32.self)
        guard oldestSeq >= 1 else { throw .invalid(field: "oldest_seq", at: 12) }
        newestSeq = try reader.read(UInt32.self)
        // An empty ring has oldest = newest + 1; nothing can lie further apart the wrong way round.
        guard UInt64(oldestSeq) <= UInt64(newestSeq) + 1 else {
            throw .invalid(field: "newest_seq", at: 16)
        }
        capacity = try reader.read(UInt32.self)
        try reader.end()
    }

    public var encoded: [UInt8] {
        var bytes: [UInt8] = [
            BandHistory.profileVersion, (liveHeartRate ? 1 : 0) | (firmwareUpdate ? 2 : 0),
        ]
        bytes.appendLittleEndian(clockID)
        bytes.appendLittleEndian(formatCount)
        bytes.appendLittleEndian(window)
        bytes.appendLittleEndian(ring.rawValue)
        bytes.appendLittleEndian(oldestSeq)
        bytes.appendLittleEndian(newestSeq)
        bytes.appendLittleEndian(capacity)
        return bytes
    }
}
