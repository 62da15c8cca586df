import BandProfile
import GatewayModel
import SQLite

/// The rings of all bands and how far each was read.
struct RingTable {
    struct Row: Equatable {
        var id: Int64
        var band: Int64
        var ring: RingID
        /// Up to 2^32, one above the highest seq.
        var nextSeq: Int64
        /// As last read from Info; nil = never.
        var newestSeq: UInt32?
        var rolledBack: Bool
        var afterLoss: Bool
        /// The lowest open question.
        var firstQuestion: UInt32?
        /// Where the highest gap ends, healed or not; `UInt32.max` for an open end.
        var lastGapEnd: UInt32?
        /// The highest seq that was let go for its age.
        var lastPruned: UInt32?

        /// What `nextSeq` is in a message of the band.
        var nextSeqOnWire: UInt32 { UInt32(clamping: nextSeq) }
    }

    private let database: Database
    private let select: Statement
    private let advance: Statement

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        select = try database.prepare("SELECT \(Self.columns) FROM rings WHERE band = ? AND ring = ?")
        advance = try database.prepare(
            "UPDATE rings SET next_seq = max(next_seq, ?2), stored = stored + ?3, last_seen = ?4 WHERE id = ?1"
        )
    }

    func find(band: Int64, _ ring: RingID) throws(SQLiteError) -> Row? {
        defer { select.reset() }
        try select.bind(1, band)
        try select.bind(2, Int64(ring.rawValue))
        return try select.step() ? Self.row(select) : nil
    }

    func all(band: Int64) throws -> [Row] {
        try database.all(
            "SELECT \(Self.columns) FROM rings WHERE band = ? ORDER BY last_seen, id", .integer(band),
            row: Self.row)
    }

    /// A ring that is first heard of after the database had been lost may lack what the lost one held; that
    /// is true of a band's rings until one of them has samples again.
    func insert(band: Int64, _ ring: RingID, now: Timestamp) throws -> Row {
        let storageLost = try MetaTable(database: database).read(.storageLostAt) != nil
        let hasSamples =
            try database.first("SELECT 1 FROM rings WHERE band = ? AND stored > 0", .integer(band)) { _ in
                true
            }
            ?? false
        try database.run(
            """
            INSERT INTO rings (band, ring, next_seq, first_seen, last_seen, after_loss)
            VALUES (?1, ?2, 1, ?3, ?3, ?4)
            """, .integer(band), .int(ring.rawValue), .integer(now.milliseconds),
            .int(storageLost && !hasSamples ? 1 : 0))
        return Row(
            id: database.lastInsertedRowID, band: band, ring: ring, nextSeq: 1, newestSeq: nil,
            rolledBack: false,
            afterLoss: storageLost && !hasSamples)
    }

    func findOrInsert(band: Int64, _ ring: RingID, now: Timestamp) throws -> Row {
        try find(band: band, ring) ?? insert(band: band, ring, now: now)
    }

    /// Keeps what Info said.
    func note(_ info: RingInfo, ring: Int64, now: Timestamp) throws(SQLiteError) {
        try database.run(
            """
            UPDATE rings SET format_count = ?2, window = ?3, capacity = ?4, oldest_seq = ?5, newest_seq = ?6,
                last_seen = ?7 WHERE id = ?1
            """, .integer(ring), .int(info.formatCount), .int(info.window), .int(info.capacity),
            .int(info.oldestSeq), .int(info.newestSeq), .integer(now.milliseconds))
    }

    /// Raises `next_seq`, never lowers it, and counts what was stored.
    func advance(ring: Int64, toAtLeast nextSeq: Int64, stored: Int, now: Timestamp) throws(SQLiteError) {
        try advance.bind(1, ring)
        try advance.bind(2, nextSeq)
        try advance.bind(3, stored)
        try advance.bind(4, now.milliseconds)
        try advance.run()
    }

    /// From here on the numbers of this ring prove nothing: everything from `nextSeq` is read and compared.
    func rollBack(ring: Int64, to nextSeq: UInt32, now: Timestamp) throws(SQLiteError) {
        try database.run(
            """
            UPDATE rings SET next_seq = ?2, rolled_back_at = ?3,
                confirmed_through = min(confirmed_through, max(0, ?2 - 1)) WHERE id = ?1
            """, .integer(ring), .int(nextSeq), .integer(now.milliseconds))
    }

    /// One statement for all that a commit asks first.
    private static let columns = """
        id, band, ring, next_seq, rolled_back_at IS NOT NULL, after_loss,
        (SELECT min(q.first_seq) FROM open_questions q WHERE q.ring = rings.id),
        (SELECT coalesce(g.last_seq, 4294967295) FROM gaps g WHERE g.ring = rings.id
            ORDER BY g.first_seq DESC LIMIT 1),
        newest_seq,
        (SELECT p.last_seq FROM pruned p WHERE p.ring = rings.id ORDER BY p.first_seq DESC LIMIT 1)
        """

    private static func row(_ row: Statement) -> Row {
        func seq(_ column: Int32) -> UInt32? {
            row.optionalInt64(column).map { UInt32(truncatingIfNeeded: $0) }
        }
        return Row(
            id: row.int64(0), band: row.int64(1),
            ring: RingID(rawValue: UInt32(truncatingIfNeeded: row.int64(2))),
            nextSeq: row.int64(3), newestSeq: seq(8), rolledBack: row.bool(4), afterLoss: row.bool(5),
            firstQuestion: seq(6), lastGapEnd: seq(7), lastPruned: seq(9))
    }
}
