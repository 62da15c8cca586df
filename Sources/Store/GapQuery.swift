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

    /// Only the row as it was sent: a later change has to go, too. They are compared as they were read: what this program can't tell
    /// apart (a cause that it does not know) would never be found in the table.
    func markSent(_ gap: Gap, device: DeviceID) throws {
        let row = try database.first(
            """
            SELECT \(GapRow.columns), rings.ring, rings.id FROM gaps JOIN rings ON rings.id = gaps.ring
            WHERE rings.band = (SELECT id FROM bands WHERE device = ?) AND rings.ring = ? AND first_seq = ?
            """, .text(device.text), .int(gap.ring.rawValue), .int(gap.firstSeq)
        ) { (gap: Self.gap($0), ring: $0.int64(8)) }
        guard let row, row.gap == gap else { return }
        try setSent(true, ring: row.ring, firstSeq: gap.firstSeq)
    }

    func setSent(_ isSent: Bool, ring: Int64, firstSeq: UInt32) throws {
        try database.run(
            "UPDATE gaps SET sent = ?3 WHERE ring = ?1 AND first_seq = ?2", .integer(ring), .int(firstSeq),
            .int(isSent ? 1 : 0))
    }

    func hasSent(device: DeviceID) throws -> Bool {
        try database.first(
            """
            SELECT 1 FROM gaps JOIN rings ON rings.id = gaps.ring
            WHERE sent = 1 AND rings.band = (SELECT id FROM bands WHERE device = ?) LIMIT 1
            """, .text(device.text)
        ) { _ in true } ?? false
    }

    /// Those that went up, with the row of their ring.
    func sent(device: DeviceID) throws -> [(ring: Int64, gap: Gap)] {
        try database.all(
            """
            SELECT \(GapRow.columns), rings.ring, rings.id FROM gaps JOIN rings ON rings.id = gaps.ring
            WHERE sent = 1 AND rings.band = (SELECT id FROM bands WHERE device = ?)
            """, .text(device.text)
        ) { ($0.int64(8), Self.gap($0)) }
    }

    private static func gap(_ row: Statement) -> Gap {
        GapRow(row).gap(in: RingID(rawValue: UInt32(truncatingIfNeeded: row.int64(7))))
    }
}
