import BandProfile
import GatewayModel
import SQLite

/// Reads gap rows, with the device that they are of.
struct GapQuery {
    let database: Database

    func all(device: DeviceID?) throws -> [(device: DeviceID, gap: Gap)] {
        let filter = device == nil ? "?1 IS NULL" : "device = ?1"
        return try database.all(
            """
            SELECT \(GapRow.columns), rings.ring, device FROM gaps
                JOIN rings ON rings.id = gaps.ring JOIN bands ON bands.id = rings.band
            WHERE \(filter) ORDER BY bands.id, rings.id, first_seq
            """, .optional(device?.text)
        ) { row in
            DeviceID(row.text(8)).map { ($0, Self.gap(row)) }
        }.compactMap { $0 }
    }

    func unsent(device: DeviceID, limit: Int) throws -> [Gap] {
        try database.all(
            """
            SELECT \(GapRow.columns), rings.ring FROM gaps JOIN rings ON rings.id = gaps.ring
            WHERE sent = 0 AND rings.band = (SELECT id FROM bands WHERE device = ?)
            ORDER BY rings.id, first_seq LIMIT ?
            """, .text(device.text), .int(limit), row: Self.gap)
    }

    /// Only the row as it was sent: a later change has to go, too.
    func markSent(_ gap: Gap, device: DeviceID) throws(SQLiteError) {
        try database.run(
            """
            UPDATE gaps SET sent = 1
            WHERE ring = (SELECT rings.id FROM rings JOIN bands ON bands.id = rings.band
                    WHERE device = ? AND rings.ring = ?)
                AND first_seq = ? AND last_seq IS ? AND after IS ? AND before IS ? AND healed_at IS ? AND cause = ?
            """, .text(device.text), .int(gap.ring.rawValue), .int(gap.firstSeq), .optional(gap.lastSeq),
            .optional(gap.after?.milliseconds), .optional(gap.before?.milliseconds),
            .optional(gap.healedAt?.milliseconds), .text(gap.cause.rawValue))
    }

    private static func gap(_ row: Statement) -> Gap {
        GapRow(row).gap(in: RingID(rawValue: UInt32(truncatingIfNeeded: row.int64(7))))
    }
}
