import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// Makes a database of what was brought over hold together again: nothing is taken for stored, confirmed or read that
/// may be lost. Inside one transaction of its caller.
struct SalvageMender {
    let database: Database
    /// Tables in which something was damaged.
    let damaged: Set<String>

    func run(_ report: inout SalvageReport, now: Timestamp) throws {
        try rebuildDerived()
        if damaged.contains("rings") {
            // Of a damaged table no number is believed: a mark that is too high would let the band free what the server
            // does not have. Here and not while rows are brought over: an older schema has no such column.
            try database.execute("UPDATE rings SET confirmed_through = 0")
        }
        let unconfirmed = try SeqIntervals(database)
        let lost = try SeqIntervals(database, .lost)
        for ring in try rings() {
            let stored = try storedRuns(ring: ring.id)
            let seqs = try atRisk(ring, stored: stored)
            if damaged.contains("conflicts"), ring.isCurrent { try readAgain(ring) }
            try mendUpload(ring: ring.id, stored: stored, unconfirmed)
            try database.run(
                "UPDATE rings SET stored = ?2 WHERE id = ?1", .integer(ring.id), .int(stored.rows))
            report.samples += stored.rows
            guard !seqs.isEmpty else { continue }
            for range in seqs { try lost.add(ring: ring.id, range) }
            try resume(ring, at: seqs)
            report.losses.append(SalvageReport.Loss(device: ring.device, ring: ring.ring, seqs: seqs))
        }
        if damaged.contains("bands") {
            try database.execute(
                """
                UPDATE bands SET version_used = max(version_used, coalesce((SELECT max(version) FROM samples
                    JOIN rings ON rings.id = samples.key >> 40 WHERE rings.band = bands.id), 1))
                """)
        }
        // The table's indexes do not tell whether a band had been forgotten.
        for address in try MetaTable(database: database).forgottenBands() {
            try database.run("UPDATE bands SET adopted = 0 WHERE address = ?", .int(address.bits))
        }
        try BandTable(database: database).setProblem(report.problem, band: 0, now: now)
    }

    // MARK: Rings

    private struct Ring {
        var id: Int64
        var ring: RingID
        var device: DeviceID
        var nextSeq: Int64
        /// The band may still send of it.
        var isCurrent: Bool
    }

    private func rings() throws -> [Ring] {
        try database.all(
            """
            SELECT r.id, r.ring, b.device, r.next_seq,
                NOT EXISTS (SELECT 1 FROM gaps g WHERE g.ring = r.id AND g.last_seq IS NULL)
                AND NOT EXISTS (SELECT 1 FROM rings o WHERE o.band = r.band
                    AND (coalesce(o.format_count, -1), o.id) > (coalesce(r.format_count, -1), r.id))
            FROM rings r JOIN bands b ON b.id = r.band ORDER BY r.id
            """
        ) { row in
            DeviceID(row.text(2)).map {
                Ring(
                    id: row.int64(0), ring: RingID(rawValue: UInt32(truncatingIfNeeded: row.int64(1))),
                    device: $0, nextSeq: row.int64(3), isCurrent: row.bool(4))
            }
        }.compactMap { $0 }
    }

    private struct Stored {
        var runs: [ClosedRange<UInt32>] = []
        var rows = 0
    }

    private func storedRuns(ring: Int64) throws -> Stored {
        var runs = SeqRuns()
        var rows = 0
        try database.query(
            "SELECT key FROM samples WHERE key BETWEEN ? AND ? ORDER BY key",
            .integer(SampleKey.lowest(ring: ring, seq: 0)),
            .integer(SampleKey.highest(ring: ring, seq: .max))
        ) {
            runs.append(SampleKey(packed: $0.int64(0)).seq)
            rows += 1
        }
        return Stored(runs: runs.runs, rows: rows)
    }

    /// Seqs that are not here and may be nowhere else. While it is known what the server has not confirmed, that is
    /// all that can be lost. Else it is whatever is missing: the server says of the rest that it has it.
    private func atRisk(_ ring: Ring, stored: Stored) throws -> [ClosedRange<UInt32>] {
        let isKnown = damaged.isDisjoint(with: [
            "unconfirmed", "held", "gaps", "open_questions", "pruned", "quarantine", "rings",
        ])
        var seqs: [ClosedRange<UInt32>] = []
        if isKnown {
            guard damaged.contains("samples") else { return [] }
            for table in [SeqIntervals.Table.unconfirmed, .held] {
                try SeqIntervals(database, table).forEach(ring: ring.id) {
                    seqs += remaining(of: $0, without: stored.runs)
                    return true
                }
            }
            return try (seqs + setAside(ring.id, besides: seqs)).sorted { $0.lowerBound < $1.lowerBound }
        }
        // A ring whose row was damaged starts over; how far it had been read shows in what there is.
        let reached = max(ring.nextSeq - 1, Int64(stored.runs.last?.upperBound ?? 0))
        guard reached >= 1 else { return [] }
        let asked = try QuestionTable(database).all(ring: ring.id).map(\.seqs)
        seqs = try GapLedger(database).missing(ring: ring.id, 1...UInt32(clamping: reached))
            .flatMap { remaining(of: $0, without: asked) }
        guard !damaged.contains("quarantine") else { return seqs }
        return try (seqs + setAside(ring.id, besides: seqs)).sorted { $0.lowerBound < $1.lowerBound }
    }

