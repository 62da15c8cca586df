import BandProfile
import SQLite

/// How far a ring is complete for the server: every record up to there is confirmed, or in gaps that it has.
struct CompleteThrough {
    let database: Database
    let unconfirmed: SeqIntervals

    /// As it is once `items` are confirmed, which leaves nothing to send of the seqs in `done`. What stands at or below
    /// `settled` is not looked at.
    func read(
        ring: Int64, confirming items: [OutboxItem], done: [ClosedRange<UInt32>], above settled: UInt32 = 0
    ) throws -> UInt32? {
        guard settled < .max else { return settled }
        let start = settled + 1
        var limits: [Int64] = []
        func limit(_ sql: String, _ values: SQLiteValue...) throws {
            let statement = try database.statement(sql)
            defer { statement.reset() }
            try statement.bind(values)
            guard try statement.step(), let seq = statement.optionalInt64(0) else { return }
            limits.append(max(seq, Int64(start)))
        }
        try limit("SELECT next_seq FROM rings WHERE id = ?", .integer(ring))
        guard !limits.isEmpty else { return nil }
        for (table, what) in [("open_questions", ""), ("gaps", "AND sent = 0"), ("held", "")] {
            try limit(
                """
                SELECT min(first_seq) FROM \(table) WHERE ring = ? AND coalesce(last_seq, 4294967295) >= ? \(what)
                """, .integer(ring), .int(start))
        }
        try limit(
            "SELECT min(key) >> 8 & 4294967295 FROM quarantine WHERE held AND key BETWEEN ? AND ?",
            .integer(SampleKey.lowest(ring: ring, seq: start)),
            .integer(SampleKey.highest(ring: ring, seq: .max)))
        // Few, and only above what is settled.
        try limit(
            "SELECT key >> 8 & 4294967295 FROM conflicts WHERE state = 3 AND key BETWEEN ? AND ? ORDER BY key LIMIT 1",
            .integer(SampleKey.lowest(ring: ring, seq: start)),
            .integer(SampleKey.highest(ring: ring, seq: .max)))
        let sent = Set(
            items.compactMap { item in
                if case .conflict(let id) = item.origin { id } else { nil }
            })
        let waiting = try database.first(
            "SELECT key, id FROM conflicts WHERE state = 0 AND key BETWEEN ? AND ? ORDER BY key",
            .integer(SampleKey.lowest(ring: ring, seq: start)),
            .integer(SampleKey.highest(ring: ring, seq: .max))
        ) { row in
            repeat {
                if !sent.contains(row.int64(1)) { return Optional(SampleKey(packed: row.int64(0)).seq) }
            } while try row.step()
            return nil
        }
        if let waiting = waiting ?? nil { limits.append(Int64(waiting)) }
        try unconfirmed.forEach(ring: ring) { range in
            guard range.upperBound >= start else { return true }
            let above = max(range.lowerBound, start)...range.upperBound
            guard let left = remaining(of: above, without: done).first else { return true }
            limits.append(Int64(left.lowerBound))
            return false
        }
        let complete = (limits.min() ?? 1) - 1
        return complete > 0 ? UInt32(clamping: complete) : nil
    }
}
