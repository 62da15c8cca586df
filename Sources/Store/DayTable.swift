import GatewayModel
import SQLite

/// For each ring and UTC day the seqs between which all samples of that day lie: `days`. An envelope: what lies within may
/// belong to another day.
struct DayTable {
    let database: Database

    static let milliseconds: Int64 = 86_400_000

    static func day(_ time: Int64) -> Int64 {
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: milliseconds)
        return remainder < 0 ? quotient - 1 : quotient
    }

    func extend(ring: Int64, day: Int64, _ seqs: ClosedRange<UInt32>) throws(SQLiteError) {
        let statement = try database.statement(
            """
            INSERT INTO days (ring, day, first_seq, last_seq) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
            SET first_seq = min(first_seq, excluded.first_seq), last_seq = max(last_seq, excluded.last_seq)
            """)
        try statement.bind(1, ring)
        try statement.bind(2, day)
        try statement.bind(3, Int64(seqs.lowerBound))
        try statement.bind(4, Int64(seqs.upperBound))
        try statement.run()
    }

    /// The seqs that may have been recorded between two times, both inclusive; nil = of all time on that side.
    func seqs(ring: Int64, from: Int64?, to: Int64?) throws -> ClosedRange<UInt32>? {
        try database.first(
            """
            SELECT min(first_seq), max(last_seq) FROM days WHERE ring = ?1 AND (?2 IS NULL OR day >= ?2)
                AND (?3 IS NULL OR day <= ?3)
            """, .integer(ring), .optional(from.map(Self.day)), .optional(to.map(Self.day))
        ) { row -> ClosedRange<UInt32>? in
            // A damaged row must not end the program: what is no seq is no range.
            guard let first = row.optionalInt64(0).flatMap(UInt32.init(exactly:)),
                let last = row.optionalInt64(1).flatMap(UInt32.init(exactly:)), first <= last
            else { return nil }
            return first...last
        } ?? nil
    }
}

/// Collects the days of samples that come in, so that a chunk writes each of its days once.
struct DaySpans {
    private(set) var spans: [(day: Int64, seqs: ClosedRange<UInt32>)] = []
    /// The day at hand, as ms: most samples of a chunk are of one.
    private var current: Range<Int64> = 0..<0

    mutating func add(_ time: Int64, seq: UInt32) {
        if !current.contains(time) {
            let day = DayTable.day(time)
            current = day * DayTable.milliseconds..<(day + 1) * DayTable.milliseconds
            if let index = spans.firstIndex(where: { $0.day == day }) {
                spans.swapAt(index, spans.count - 1)
            } else {
                spans.append((day, seq...seq))
            }
        }
        guard let last = spans.indices.last else { return }
        let seqs = spans[last].seqs
        if seq > seqs.upperBound { spans[last].seqs = seqs.lowerBound...seq }
        if seq < seqs.lowerBound { spans[last].seqs = seq...seqs.upperBound }
    }
}
