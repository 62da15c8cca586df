import SQLite

/// What of a ring each clock_id timed: `clock_spans`. A clock_id never comes again within a ring, so its records are
/// one run of seqs. Band History Profile 1, "Clock".
struct SpanTable {
    let database: Database

    struct Span: Equatable {
        var seqs: ClosedRange<UInt32>
        var bandTimes: ClosedRange<Int64>

        mutating func extend(seq: UInt32, bandTime: Int64) {
            if !seqs.contains(seq) { seqs = min(seqs.lowerBound, seq)...max(seqs.upperBound, seq) }
            if !bandTimes.contains(bandTime) {
                bandTimes = min(bandTimes.lowerBound, bandTime)...max(bandTimes.upperBound, bandTime)
            }
        }
    }

    func span(ring: Int64, clockID: UInt16) throws -> Span? {
        try database.first(
            "SELECT \(Self.columns) FROM clock_spans WHERE ring = ? AND clock_id = ?", .integer(ring),
            .int(clockID),
            row: Self.row)
    }

    /// The span that ends closest below a seq.
    func below(_ seq: UInt32, ring: Int64) throws -> Span? {
        try database.first(
            "SELECT \(Self.columns) FROM clock_spans WHERE ring = ? AND last_seq < ? ORDER BY last_seq DESC LIMIT 1",
            .integer(ring), .int(seq), row: Self.row)
    }

    /// True when the clock is new to the ring.
    func extend(ring: Int64, clockID: UInt16, _ span: Span) throws -> Bool {
        let statement = try database.statement(
            """
            UPDATE clock_spans SET first_seq = min(first_seq, ?3), last_seq = max(last_seq, ?4),
                first_band_time = min(first_band_time, ?5), last_band_time = max(last_band_time, ?6)
            WHERE ring = ?1 AND clock_id = ?2
            """)
        try Self.bind(ring, clockID, span, to: statement)
        try statement.run()
        guard database.changes == 0 else { return false }
        let insert = try database.statement("INSERT INTO clock_spans VALUES (?, ?, ?, ?, ?, ?)")
        try Self.bind(ring, clockID, span, to: insert)
        try insert.run()
        return true
    }

    private static let columns = "first_seq, last_seq, first_band_time, last_band_time"

    private static func row(_ row: Statement) -> Span {
        let first = UInt32(truncatingIfNeeded: row.int64(0))
        // A damaged row must not trap.
        return Span(
            seqs: first...max(first, UInt32(truncatingIfNeeded: row.int64(1))),
            bandTimes: row.int64(2)...max(row.int64(2), row.int64(3)))
    }

    private static func bind(
        _ ring: Int64, _ clockID: UInt16, _ span: Span, to statement: Statement
    ) throws(SQLiteError) {
        try statement.bind(1, ring)
        try statement.bind(2, Int64(clockID))
        try statement.bind(3, Int64(span.seqs.lowerBound))
        try statement.bind(4, Int64(span.seqs.upperBound))
        try statement.bind(5, span.bandTimes.lowerBound)
        try statement.bind(6, span.bandTimes.upperBound)
    }
}