    /// What the server would not take and is no longer here: it waited for its wearer's consent, or for a person to send it
    /// again. Of neither does the server have anything, and what waits for consent no other table tells of.
    private func setAside(
        _ ring: Int64, besides known: [ClosedRange<UInt32>]
    ) throws -> [ClosedRange<UInt32>] {
        var gone = SeqRuns()
        try database.query(
            """
            SELECT key FROM quarantine WHERE key BETWEEN ? AND ?
                AND NOT EXISTS (SELECT 1 FROM samples WHERE samples.key = quarantine.key) ORDER BY key
            """, .integer(SampleKey.lowest(ring: ring, seq: 0)),
            .integer(SampleKey.highest(ring: ring, seq: .max))
        ) { gone.append(SampleKey(packed: $0.int64(0)).seq) }
        return gone.runs.flatMap { remaining(of: $0, without: known) }
    }

    /// Second readings may be lost that waited for the server, and nothing tells which. The band is asked again for all that
    /// it was not told to free: until that is here, the mark stays where they held it.
    private func readAgain(_ ring: Ring) throws {
        let mark = try ConfirmedThrough(database: database, unconfirmed: try SeqIntervals(database))
            .read(ring: ring.id)
        try database.run(
            "UPDATE rings SET next_seq = min(next_seq, ?2) WHERE id = ?1", .integer(ring.id),
            .integer(Int64(mark) + 1))
    }

    /// The band is asked again from the first of them, and acked no further than what is stored; of a ring that it no
    /// longer has, the server is asked.
    private func resume(_ ring: Ring, at seqs: [ClosedRange<UInt32>]) throws {
        guard let first = seqs.first else { return }
        // What is read again goes up again, and until then the band keeps it: `ack = upload`.
        try ConfirmedThrough(database: database, unconfirmed: try SeqIntervals(database))
            .lower(ring: ring.id, below: first.lowerBound)
        if ring.isCurrent {
            return try database.run(
                "UPDATE rings SET next_seq = min(next_seq, ?2) WHERE id = ?1", .integer(ring.id),
                .int(max(1, first.lowerBound)))
        }
        let questions = try QuestionTable(database)
        for range in seqs {
            try questions.add(QuestionTable.Row(seqs: range, cause: .storageLost), ring: ring.id)
        }
    }

    // MARK: What the server has

    /// What is not known to be confirmed goes up again: the server knows a sample by its key.
    private func mendUpload(ring: Int64, stored: Stored, _ unconfirmed: SeqIntervals) throws {
        let isKnown = damaged.isDisjoint(with: ["unconfirmed", "held", "quarantine"])
        for table in [SeqIntervals.Table.unconfirmed, .held] {
            let intervals = try SeqIntervals(database, table)
            var gone: [ClosedRange<UInt32>] = []
            try intervals.forEach(ring: ring) {
                gone += remaining(of: $0, without: stored.runs)
                return true
            }
            for range in gone { try intervals.subtract(ring: ring, range) }
        }
        try database.run(
            """
            DELETE FROM quarantine WHERE key BETWEEN ?1 AND ?2
                AND NOT EXISTS (SELECT 1 FROM samples WHERE samples.key = quarantine.key)
            """, .integer(SampleKey.lowest(ring: ring, seq: 0)),
            .integer(SampleKey.highest(ring: ring, seq: .max)))
        guard !isKnown else { return }
        let held = try SeqIntervals(database, .held)
        for run in stored.runs {
            for part in remaining(of: run, without: try held.overlapping(ring: ring, run)) {
                try unconfirmed.add(ring: ring, part)
            }
        }
    }

    // MARK: What can be made anew of the samples

    private func rebuildDerived() throws {
        if damaged.contains("clock_spans") {
            try database.execute(
                """
                INSERT OR REPLACE INTO clock_spans SELECT key >> 40, clock_id, min(key >> 8 & 4294967295),
                    max(key >> 8 & 4294967295), min(band_time), max(band_time) FROM samples GROUP BY 1, 2
                """)
        }
        if damaged.contains("days") {
            try database.execute(
                """
                INSERT OR REPLACE INTO days SELECT key >> 40,
                    (recorded_at - (recorded_at % 86400000 + 86400000) % 86400000) / 86400000,
                    min(key >> 8 & 4294967295), max(key >> 8 & 4294967295) FROM samples GROUP BY 1, 2
                """)
        }
        if damaged.contains("vague") {
            try database.execute(
                """
                DELETE FROM vague;
                INSERT INTO vague SELECT key >> 40, min(key >> 8 & 4294967295), max(key >> 8 & 4294967295)
                    FROM samples WHERE time_uncertain OR time_bound IS NULL
                    OR time_bound > \(DerivedFields.vagueMilliseconds) GROUP BY 1
                """)
        }
        if damaged.contains("stale") {
            try database.execute(
                """
                DELETE FROM stale;
                INSERT INTO stale SELECT key >> 40, min(key >> 8 & 4294967295), max(key >> 8 & 4294967295)
                    FROM samples GROUP BY 1
                """)
        }
    }
}
