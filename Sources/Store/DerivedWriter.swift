import SQLite
import Timekeeping

/// Writes derived fields into `samples`, and what is kept beside them: the days of the seqs, and which are vague.
struct DerivedWriter {
    let database: Database
    let vague: SeqIntervals

    struct Row {
        var key: SampleKey
        var fields: DerivedFields
        /// The value of `samples.person`.
        var person: Int64?
        var version: Int64
    }

    /// Rows of one ring, by rising key. Returns their seqs.
    @discardableResult
    func write(_ rows: [Row], ring: Int64) throws -> [ClosedRange<UInt32>] {
        var seqs = SeqRuns()
        var days = DaySpans()
        for row in rows {
            try write(row)
            seqs.append(row.key.seq)
            days.add(row.fields.recordedAt, seq: row.key.seq)
        }
        for (day, seqs) in days.spans { try DayTable(database: database).extend(ring: ring, day: day, seqs) }
        for run in seqs.runs { try noteVagueness(of: run, ring: ring) }
        return seqs.runs
    }

    private func write(_ row: Row) throws(SQLiteError) {
        let fields = row.fields
        try database.run(
            """
            UPDATE samples SET recorded_at = ?2, tz_offset = ?3, offset_source = ?4, time_uncertain = ?5,
                time_bound = ?6, person = ?7, version = ?8
            WHERE key = ?1
            """, .integer(row.key.packed), .integer(fields.recordedAt), .optional(fields.offsetQuarterHours),
            .optional(fields.offsetSource?.rawValue), .int(fields.isUncertain ? 1 : 0),
            .optional(fields.bound), .optional(row.person), .integer(row.version))
    }

    /// A seq with two samples is vague as long as one of them is, whether that one was written now or not.
    private func noteVagueness(of seqs: ClosedRange<UInt32>, ring: Int64) throws {
        try vague.subtract(ring: ring, seqs)
        var runs = SeqRuns()
        try database.query(
            """
            SELECT key FROM samples WHERE key BETWEEN ? AND ?
                AND (time_uncertain OR time_bound IS NULL OR time_bound > ?) ORDER BY key
            """, .integer(SampleKey.lowest(ring: ring, seq: seqs.lowerBound)),
            .integer(SampleKey.highest(ring: ring, seq: seqs.upperBound)),
            .integer(DerivedFields.vagueMilliseconds)
        ) { runs.append(SampleKey(packed: $0.int64(0)).seq) }
        for run in runs.runs { try vague.add(ring: ring, run) }
    }
}
