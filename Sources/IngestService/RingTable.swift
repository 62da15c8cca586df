import IngestAPI
import SQLite

/// Reads what is known of rings: `rings` and `ring_types`.
struct RingTable {
    let database: Database

    /// Per type, the highest seq of the ring that is stored.
    func ackSeq(device: Int64, ring: Int64) throws -> [String: UInt32] {
        var highest: [String: UInt32] = [:]
        try database.query(
            "SELECT type, max_seq FROM ring_types WHERE device_id = ? AND ring = ?", .integer(device),
            .integer(ring)
        ) { row in
            if let type = APISampleType(code: row.int(0)) {
                highest[type.rawValue] = UInt32(clamping: row.int64(1))
            }
        }
        return highest
    }

    func states(device: Int64) throws -> [RingState] {
        let rings = try database.all(
            """
            SELECT ring, complete_through, first_seen_ms FROM rings
            WHERE device_id = ? ORDER BY first_seen_ms, ring
            """, .integer(device)
        ) { ($0.int64(0), $0.optionalInt64(1), $0.int64(2)) }
        return try rings.map { ring, completeThrough, firstSeen in
            RingState(
                ring: RingCode.text(ring), completeThrough: completeThrough.map { UInt32(clamping: $0) },
                ackSeq: try ackSeq(device: device, ring: ring), firstSeen: APITime(milliseconds: firstSeen))
        }
    }

    /// Keys ever stored of each type.
    func counts(device: Int64) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        try database.query(
            "SELECT type, sum(keys) FROM ring_types WHERE device_id = ? GROUP BY type", .integer(device)
        ) { row in
            if let type = APISampleType(code: row.int(0)) { counts[type.rawValue] = row.int(1) }
        }
        return counts
    }
}
