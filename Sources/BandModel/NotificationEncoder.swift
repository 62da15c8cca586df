import BandProfile

/// Writes notifications straight into a reused buffer: a streaming band costs little more than its sends.
enum NotificationEncoder {
    /// Starts a SAMPLES notification.
    static func begin(_ buffer: inout [UInt8], clockID: UInt16) {
        buffer.removeAll(keepingCapacity: true)
        buffer.append(BandHistory.profileVersion)
        buffer.append(0)
        append(&buffer, clockID)
    }

    static func append(_ buffer: inout [UInt8], record: HistoryRecord) {
        withUnsafeTemporaryAllocation(byteCount: BandHistory.recordSize, alignment: 8) { raw in
            raw.storeBytes(of: record.seq.littleEndian, toByteOffset: 0, as: UInt32.self)
            raw.storeBytes(of: record.seconds.littleEndian, toByteOffset: 4, as: UInt32.self)
            raw.storeBytes(of: record.milliseconds.littleEndian, toByteOffset: 8, as: UInt16.self)
            raw.storeBytes(of: record.offsetQuarterHours, toByteOffset: 10, as: Int8.self)
            raw.storeBytes(of: record.type, toByteOffset: 11, as: UInt8.self)
            raw.storeBytes(of: record.value.littleEndian, toByteOffset: 12, as: Int16.self)
            raw.storeBytes(of: record.flags, toByteOffset: 14, as: UInt8.self)
            raw.storeBytes(of: record.reserved, toByteOffset: 15, as: UInt8.self)
            buffer.append(contentsOf: raw)
        }
    }

    private static func append(_ buffer: inout [UInt8], _ value: UInt16) {
        buffer.append(UInt8(truncatingIfNeeded: value))
        buffer.append(UInt8(truncatingIfNeeded: value >> 8))
    }
}
