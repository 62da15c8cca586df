import BandProfile
import GatewayModel
import SQLite

/// Bytes that could not be decoded, kept once.
struct RawTable {
    let database: Database

    /// True when they were not kept before.
    func keep(_ raw: RawNotification, clockID: UInt16?, ring: Int64, now: Timestamp) throws(SQLiteError)
        -> Bool
    {
        try database.run(
            """
            INSERT INTO raw (ring, seq, clock_id, reason, bytes, noted_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, .integer(ring), .int(raw.seq), .optional(clockID), .text(raw.reason), .blob(raw.bytes),
            .integer(now.milliseconds))
        return database.changes == 1
    }
}
