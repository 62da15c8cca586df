import BandProfile
import GatewayModel
import SQLite

/// Reads samples, of `samples` or of `conflicts`, as they are exported and uploaded.
struct SampleRow {
    /// Of a row named `s`, with the reading that timed it as `r`.
    static let columns = """
        s.key, s.value, s.recorded_at, s.band_time, s.tz_offset, s.clock_id, s.flags, s.version, s.provenance,
        s.time_uncertain, r.bound
        """
    static let join = "LEFT JOIN clock_readings r ON r.id = s.clock_reading"
    static let columnCount: Int32 = 11

    let device: DeviceID
    let ring: RingID

    /// Nil for a type that this program does not know; such rows are not written by it.
    func sample(_ row: Statement) -> Sample? {
        let key = SampleKey(packed: row.int64(0))
        guard let type = SampleType(rawValue: key.type) else { return nil }
        let isUncertain = row.bool(9)
        return Sample(
            device: device, ring: ring, type: type, seq: key.seq, value: row.int(1),
            recordedAt: Timestamp(milliseconds: row.int64(2)),
            // Quarter hours in the database, minutes outside.
            offsetMinutes: row.optionalInt(4).map { $0 * 15 }, version: row.int(7),
            provenance: Provenance(rawValue: UInt8(truncatingIfNeeded: row.int64(8))) ?? .unknown,
            bandTimeMilliseconds: row.int64(3), clockID: UInt16(truncatingIfNeeded: row.int64(5)),
            flags: UInt8(truncatingIfNeeded: row.int64(6)), timeUncertain: isUncertain,
            timeBoundMilliseconds: isUncertain ? nil : row.optionalInt(10))
    }
}
