/// One History Data notification. Band History Profile 1, "History Data".
public enum HistoryNotification: Equatable, Sendable {
    /// 1 to 15 records, consecutive in seq, timed by the clock `clockID`.
    case samples(clockID: UInt16, records: [HistoryRecord])
    case end(StreamEnd)

    private enum Kind {
        static let samples: UInt8 = 0
        static let end: UInt8 = 1
    }

    /// Throws for every framing fault: version, kind, length, order or jumps inside the notification.
    public init(decoding bytes: [UInt8]) throws(DecodingFailure) {
        var reader = LittleEndianReader(bytes)
        guard try reader.read(UInt8.self) == BandHistory.profileVersion else {
            throw .invalid(field: "version", at: 0)
        }
        let kind = try reader.read(UInt8.self)
        let clockID = try reader.read(UInt16.self)
        switch kind {
        case Kind.samples:
            self = .samples(clockID: clockID, records: try Self.records(of: bytes))
        case Kind.end:
            let lastSeq = try reader.read(UInt32.self)
            let oldestSeq = try reader.read(UInt32.self)
            let status = try reader.read(UInt8.self)
            guard let status = StreamEnd.Status(rawValue: status) else {
                throw .invalid(field: "status", at: 12)
            }
            try reader.end()
            self = .end(StreamEnd(lastSeq: lastSeq, oldestSeq: oldestSeq, status: status, clockID: clockID))
        default:
            throw .invalid(field: "kind", at: 1)
        }
    }

    private static func records(of bytes: [UInt8]) throws(DecodingFailure) -> [HistoryRecord] {
        let size = bytes.count - BandHistory.headerSize
        let (count, remainder) = size.quotientAndRemainder(dividingBy: BandHistory.recordSize)
        guard count >= 1 else { throw .truncated(at: bytes.count) }
        guard count <= BandHistory.recordsPerNotification else {
            throw .trailing(
                at: BandHistory.headerSize + BandHistory.recordsPerNotification * BandHistory.recordSize)
        }
        guard remainder == 0 else { throw .truncated(at: bytes.count) }
        let records = bytes.withUnsafeBytes { raw in
            (0..<count).map {
                HistoryRecord(unchecked: raw, at: BandHistory.headerSize + $0 * BandHistory.recordSize)
            }
        }
        // Seq 0 does not exist, and a run may not wrap around.
        guard records[0].seq >= 1, records[0].seq <= UInt32.max - UInt32(count) else {
            throw .invalid(field: "seq", at: BandHistory.headerSize)
        }
        for index in 1..<max(1, count) where records[index].seq != records[index - 1].seq + 1 {
            throw .invalid(field: "seq", at: BandHistory.headerSize + index * BandHistory.recordSize)
        }
        return records
    }

    public var encoded: [UInt8] {
        var bytes: [UInt8] = [BandHistory.profileVersion]
        switch self {
        case .samples(let clockID, let records):
            bytes.reserveCapacity(BandHistory.headerSize + records.count * BandHistory.recordSize)
            bytes.append(Kind.samples)
            bytes.appendLittleEndian(clockID)
            for record in records { record.append(to: &bytes) }
        case .end(let end):
            bytes.append(Kind.end)
            bytes.appendLittleEndian(end.clockID)
            bytes.appendLittleEndian(end.lastSeq)
            bytes.appendLittleEndian(end.oldestSeq)
            bytes.append(end.status.rawValue)
        }
        return bytes
    }
}

/// The notification that closes a stream.
public struct StreamEnd: Equatable, Sendable {
    public enum Status: UInt8, Sendable {
        case complete = 0
        case aborted = 1
        case internalError = 2
    }

    /// The newest record that the stream covered.
    public var lastSeq: UInt32
    public var oldestSeq: UInt32
    public var status: Status
    /// The header's `clock_id`.
    public var clockID: UInt16

    public init(lastSeq: UInt32, oldestSeq: UInt32, status: Status, clockID: UInt16 = 0) {
        self.clockID = clockID
        self.lastSeq = lastSeq
        self.oldestSeq = oldestSeq
        self.status = status
    }
}
