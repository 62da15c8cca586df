import BandProfile
import GatewayModel
import SQLite

/// One row of `gaps`. The cause is kept as text, so that a name that this program does not know survives.
struct GapRow: Equatable {
    static let columns = "first_seq, last_seq, cause, after, before, noted_at, healed_at"

    var first: UInt32
    /// Nil = the end is not known.
    var last: UInt32?
    var cause: String
    var after: Timestamp?
    var before: Timestamp?
    var notedAt: Timestamp
    var healedAt: Timestamp?

    func gap(in ring: RingID) -> Gap {
        Gap(
            ring: ring, firstSeq: first, lastSeq: last, after: after, before: before,
            cause: GapCause(rawValue: cause) ?? .lostByBand, healedAt: healedAt)
    }
}

extension GapRow {
    /// Reads `columns`, the first of them at `offset`.
    init(_ row: Statement, from offset: Int32 = 0) {
        func time(_ column: Int32) -> Timestamp? {
            row.optionalInt64(offset + column).map { Timestamp(milliseconds: $0) }
        }
        let first = UInt32(truncatingIfNeeded: row.int64(offset))
        self.first = first
        // A damaged row must not trap.
        last = row.optionalInt64(offset + 1).map { max(first, UInt32(truncatingIfNeeded: $0)) }
        cause = row.text(offset + 2)
        after = time(3)
        before = time(4)
        notedAt = time(5) ?? Timestamp(milliseconds: 0)
        healedAt = time(6)
    }
}

/// When the stored records beside a missing range were measured; nil where that can't be trusted or known.
struct NeighbourTimes {
    let database: Database
    let ring: Int64

    func below(_ seq: UInt32) throws -> Timestamp? {
        try database.first(
            """
            SELECT recorded_at, time_uncertain FROM samples WHERE key >= ? AND key < ?
            ORDER BY key DESC LIMIT 1
            """, .integer(SampleKey.lowest(ring: ring, seq: 0)),
            .integer(SampleKey.lowest(ring: ring, seq: seq)),
            row: Self.time) ?? nil
    }

    func above(_ seq: UInt32) throws -> Timestamp? {
        try database.first(
            "SELECT recorded_at, time_uncertain FROM samples WHERE key > ? AND key <= ? ORDER BY key LIMIT 1",
            .integer(SampleKey.highest(ring: ring, seq: seq)),
            .integer(SampleKey.highest(ring: ring, seq: .max)),
            row: Self.time) ?? nil
    }

    /// Of the highest seq stored.
    func newest() throws -> Timestamp? {
        try database.first(
            """
            SELECT recorded_at, time_uncertain FROM samples WHERE key BETWEEN ? AND ?
            ORDER BY key DESC LIMIT 1
            """, .integer(SampleKey.lowest(ring: ring, seq: 0)),
            .integer(SampleKey.highest(ring: ring, seq: .max))
        ) { Timestamp(milliseconds: $0.int64(0)) }
    }

    private static func time(_ row: Statement) -> Timestamp? {
        row.bool(1) ? nil : Timestamp(milliseconds: row.int64(0))
    }
}
