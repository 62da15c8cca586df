import BandProfile
import GatewayModel
import SQLite

/// Where a gap is among those of a device.
public struct GapPlace: Hashable, Sendable {
    public var ring: RingID
    public var firstSeq: UInt32

    public init(ring: RingID, firstSeq: UInt32) {
        self.ring = ring
        self.firstSeq = firstSeq
    }
}

/// A gap that the server does not have as it is now.
public struct UnsentRow: Equatable, Sendable {
    public var gap: Gap
    /// The row that begins right behind its end is one, too.
    public var isFollowed: Bool

    public init(gap: Gap, isFollowed: Bool) {
        self.gap = gap
        self.isFollowed = isFollowed
    }
}

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

    /// By ring and falling seq, from the first or from right behind `place`.
    func unsent(device: DeviceID, behind place: GapPlace?, limit: Int) throws -> [UnsentRow] {
        try database.all(
            """
            SELECT \(GapRow.columns), rings.ring, EXISTS (
                SELECT 1 FROM gaps AS next
                WHERE next.ring = gaps.ring AND next.first_seq = gaps.last_seq + 1 AND next.sent = 0)
            FROM gaps JOIN rings ON rings.id = gaps.ring
            WHERE sent = 0 AND rings.band = (SELECT id FROM bands WHERE device = ?1)
                AND (?2 IS NULL OR (rings.id, -first_seq) > (
                    SELECT id, -?3 FROM rings WHERE ring = ?2
                        AND band = (SELECT id FROM bands WHERE device = ?1)))
            ORDER BY rings.id, first_seq DESC LIMIT ?4
            """, .text(device.text), .optional(place.map { Int64($0.ring.rawValue) }),
            .int(place?.firstSeq ?? 0), .int(limit)
        ) { UnsentRow(gap: Self.gap($0), isFollowed: $0.int64(8) != 0) }
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

    func hasSent(device: DeviceID) throws -> Bool {
        try database.first(
            """
            SELECT 1 FROM gaps JOIN rings ON rings.id = gaps.ring
            WHERE sent = 1 AND rings.band = (SELECT id FROM bands WHERE device = ?) LIMIT 1
            """, .text(device.text)
        ) { _ in true } ?? false
    }

    func sendAgain(device: DeviceID, besides theirs: [Gap]) throws -> Int {
        let shown = Dictionary(
            theirs.map { (GapPlace(ring: $0.ring, firstSeq: $0.firstSeq), $0.lastSeq ?? .max) },
            uniquingKeysWith: { $1 })
        let sent = try database.all(
            """
            SELECT \(GapRow.columns), rings.ring FROM gaps JOIN rings ON rings.id = gaps.ring
            WHERE sent = 1 AND rings.band = (SELECT id FROM bands WHERE device = ?)
            """, .text(device.text)
        ) { Self.gap($0) }
        let lost = sent.filter { gap in
            shown[GapPlace(ring: gap.ring, firstSeq: gap.firstSeq)].map { $0 > gap.lastSeq ?? .max } ?? true
        }
        for gap in lost {
            try database.run(
                """
                UPDATE gaps SET sent = 0 WHERE first_seq = ? AND ring = (SELECT rings.id FROM rings
                    JOIN bands ON bands.id = rings.band WHERE device = ? AND rings.ring = ?)
                """, .int(gap.firstSeq), .text(device.text), .int(gap.ring.rawValue))
        }
        return lost.count
    }

    private static func gap(_ row: Statement) -> Gap {
        GapRow(row).gap(in: RingID(rawValue: UInt32(truncatingIfNeeded: row.int64(7))))
    }
}
