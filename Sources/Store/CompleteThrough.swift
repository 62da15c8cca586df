import BandProfile
import SQLite

/// How far a ring is complete for the server: every record up to there is confirmed, or in gaps that it has.
struct CompleteThrough {
    let database: Database
    let unconfirmed: SeqIntervals

    /// As it is once `items` are confirmed, which leaves nothing to send of the seqs in `done`.
    func read(
        ring: Int64, confirming items: [OutboxItem], done: [ClosedRange<UInt32>]
    ) throws -> UInt32? {
        var limits: [Int64] = []
        func limit(_ sql: String) throws {
            if let seq = try database.first(sql, .integer(ring), row: { $0.optionalInt64(0) }) ?? nil {
                limits.append(seq)
            }
        }
        try limit("SELECT next_seq FROM rings WHERE id = ?")
        guard !limits.isEmpty else { return nil }
        try limit("SELECT min(first_seq) FROM open_questions WHERE ring = ?")
        try limit("SELECT min(first_seq) FROM gaps WHERE ring = ? AND sent = 0")
        try limit("SELECT min(first_seq) FROM held WHERE ring = ?")
        try limit("SELECT min(key) >> 8 & 4294967295 FROM quarantine WHERE held AND key >> 40 = ?")
        let sent = Set(
            items.compactMap { item in
                if case .conflict(let id) = item.origin { id } else { nil }
            })
        let waiting = try database.first(
            "SELECT key, id FROM conflicts WHERE state = 0 AND key BETWEEN ? AND ? ORDER BY key",
            .integer(SampleKey.lowest(ring: ring, seq: 0)), .integer(SampleKey.highest(ring: ring, seq: .max))
        ) { row in
            repeat {
                if !sent.contains(row.int64(1)) { return Optional(SampleKey(packed: row.int64(0)).seq) }
            } while try row.step()
            return nil
        }
        if let waiting = waiting ?? nil { limits.append(Int64(waiting)) }
        try unconfirmed.forEach(ring: ring) { range in
            guard let left = remaining(of: range, without: done).first else { return true }
            limits.append(Int64(left.lowerBound))
            return false
        }
        let complete = (limits.min() ?? 1) - 1
        return complete > 0 ? UInt32(clamping: complete) : nil
    }
}
