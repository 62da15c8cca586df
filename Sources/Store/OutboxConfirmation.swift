import BandProfile
import GatewayModel
import SQLite

/// Takes what the server said into the store, inside a transaction that its caller holds.
struct OutboxConfirmation {
    let database: Database
    let unconfirmed: SeqIntervals
    let gaps: GapLedger

    /// Returns the seqs that are confirmed now.
    @discardableResult
    func confirm(_ items: [OutboxItem], ring: Int64, now: Timestamp) throws -> [ClosedRange<UInt32>] {
        let done = try doneRuns(ring: ring, confirming: items)
        for run in done {
            try unconfirmed.subtract(ring: ring, run)
            try healRefused(run, ring: ring, now: now)
        }
        for item in items {
            if case .conflict(let id) = item.origin { try setState(.confirmed, conflict: id) }
        }
        return done
    }

    func quarantine(
        _ items: [OutboxItem], ring: Int64, code: String, message: String, held: Bool, now: Timestamp
    ) throws {
        var seqs = SeqRuns()
        for item in items {
            if case .conflict(let id) = item.origin {
                try setState(held ? .held : .refused, conflict: id)
                continue
            }
            try database.run(
                """
                INSERT INTO quarantine (key, code, message, held, noted_at) SELECT ?1, ?2, ?3, ?4, ?5
                WHERE EXISTS (SELECT 1 FROM samples WHERE key = ?1 AND version = ?6)
                ON CONFLICT DO UPDATE SET code = excluded.code, message = excluded.message,
                    held = excluded.held, noted_at = excluded.noted_at
                """, .integer(item.key.packed), .text(code), .text(message), .int(held ? 1 : 0),
                .integer(now.milliseconds), .int(item.sample.version))
            // Corrected meanwhile: it deserves another try.
            guard database.changes > 0 else { continue }
            seqs.append(item.key.seq)
            if !held { try gaps.writeUnreadable(item.key.seq, ring: ring, now: now) }
        }
        // A seq is passed when each of its rows is quarantined; others of the same seq may still be unconfirmed.
        for run in seqs.runs {
            for done in try doneRuns(ring: ring, confirming: [], in: run) {
                try unconfirmed.subtract(ring: ring, done)
            }
        }
    }

    func releaseHeld(_ device: DeviceID) throws -> Int {
        let keys = try database.all(
            """
            SELECT key FROM quarantine WHERE held AND key >> 40 IN
                (SELECT rings.id FROM rings JOIN bands ON bands.id = rings.band WHERE device = ?)
            ORDER BY key
            """, .text(device.text)
        ) { SampleKey(packed: $0.int64(0)) }
        for key in keys {
            try database.run("DELETE FROM quarantine WHERE key = ?", .integer(key.packed))
            try unconfirmed.add(ring: key.ring, key.seq...key.seq)
        }
        let rings = "(SELECT rings.id FROM rings JOIN bands ON bands.id = rings.band WHERE device = ?)"
        try database.run(
            "UPDATE conflicts SET state = ? WHERE state = ? AND key >> 40 IN \(rings)",
            .int(ConflictState.waiting.rawValue), .int(ConflictState.held.rawValue), .text(device.text))
        return keys.count + database.changes
    }

    /// The lowest of what was set aside for good goes up again, at most `limit` samples and as many second readings.
    /// Their gaps heal when the server has taken them, not before: a gap that was said to be healed stays so there.
    func releaseQuarantined(_ device: DeviceID, limit: Int) throws -> Int {
        let rings = """
            (SELECT rings.id FROM rings JOIN bands ON bands.id = rings.band WHERE device = ?)
            """
        let keys = try database.all(
            """
            SELECT key FROM quarantine WHERE NOT held AND key >> 40 IN \(rings) ORDER BY key LIMIT ?
            """, .text(device.text), .int(limit)
        ) { SampleKey(packed: $0.int64(0)) }
        for key in keys {
            try database.run("DELETE FROM quarantine WHERE key = ?", .integer(key.packed))
            try unconfirmed.add(ring: key.ring, key.seq...key.seq)
        }
        try database.run(
            """
            UPDATE conflicts SET state = 0 WHERE id IN
                (SELECT id FROM conflicts WHERE state = 2 AND key >> 40 IN \(rings) ORDER BY id LIMIT ?)
            """, .text(device.text), .int(limit))
        return keys.count + database.changes
    }

    /// Runs of seqs of which nothing is left to send once `items` are confirmed: every row is among them in its
    /// present version, or quarantined.
    func doneRuns(ring: Int64, confirming items: [OutboxItem]) throws -> [ClosedRange<UInt32>] {
        let samples = items.filter { $0.origin == .sample }
        guard let first = samples.map(\.key).min(), let last = samples.map(\.key).max() else { return [] }
        return try doneRuns(ring: ring, confirming: samples, in: first.seq...last.seq)
    }

    private func doneRuns(
        ring: Int64, confirming samples: [OutboxItem], in range: ClosedRange<UInt32>
    ) throws -> [ClosedRange<UInt32>] {
        var versions: [Int64: Int] = [:]
        for item in samples { versions[item.key.packed] = item.sample.version }
        var done = SeqRuns()
        var current: (seq: UInt32, isDone: Bool)?
        try database.query(
            """
            SELECT s.key, s.version, q.key IS NOT NULL FROM samples s LEFT JOIN quarantine q ON q.key = s.key
            WHERE s.key BETWEEN ? AND ? ORDER BY s.key
            """, .integer(SampleKey.lowest(ring: ring, seq: range.lowerBound)),
            .integer(SampleKey.highest(ring: ring, seq: range.upperBound))
        ) { row in
            let key = SampleKey(packed: row.int64(0))
            let isDone = row.bool(2) || versions[key.packed] == row.int(1)
            if let seen = current, seen.seq == key.seq {
                current = (seen.seq, seen.isDone && isDone)
            } else {
                if let seen = current, seen.isDone { done.append(seen.seq) }
                current = (key.seq, isDone)
            }
        }
        if let seen = current, seen.isDone { done.append(seen.seq) }
        return done.runs
    }

    /// The server took what it had refused before: nothing is unreadable there any more.
    private func healRefused(_ run: ClosedRange<UInt32>, ring: Int64, now: Timestamp) throws {
        let isNamed = try gaps.touching(ring: ring, run).contains {
            $0.healedAt == nil && $0.cause == GapCause.unreadable.rawValue
        }
        guard isNamed else { return }
        let refused = try database.all(
            "SELECT key FROM quarantine WHERE key BETWEEN ? AND ?",
            .integer(SampleKey.lowest(ring: ring, seq: run.lowerBound)),
            .integer(SampleKey.highest(ring: ring, seq: run.upperBound))
        ) { row in
            let seq = SampleKey(packed: row.int64(0)).seq
            return seq...seq
        }
        for taken in remaining(of: run, without: refused) {
            try gaps.heal(ring: ring, taken, now: now)
        }
    }

    private func setState(_ state: ConflictState, conflict id: Int64) throws(SQLiteError) {
        try database.run(
            "UPDATE conflicts SET state = ? WHERE id = ?", .int(state.rawValue), .integer(id))
    }
}

/// What became of a second reading of a key, as `conflicts` keeps it.
enum ConflictState: Int {
    /// To be sent.
    case waiting = 0
    case confirmed = 1
    /// For good, unless a person asks.
    case refused = 2
    /// For its wearer's consent, until `releaseHeld`.
    case held = 3
}
