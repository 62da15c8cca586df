import GatewayModel
import SQLite
import Timekeeping

/// Which samples have to be derived again, and why. The marks are made in the transaction that writes the cause, so that
/// no crash parts the two; the work is done later, in small transactions of its own: see `Reviser`.
final class Revisions {
    let stale: SeqIntervals
    let vague: SeqIntervals
    private let database: Database
    private let clocks: ClockLedger
    private let days: DayTable
    /// False = nothing is stale. True may be wrong after a rollback, which costs a look.
    private(set) var mayBePending = true

    init(_ database: Database, clocks: ClockLedger) throws(SQLiteError) {
        self.database = database
        stale = try SeqIntervals(database, .stale)
        vague = try SeqIntervals(database, .vague)
        self.clocks = clocks
        days = DayTable(database: database)
    }

    /// A reading was kept: it tells more of what was measured since the one before.
    func readingKept(_ kept: ClockLedger.Kept, ring: RingTable.Row) throws {
        guard kept.isResolved, let reading = try clocks.reading(kept.id, ring: ring.id) else { return }
        if try clocks.judge(reading, ring: ring.id) { try markClock(reading.point.clockID, ring: ring.id) }
        let last = ring.nextSeq - 1
        let first = try firstStored(after: reading, ring: ring.id)
        guard last >= 1, Int64(first) <= last else { return }
        try mark(ring: ring.id, first...UInt32(clamping: last))
    }

    /// What the host's clock was worth in a boot is known better: so are the readings of that boot.
    func hostClockNoted(_ stamp: HostStamp, anchor: Int64) throws {
        for (ring, first, last) in try clocks.rings(improvedBy: stamp, anchor: anchor) {
            let readings = try clocks.readings(ring: ring, from: first, to: last)
            guard let earliest = readings.first, let latest = readings.last else { continue }
            for reading in readings where try clocks.judge(reading, ring: ring) {
                try markClock(reading.point.clockID, ring: ring)
            }
            if let next = try clocks.successor(of: latest.id, ring: ring, clockID: latest.point.clockID),
                try clocks.judge(next, ring: ring)
            {
                try markClock(next.point.clockID, ring: ring)
            }
            let end = try clocks.after(latest.point.newestSeq.nextSeq, ring: ring)?.point.newestSeq ?? .max
            let start = try firstStored(after: earliest, ring: ring)
            if start <= end { try mark(ring: ring, start...end) }
        }
    }

    /// Who wore a band between two times, or where they were, is another now; nil = for all time on that side.
    func changed(ring: Int64, from: Int64?, to: Int64?) throws {
        if let seqs = try days.seqs(ring: ring, from: from, to: to) { try mark(ring: ring, seqs) }
        // Times so vague that they may touch any border.
        for run in try vague.overlapping(ring: ring, 0...(.max)) { try mark(ring: ring, run) }
    }

    /// From `from` on the person, a row of `persons`, was in another zone than was known. Returns whether they wear a band.
    func personMoved(_ person: Int64, from: Timestamp) throws -> Bool {
        let rings = try database.all(
            """
            SELECT id FROM rings WHERE band IN (SELECT band FROM assignments WHERE person = ?) ORDER BY id
            """, .integer(person)
        ) { $0.int64(0) }
        // A sample may lie so far from the border that its bound touches: half a day; vaguer ones are marked anyway.
        for ring in rings {
            try changed(ring: ring, from: from.milliseconds - DayTable.milliseconds, to: nil)
        }
        return !rings.isEmpty
    }

    /// Somebody else marked samples, through a connection of their own.
    func lookAgain() { mayBePending = true }

    /// A clock begins: the block of the one before is whole now.
    func clockBegan(ring: Int64, at seq: UInt32) throws {
        guard let span = try SpanTable(database: database).below(seq, ring: ring) else { return }
        if try !vague.overlapping(ring: ring, span.seqs).isEmpty { try mark(ring: ring, span.seqs) }
    }

    func mark(ring: Int64, _ seqs: ClosedRange<UInt32>) throws(SQLiteError) {
        mayBePending = true
        try stale.add(ring: ring, seqs)
    }

    /// The lowest seqs that wait, of any ring.
    func next() throws -> (ring: Int64, seqs: ClosedRange<UInt32>)? {
        let next = try database.first(
            "SELECT ring, first_seq, last_seq FROM stale ORDER BY ring, first_seq LIMIT 1"
        ) { row in
            let first = UInt32(truncatingIfNeeded: row.int64(1))
            return (row.int64(0), first...max(first, UInt32(truncatingIfNeeded: row.int64(2))))
        }
        if next == nil { mayBePending = false }
        return next
    }

    // MARK: Helpers

    /// The first seq that was measured after the reading before this one.
    private func firstStored(after reading: ClockLedger.Reading, ring: Int64) throws -> UInt32 {
        let earlier =
            try database.first(
                """
                SELECT max(newest_seq) FROM clock_readings WHERE ring = ? AND id < ? AND newest_seq IS NOT NULL
                    AND (host_trust > 0 OR boot_id IN (SELECT boot_id FROM host_anchors))
                """, .integer(ring), .integer(reading.id)
            ) { $0.optionalInt64(0) } ?? nil
        return earlier.map { UInt32(clamping: $0 + 1) } ?? 0
    }

    private func markClock(_ clockID: UInt16, ring: Int64) throws {
        guard let span = try SpanTable(database: database).span(ring: ring, clockID: clockID) else { return }
        try mark(ring: ring, span.seqs)
    }
}

extension UInt32 {
    var nextSeq: UInt32 { self == .max ? .max : self + 1 }
}
