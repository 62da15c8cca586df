import BandProfile
import GatewayModel
import SQLite

/// Lets go of samples that the server has confirmed and that are older than is wanted, a slice at a time.
///
/// What else may need a sample keeps it: see `wanted` and `removable`. Its seq stays known, so that a band that sends it
/// again brings nothing new.
struct Pruner {
    let database: Database
    private let pruned: SeqIntervals
    private let vague: SeqIntervals
    /// Seqs in these have something left to be done.
    private let busy: [SeqIntervals]

    /// Samples that are looked at in one transaction, so that no commit of the sync waits long for it.
    static let slice = 2_000

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        pruned = try SeqIntervals(database, .pruned)
        vague = try SeqIntervals(database, .vague)
        busy = [
            try SeqIntervals(database), try SeqIntervals(database, .held), try SeqIntervals(database, .stale),
            try SeqIntervals(database, .contested),
        ]
    }

    /// Where the last slice ended, so that the next one does not look at the same rows again.
    struct Position: Equatable, Sendable {
        var ring: Int64 = 0
        var key: Int64 = 0
    }

    /// One slice inside a transaction that the caller holds. `cutoff`: ms; samples before it are old. Returns where to go
    /// on, and how many samples went; nil when all of it was looked at.
    func step(from position: Position, cutoff: Int64) throws -> (next: Position, count: Int)? {
        guard let ring = try nextRing(from: position.ring) else { return nil }
        guard let range = try oldKeys(ring: ring, cutoff: cutoff) else {
            return (Position(ring: ring + 1), 0)
        }
        let start = max(position.ring == ring ? position.key : 0, range.lowerBound)
        guard start <= range.upperBound else { return (Position(ring: ring + 1), 0) }
        let (keys, last) = try removable(start...range.upperBound, ring: ring, cutoff: cutoff)
        guard let last else { return (Position(ring: ring + 1), 0) }
        if !keys.isEmpty { try noteCutoff(cutoff) }
        try remove(keys, ring: ring)
        return (Position(ring: ring, key: last + 1), keys.count)
    }

    /// After the last slice: what described only samples that are gone.
    func tidy(cutoff: Int64) throws {
        let day = DayTable.day(cutoff)
        try database.run(
            """
            DELETE FROM days WHERE day < ?1 AND NOT EXISTS (SELECT 1 FROM samples WHERE key BETWEEN
                (days.ring << 40) + (days.first_seq << 8) AND (days.ring << 40) + (days.last_seq << 8) + 255)
            """, .integer(day))
        // The last reading before what is left is the lower end of its bracket; those before it bracket nothing.
        try database.execute(
            """
            DELETE FROM clock_readings WHERE host_time < \(cutoff) AND newest_seq IS NOT NULL AND host_trust > 0
                AND EXISTS (SELECT 1 FROM clock_readings l WHERE l.ring = clock_readings.ring
                    AND l.newest_seq > clock_readings.newest_seq AND l.host_trust > 0 AND l.contradicts = 0
                    AND l.clock_id = clock_readings.clock_id
                    AND l.newest_seq < (SELECT min(key) >> 8 & 4294967295 FROM samples
                        WHERE key >= clock_readings.ring << 40 AND key < (clock_readings.ring + 1) << 40))
            """)
    }

    // MARK: Helpers

    /// In the transaction of the first deletion, so that a stop in the middle leaves no day that looks whole and is not. It
    /// never falls: what an earlier, shorter age let go does not come back with a longer one.
    private func noteCutoff(_ cutoff: Int64) throws {
        let meta = MetaTable(database: database)
        if let noted = try meta.read(.prunedBefore), noted >= cutoff { return }
        try meta.write(.prunedBefore, cutoff)
    }

    private func nextRing(from id: Int64) throws -> Int64? {
        try database.first("SELECT id FROM rings WHERE id >= ? ORDER BY id LIMIT 1", .integer(id)) {
            $0.int64(0)
        }
    }

    /// The keys between which old samples may lie, without the ring's newest seq: that is where the ring was left off, and
    /// shows that something of it was stored.
    private func oldKeys(ring: Int64, cutoff: Int64) throws -> ClosedRange<Int64>? {
        guard let seqs = try DayTable(database: database).seqs(ring: ring, from: nil, to: cutoff - 1) else {
            return nil
        }
        let newest = try database.first(
            "SELECT key FROM samples WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1",
            .integer(SampleKey.lowest(ring: ring, seq: 0)),
            .integer(SampleKey.highest(ring: ring, seq: .max))
        ) { SampleKey(packed: $0.int64(0)).seq }
        var bounds = [newest ?? 0]
        // The gap that an open question may become lies between two samples, whose times it will say.
        if let asked = try QuestionTable(database).lowest(ring: ring) {
            bounds.append(asked == 0 ? 0 : asked - 1)
        }
        guard let end = bounds.min(), end > seqs.lowerBound else { return nil }
        return SampleKey.lowest(
            ring: ring, seq: seqs.lowerBound)...SampleKey.highest(
                ring: ring, seq: min(seqs.upperBound, end - 1))
    }

    /// Those of a slice that may go, as whole seqs, and the last key that was looked at.
    ///
    /// A row goes when it is old by its own time, or by that of a later one of the same ring where its own can't be told;
    /// and when no row of its seq was refused or is waited for.
    private func removable(
        _ keys: ClosedRange<Int64>, ring: Int64, cutoff: Int64
    ) throws -> (keys: [Int64], last: Int64?) {
        let certain = try lastCertain(keys, cutoff: cutoff, ring: ring)
        var rows: [(key: SampleKey, isOld: Bool)] = []
        try database.query(
            """
            SELECT s.key, s.recorded_at + coalesce(s.time_bound, 0), s.time_uncertain,
                EXISTS (SELECT 1 FROM quarantine q WHERE q.key = s.key)
                OR EXISTS (SELECT 1 FROM conflicts c WHERE c.key = s.key AND c.state != 1)
            FROM samples s WHERE s.key BETWEEN ? AND ? ORDER BY s.key LIMIT ?
            """, .integer(keys.lowerBound), .integer(keys.upperBound), .int(Self.slice)
        ) { row in
            let key = SampleKey(packed: row.int64(0))
            let isOld = row.bool(2) ? key.packed < certain : row.int64(1) < cutoff
            rows.append((key, isOld && !row.bool(3)))
        }
        guard let last = rows.last?.key else { return ([], nil) }
        // The end of the slice may cut a seq: it comes whole with the next one, unless there is no other.
        if rows.count == Self.slice, let first = rows.first?.key.seq, first != last.seq {
            rows.removeAll { $0.key.seq == last.seq }
        }
        guard let lowest = rows.first?.key.seq, let highest = rows.last?.key.seq else { return ([], nil) }
        let taken = try busy.flatMap { try $0.overlapping(ring: ring, lowest...highest) }
        let kept = Set(rows.filter { !$0.isOld }.map(\.key.seq))
        let wanted = rows.filter { row in
            !kept.contains(row.key.seq) && !taken.contains { $0.contains(row.key.seq) }
        }
        return (wanted.map(\.key.packed), rows.last?.key.packed)
    }

    /// The highest of the keys whose time is certain and old: what lies below it is older. 0 when there is none, or
    /// the order of this ring says nothing.
    private func lastCertain(_ keys: ClosedRange<Int64>, cutoff: Int64, ring: Int64) throws -> Int64 {
        try database.first(
            """
            SELECT key FROM samples WHERE key BETWEEN ?1 AND ?2 AND NOT time_uncertain
                AND recorded_at + coalesce(time_bound, 0) < ?3
                AND (SELECT rolled_back_at IS NULL FROM rings WHERE id = ?4)
            ORDER BY key DESC LIMIT 1
            """, .integer(keys.lowerBound), .integer(keys.upperBound), .integer(cutoff), .integer(ring)
        ) { $0.int64(0) } ?? 0
    }

    private func remove(_ keys: [Int64], ring: Int64) throws {
        let delete = try database.statement("DELETE FROM samples WHERE key = ?")
        var seqs = SeqRuns()
        for key in keys {
            try delete.bind(1, key)
            try delete.run()
            seqs.append(SampleKey(packed: key).seq)
        }
        for run in seqs.runs {
            try pruned.add(ring: ring, run)
            try vague.subtract(ring: ring, run)
            try database.run(
                "DELETE FROM conflicts WHERE state = 1 AND key BETWEEN ? AND ?",
                .integer(SampleKey.lowest(ring: ring, seq: run.lowerBound)),
                .integer(SampleKey.highest(ring: ring, seq: run.upperBound)))
        }
        try database.run(
            "UPDATE rings SET stored = stored - ?2 WHERE id = ?1", .integer(ring), .int(keys.count))
    }
}
