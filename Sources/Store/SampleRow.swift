import BandProfile
import GatewayModel
import SQLite

/// Reads samples, of `samples` or of `conflicts`, as they are exported and uploaded.
struct SampleRow {
    /// Of a row named `s`, with its wearer as `p`.
    static let columns = """
        s.key, s.value, s.recorded_at, s.band_time, s.tz_offset, s.clock_id, s.flags, s.version, s.provenance,
        s.time_uncertain, s.time_bound, s.offset_source, s.person, p.person
        """
    static let join = "LEFT JOIN persons p ON p.id = s.person"
    static let columnCount: Int32 = 14

    let device: DeviceID
    let ring: RingID

    /// Nil for a type that this program does not know; such rows are not written by it.
    func sample(_ row: Statement) -> Sample? {
        let key = SampleKey(packed: row.int64(0))
        guard let type = SampleType(rawValue: key.type) else { return nil }
        return Sample(
            device: device, ring: ring, type: type, seq: key.seq, value: row.int(1),
            recordedAt: Timestamp(milliseconds: row.int64(2)),
            // Quarter hours in the database, minutes outside.
            offsetMinutes: row.optionalInt(4).map { $0 * 15 }, version: row.int(7),
            provenance: Provenance(rawValue: UInt8(truncatingIfNeeded: row.int64(8))) ?? .unknown,
            bandTimeMilliseconds: row.int64(3), clockID: UInt16(truncatingIfNeeded: row.int64(5)),
            flags: UInt8(truncatingIfNeeded: row.int64(6)), timeUncertain: row.bool(9),
            timeBoundMilliseconds: row.optionalInt(10),
            offsetSource: row.optionalInt(11).flatMap {
                OffsetSource(rawValue: UInt8(truncatingIfNeeded: $0))
            },
            wearer: Self.wearer(row))
    }

    private static func wearer(_ row: Statement) -> Wearer {
        guard row.optionalInt64(12) != nil else { return .unsaid }
        return row.optionalText(13).flatMap { PersonID($0) }.map(Wearer.person) ?? .nobody
    }
}
