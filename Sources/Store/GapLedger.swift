import BandProfile
import GatewayModel
import SQLite

/// The gap rows of the rings: disjoint ranges that nobody can read any more, and those that turned up after all.
struct GapLedger {
    private let database: Database
    private let touching: Statement
    private let pruned: SeqIntervals
    private let lost: SeqIntervals

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        pruned = try SeqIntervals(database, .pruned)
        lost = try SeqIntervals(database, .lost)
        touching = try database.prepare(
            """
            SELECT first_seq, last_seq, cause, after, before, noted_at, healed_at FROM gaps
            WHERE ring = ? AND first_seq <= ? ORDER BY first_seq DESC
            """)
    }

    /// The rows of a ring that share a seq with `range`, highest first.
    func touching(ring: Int64, _ range: ClosedRange<UInt32>) throws(SQLiteError) -> [GapRow] {
        defer { touching.reset() }
        try touching.bind(1, ring)
        try touching.bind(2, Int64(range.upperBound))
        var rows: [GapRow] = []
        while try touching.step() {
            let row = GapRow(touching)
            // Rows are disjoint, so the ones further down end lower still.
            if let last = row.last, last < range.lowerBound { break }
            rows.append(row)
        }
        return rows
    }

    // MARK: Writing

    /// Writes a gap where nothing is stored and no gap is named yet, one row for each run that is missing.
    func write(_ gap: Gap, ring: RingTable.Row, now: Timestamp) throws {
        let cause = try cause(of: gap, in: ring)
        guard let last = gap.lastSeq else { return try writeOpenEnd(gap, cause: cause, ring: ring, now: now) }
        guard gap.firstSeq <= last else { return }
        for range in try missing(ring: ring.id, gap.firstSeq...last) {
            for part in try byCause(cause, range, ring: ring.id) {
                try put(
                    GapRow(
                        first: part.seqs.lowerBound, last: part.seqs.upperBound, cause: part.cause.rawValue,
                        after: gap.after, before: gap.before, notedAt: now, healedAt: gap.healedAt),
                    ring: ring.id)
            }
        }
    }

    /// What the band no longer has because it was acked, and a damaged database then lost, was lost by that.
    private func byCause(
        _ cause: GapCause, _ range: ClosedRange<UInt32>, ring: Int64
    ) throws -> [(seqs: ClosedRange<UInt32>, cause: GapCause)] {
        guard cause.blamesOthers else { return [(range, cause)] }
        let lost = try lost.overlapping(ring: ring, range).map { $0.clamped(to: range) }
        let parts =
            lost.map { (seqs: $0, cause: GapCause.storageLost) }
            + remaining(of: range, without: lost).map { (seqs: $0, cause: cause) }
        return parts.sorted { $0.seqs.lowerBound < $1.seqs.lowerBound }
    }

    private func writeOpenEnd(_ gap: Gap, cause: GapCause, ring: RingTable.Row, now: Timestamp) throws {
        guard try !hasOpenEnd(ring: ring.id) else { return }
        var first = gap.firstSeq
        let highest = SampleKey.highest(ring: ring.id, seq: .max)
        let lowest = SampleKey.lowest(ring: ring.id, seq: first)
        let stored = try database.first(
            "SELECT key FROM samples WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1", .integer(lowest),
            .integer(highest)
        ) { SampleKey(packed: $0.int64(0)).seq }
        let named = try database.first(
            "SELECT max(last_seq) FROM gaps WHERE ring = ? AND last_seq >= ?", .integer(ring.id), .int(first)
        ) { $0.optionalInt64(0).map { UInt32(truncatingIfNeeded: $0) } }
        if let known = [stored, named ?? nil].compactMap({ $0 }).max(), known < .max {
            var below = gap
            below.lastSeq = known
            try write(below, ring: ring, now: now)
            first = known + 1
        }
        try put(
            GapRow(
                first: first, last: nil, cause: cause.rawValue, after: gap.after, before: gap.before,
                notedAt: now, healedAt: gap.healedAt), ring: ring.id)
    }

    /// A gap that the server has already, where nothing is stored or named here: it is not told of it anew.
    func noteKnown(_ gap: Gap, ring: Int64, now: Timestamp) throws {
        let seqs = gap.firstSeq...max(gap.firstSeq, gap.lastSeq ?? .max)
        guard try missing(ring: ring, seqs) == [seqs] else { return }
        try put(
            GapRow(
                first: gap.firstSeq, last: gap.lastSeq, cause: gap.cause.rawValue, after: gap.after,
                before: gap.before, notedAt: now, healedAt: gap.healedAt), ring: ring, isSent: true)
    }

    /// What another gateway's ack freed is named by that gateway, if it could not read it: its cause is the exact one.
    /// Returns how many rows have another cause now.
    func learnCause(_ theirs: Gap, ring: Int64, now: Timestamp) throws -> Int {
        guard theirs.healedAt == nil, theirs.cause != .freedElsewhere,
            theirs.firstSeq <= theirs.lastSeq ?? .max
        else { return 0 }
        let rows = try touching(ring: ring, theirs.firstSeq...(theirs.lastSeq ?? .max)).filter {
            $0.healedAt == nil && $0.cause == GapCause.freedElsewhere.rawValue
        }
        for row in rows {
            let first = max(row.first, theirs.firstSeq)
            let last = min(row.last ?? .max, theirs.lastSeq ?? .max)
            try carve(row, ring: ring, first...last)
            try put(
                GapRow(
                    first: first, last: row.last == nil && theirs.lastSeq == nil ? nil : last,
                    cause: theirs.cause.rawValue, after: theirs.after, before: theirs.before, notedAt: now,
                    healedAt: nil), ring: ring)
        }
        return rows.count
    }

    /// True when the end of this ring was given up: nothing more is asked for after it.
    func hasOpenEnd(ring: Int64) throws -> Bool {
        try database.first(
            "SELECT 1 FROM gaps WHERE ring = ? AND last_seq IS NULL", .integer(ring)
        ) { _ in true } ?? false
    }

    /// Names one stored sample that the server will not take. A row that covers the seq is split around it.
    func writeUnreadable(_ seq: UInt32, ring: Int64, now: Timestamp) throws {
        try carve(ring: ring, seq...seq)
        try put(
            GapRow(
                first: seq, last: seq, cause: GapCause.unreadable.rawValue, after: nil, before: nil,
                notedAt: now,
                healedAt: nil), ring: ring)
    }

    /// What a lost database cannot give back was not overwritten by the band: it is the loss that is named.
    private func cause(of gap: Gap, in ring: RingTable.Row) throws -> GapCause {
        guard gap.cause.blamesOthers, ring.afterLoss else { return gap.cause }
        let first = SampleKey.lowest(ring: ring.id, seq: 0)
        let end = SampleKey.lowest(ring: ring.id, seq: gap.firstSeq)
        let storedBelow = try database.first(
            "SELECT 1 FROM samples WHERE key >= ? AND key < ? LIMIT 1", .integer(first), .integer(end)
        ) { _ in true }
        return storedBelow == nil ? .storageLost : gap.cause
    }

    // MARK: Healing

    /// The records of `stored` turned up. Rows that name them are split, so that each row stays either missing or
    /// healed as a whole; a key that the server knows keeps existing. Returns how many gaps it touched.
    @discardableResult
    func heal(ring: Int64, _ stored: ClosedRange<UInt32>, now: Timestamp) throws -> Int {
        let rows = try touching(ring: ring, stored).filter { $0.healedAt == nil }
        for row in rows {
            let first = max(row.first, stored.lowerBound)
            let last = min(row.last ?? .max, stored.upperBound)
            try carve(row, ring: ring, first...last)
            var healed = row
            healed.first = first
            healed.last = last
            healed.healedAt = now
            try put(healed, ring: ring)
        }
        return rows.count
    }

    /// The missing records end just below a record that is now known: they are from before it.
    func noteSuccessor(ring: Int64, seq: UInt32, recordedAt: Timestamp) throws {
        guard seq > 1 else { return }
        for row in try touching(ring: ring, (seq - 1)...(seq - 1))
        where row.healedAt == nil && row.last == seq - 1 && row.before == nil {
            try database.run(
                "UPDATE gaps SET before = ?3, sent = 0 WHERE ring = ?1 AND first_seq = ?2", .integer(ring),
                .int(row.first), .integer(recordedAt.milliseconds))
        }
    }

    /// The times of records beside gaps became better.
    func refreshTimes(ring: Int64, _ seqs: ClosedRange<UInt32>) throws {
        let reach = (seqs.lowerBound == 0 ? 0 : seqs.lowerBound - 1)...seqs.upperBound.nextSeq
        let neighbours = NeighbourTimes(database: database, ring: ring)
        for row in try touching(ring: ring, reach) where row.healedAt == nil {
            let after = try neighbours.below(row.first) ?? row.after
            let before = try row.last.flatMap { last in try neighbours.above(last) } ?? row.before
            guard after != row.after || before != row.before else { continue }
            try database.run(
                "UPDATE gaps SET after = ?3, before = ?4, sent = 0 WHERE ring = ?1 AND first_seq = ?2",
                .integer(ring), .int(row.first), .optional(after?.milliseconds),
                .optional(before?.milliseconds))
        }
    }

    // MARK: What is missing

    /// The parts of `range` of which neither a sample is stored, or was and is known to the server, nor a gap is written.
    func missing(ring: Int64, _ range: ClosedRange<UInt32>) throws -> [ClosedRange<UInt32>] {
        var absent: [ClosedRange<UInt32>] = []
        var next = UInt64(range.lowerBound)
        try database.query(
            "SELECT key FROM samples WHERE key BETWEEN ? AND ? ORDER BY key",
            .integer(SampleKey.lowest(ring: ring, seq: range.lowerBound)),
            .integer(SampleKey.highest(ring: ring, seq: range.upperBound))
        ) {
            let seq = UInt64(SampleKey(packed: $0.int64(0)).seq)
            if seq > next { absent.append(UInt32(next)...UInt32(seq - 1)) }
            next = seq + 1
        }
        if next <= UInt64(range.upperBound) { absent.append(UInt32(next)...range.upperBound) }
        var unnamed: [ClosedRange<UInt32>] = []
        for range in absent {
            let named = try touching(ring: ring, range).map { $0.first...($0.last ?? .max) }
            let letGo = try pruned.overlapping(ring: ring, range)
            unnamed += remaining(of: range, without: named + letGo)
        }
        return unnamed
    }

    /// Every record from `first` on, to `last` or to the ring's end, is here, was, or is named.
    func isKnown(ring: Int64, from first: UInt32, through last: UInt32?) throws -> Bool {
        let end = last ?? .max
        // What is not known is at the end nearly always, and that costs little.
        return try missing(ring: ring, end...end).isEmpty && missing(ring: ring, first...end).isEmpty
    }

    // MARK: Helpers

    private func carve(ring: Int64, _ range: ClosedRange<UInt32>) throws {
        for row in try touching(ring: ring, range) { try carve(row, ring: ring, range) }
    }

    /// Takes `range` out of one row, which may leave a row on either side.
    private func carve(_ row: GapRow, ring: Int64, _ range: ClosedRange<UInt32>) throws {
        if row.first < range.lowerBound {
            var left = row
            left.last = range.lowerBound - 1
            left.before = nil
            try put(left, ring: ring)
        } else {
            try database.run(
                "DELETE FROM gaps WHERE ring = ? AND first_seq = ?", .integer(ring), .int(row.first))
        }
        if range.upperBound < row.last ?? .max {
            var right = row
            right.first = range.upperBound + 1
            right.after = nil
            try put(right, ring: ring)
        }
    }

    /// Writes a row, with the times of its neighbours where the caller knew none, to be sent.
    private func put(_ row: GapRow, ring: Int64, isSent: Bool = false) throws {
        let neighbours = NeighbourTimes(database: database, ring: ring)
        let after = try row.after ?? neighbours.below(row.first)
        let before = try row.before ?? row.last.flatMap { last in try neighbours.above(last) }
        try database.run(
            """
            INSERT INTO gaps (ring, first_seq, last_seq, cause, after, before, noted_at, healed_at, sent)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET last_seq = excluded.last_seq, cause = excluded.cause, after = excluded.after,
                before = excluded.before, noted_at = excluded.noted_at, healed_at = excluded.healed_at,
                sent = excluded.sent
            """, .integer(ring), .int(row.first), .optional(row.last), .text(row.cause),
            .optional(after?.milliseconds), .optional(before?.milliseconds),
            .integer(row.notedAt.milliseconds),
            .optional(row.healedAt?.milliseconds), .int(isSent ? 1 : 0))
    }
}

extension GapCause {
    /// The records are gone because of what the band or another gateway did.
    fileprivate var blamesOthers: Bool {
        switch self {
        case .overwritten, .freedElsewhere, .reformatted: true
        case .storageLost, .lostByBand, .unreadable: false
        }
    }
}

/// `range` without the seqs of `taken`, in any order and disjoint.
func remaining(
    of range: ClosedRange<UInt32>, without taken: [ClosedRange<UInt32>]
) -> [ClosedRange<UInt32>] {
    var rest: [ClosedRange<UInt32>] = []
    var next = UInt64(range.lowerBound)
    for hole in taken.sorted(by: { $0.lowerBound < $1.lowerBound }) where hole.overlaps(range) {
        if UInt64(hole.lowerBound) > next { rest.append(UInt32(next)...(hole.lowerBound - 1)) }
        next = max(next, UInt64(hole.upperBound) + 1)
    }
    if next <= UInt64(range.upperBound) { rest.append(UInt32(next)...range.upperBound) }
    return rest
}
