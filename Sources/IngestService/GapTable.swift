import IngestAPI
import SQLite
import Trends

/// The gap ledger. Key in a device: (ring, first_seq).
struct GapTable {
    let database: Database

    private static let columns = "ring, first_seq, last_seq, after_ms, before_ms, cause, healed_ms"

    /// The last put counts, but a gap that is healed stays healed: another gateway may not know yet.
    func put(_ gap: APIGap, device: Int64, now: APITime) throws {
        let ring = RingCode.number(gap.ring)
        try database.run(
            "INSERT INTO rings (device_id, ring, first_seen_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            .integer(device), .integer(ring), .integer(now.milliseconds))
        try database.run(
            """
            INSERT INTO gaps (device_id, \(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET last_seq = excluded.last_seq, after_ms = excluded.after_ms,
                before_ms = excluded.before_ms, cause = excluded.cause,
                healed_ms = coalesce(excluded.healed_ms, healed_ms)
            """, .integer(device), .integer(ring), .int(gap.firstSeq), .optional(gap.lastSeq),
            .optional(gap.after?.milliseconds), .optional(gap.before?.milliseconds),
            .text(gap.cause.rawValue),
            .optional(gap.healedAt?.milliseconds))
    }

    func all(device: Int64) throws -> [APIGap] {
        let sql = "SELECT \(Self.columns) FROM gaps WHERE device_id = ? ORDER BY ring, first_seq"
        return try database.all(sql, .integer(device), row: Self.gap).compactMap { $0 }
    }

    /// What ends stages of sleep.
    func intervals(device: Int64) throws -> [TrendGap] { try all(device: device).compactMap(TrendGap.init) }

    func gap(ring: String, firstSeq: UInt32, device: Int64) throws -> APIGap? {
        let sql = "SELECT \(Self.columns) FROM gaps WHERE device_id = ? AND ring = ? AND first_seq = ?"
        return try database.first(
            sql, .integer(device), .integer(RingCode.number(ring)), .int(firstSeq), row: Self.gap) ?? nil
    }

    private static func gap(_ row: Statement) -> APIGap? {
        guard let cause = APIGapCause(rawValue: row.text(5)) else { return nil }
        func time(_ column: Int32) -> APITime? { row.optionalInt64(column).map(APITime.init(milliseconds:)) }
        return APIGap(
            ring: RingCode.text(row.int64(0)), firstSeq: UInt32(clamping: row.int64(1)),
            lastSeq: row.optionalInt64(2).map { UInt32(clamping: $0) }, after: time(3), before: time(4),
            cause: cause, healedAt: time(6))
    }
}
