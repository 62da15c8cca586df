import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// Writes one chunk inside a transaction that its caller holds, and calls `forget()` when that is rolled back.
struct ChunkWriter {
    let rings: RingTable
    let gaps: GapLedger
    let questions: QuestionTable
    let unconfirmed: SeqIntervals
    let pruned: SeqIntervals
    let times: TimeKeeper
    private let database: Database
    private let inserter: SampleInserter
    private let raw: RawTable
    private let memo = Memo()

    /// What the last chunks found, so that the next one of the same stream need not look again.
    private final class Memo {
        var reading: (ring: Int64, reading: ClockReading)?
        /// Where the highest unconfirmed range of a ring starts.
        var tails: [Int64: UInt32] = [:]
    }

    init(_ database: Database, zones: @escaping ZoneLookup) throws {
        self.database = database
        rings = try RingTable(database)
        gaps = try GapLedger(database)
        questions = try QuestionTable(database)
        unconfirmed = try SeqIntervals(database)
        pruned = try SeqIntervals(database, .pruned)
        times = try TimeKeeper(database, zones: zones)
        inserter = try SampleInserter(database)
        raw = RawTable(database: database)
    }

    func write(_ chunk: Chunk, band: Int64, clock: ClockReading?, now: Timestamp) throws -> CommitOutcome {
        let ring = try rings.findOrInsert(band: band, chunk.ring, now: now)
        if let clock { try keep(clock, ring: ring) }
        var taken = try writeRecords(chunk, ring: ring, now: now)
        for run in taken.stored.runs { try addUnconfirmed(run, ring: ring) }
        for run in taken.vague.runs { try times.revisions.vague.add(ring: ring.id, run) }
        try times.note(taken.clocks, taken.days, ring: ring.id)
        try hold(taken.waiting, ring: ring)
        try heal(taken, ring: ring, now: now)
        for bytes in chunk.raw where try raw.keep(bytes, clockID: nil, ring: ring.id, now: now) {
            taken.keptRaw += 1
        }
        for seq in taken.faulty {
            let gap = Gap(ring: chunk.ring, firstSeq: seq, lastSeq: seq, cause: .unreadable)
            try gaps.write(gap, ring: ring, now: now)
        }
        for gap in chunk.gaps { try writeGap(gap, ring: ring, now: now) }
        for suspect in chunk.openQuestions { try ask(suspect, band: band, now: now) }
        try refuseHole(chunk, ring: ring)
        try rings.advance(
            ring: ring.id, toAtLeast: Int64(chunk.through) + 1, stored: taken.rows, now: now)
        return CommitOutcome(
            ackThrough: ring.firstQuestion == nil && chunk.openQuestions.isEmpty
                ? UInt32(clamping: max(ring.nextSeq - 1, Int64(chunk.through)))
                : try ackThrough(ring: ring.id, nextSeq: max(ring.nextSeq, Int64(chunk.through) + 1)),
            stored: taken.rows, duplicates: taken.duplicates, conflicts: taken.conflicts,
            keptRaw: taken.keptRaw)
    }

    func forget() {
        memo.reading = nil
        memo.tails = [:]
        times.forget()
    }

    /// The band may free what was read, down to the first range of which it is not known who has it.
    func ackThrough(ring: Int64, nextSeq: Int64) throws(SQLiteError) -> UInt32 {
        let through = UInt32(clamping: nextSeq - 1)
        guard let open = try questions.lowest(ring: ring), open <= through else { return through }
        return open == 0 ? 0 : open - 1
    }

    /// Writes a gap of this ring; a question about the same seqs is answered by it.
    func writeGap(_ gap: Gap, ring: RingTable.Row, now: Timestamp) throws {
        guard gap.firstSeq <= gap.lastSeq ?? .max else { return }
        try gaps.write(gap, ring: ring, now: now)
        try questions.subtract(ring: ring.id, gap.firstSeq...(gap.lastSeq ?? .max))
    }

    /// Notes what an Info showed to be gone, in this ring or in an earlier one, as far as it is not known.
    private func ask(_ suspect: SuspectedGap, band: Int64, now: Timestamp) throws {
        guard suspect.firstSeq <= suspect.lastSeq ?? .max else { return }
        let ring = try rings.findOrInsert(band: band, suspect.ring, now: now)
        for seqs in try gaps.missing(ring: ring.id, suspect.firstSeq...(suspect.lastSeq ?? .max)) {
            try questions.add(QuestionTable.Row(seqs: seqs, cause: suspect.cause), ring: ring.id)
        }
    }

    // MARK: Records

    /// What became of a chunk's records.
    private struct Taken {
        /// Seqs with a new row.
        var stored = SeqRuns()
        /// Of those, the ones whose clock was read by a host clock that can't be believed yet.
        var waiting = SeqRuns()
        /// Of those, the ones whose time may be days off.
        var vague = SeqRuns()
        var clocks = ClockSpans()
        var days = DaySpans()
        /// Seqs that can't be taken as samples.
        var faulty: [UInt32] = []
        var first: (seq: UInt32, recordedAt: Timestamp)?
        var rows = 0
        var duplicates = 0
        var conflicts = 0
        var keptRaw = 0
    }

    private func writeRecords(_ chunk: Chunk, ring: RingTable.Row, now: Timestamp) throws -> Taken {
        var taken = Taken()
        let context = try times.context(ring: ring.id, band: ring.band)
        let letGo = try letGo(chunk, ring: ring)
        var expected = chunk.records.first?.record.seq ?? 0
        for timed in chunk.records {
            let record = timed.record
            guard record.seq == expected else { throw refused("seq \(record.seq) follows \(expected) - 1") }
            expected = record.seq == .max ? .max : record.seq + 1
            if !letGo.isEmpty, letGo.contains(where: { $0.contains(record.seq) }) {
                taken.duplicates += 1
                continue
            }
            if let fault = record.contentFault {
                let bytes = RawNotification(reason: fault.rawValue, seq: record.seq, bytes: record.encoded)
                if try raw.keep(bytes, clockID: timed.clockID, ring: ring.id, now: now) { taken.keptRaw += 1 }
                taken.faulty.append(record.seq)
                continue
            }
            let derived = try context.derive(timed)
            let person = try context.column(derived.wearer)
            switch try inserter.insert(timed, ring: ring.id, derived: derived, person: person, now: now) {
            case .stored:
                taken.rows += 1
                taken.stored.append(record.seq)
                taken.clocks.add(timed)
                taken.days.add(derived.recordedAt, seq: record.seq)
                if derived.isVague { taken.vague.append(record.seq) }
                if derived.isUncertain {
                    if try context.waitsForHost(timed.clockID) { taken.waiting.append(record.seq) }
                } else if taken.first == nil {
                    taken.first = (record.seq, Timestamp(milliseconds: derived.recordedAt))
                }
                // Another type under a seq that was read before is another reading of it, too.
                if ring.rolledBack || Int64(record.seq) < ring.nextSeq, try hasSibling(record, ring: ring.id)
                {
                    taken.conflicts += 1
                }
            case .duplicate: taken.duplicates += 1
            case .conflict: taken.conflicts += 1
            }
        }
        return taken
    }

    /// Seqs of the chunk that were stored, confirmed and let go: they are known. After the ring rolled back a number says
    /// nothing, and they are new until the server says otherwise.
    private func letGo(_ chunk: Chunk, ring: RingTable.Row) throws -> [ClosedRange<UInt32>] {
        guard let last = ring.lastPruned, !ring.rolledBack, let lowest = chunk.records.first?.record.seq,
            let highest = chunk.records.last?.record.seq, lowest <= last, lowest <= highest
        else { return [] }
        return try pruned.overlapping(ring: ring.id, lowest...highest)
    }

    private func hasSibling(_ record: HistoryRecord, ring: Int64) throws -> Bool {
        try database.first(
            "SELECT count(*) FROM samples WHERE key BETWEEN ? AND ?",
            .integer(SampleKey.lowest(ring: ring, seq: record.seq)),
            .integer(SampleKey.highest(ring: ring, seq: record.seq))
        ) { $0.int(0) > 1 } ?? false
    }

    /// Gaps and questions that the new rows answer.
    private func heal(_ taken: Taken, ring: RingTable.Row, now: Timestamp) throws {
        guard let lowest = taken.stored.runs.first?.lowerBound,
            let highest = taken.stored.runs.last?.upperBound
        else { return }
        // Usually nothing is open here; the seq below is for `noteSuccessor`.
        let below = lowest > 1 ? lowest - 1 : lowest
        if let end = ring.lastGapEnd, end >= below {
            for run in taken.stored.runs { try gaps.heal(ring: ring.id, run, now: now) }
            if let first = taken.first {
                try gaps.noteSuccessor(ring: ring.id, seq: first.seq, recordedAt: first.recordedAt)
            }
        }
        if let first = ring.firstQuestion, first <= highest {
            for run in taken.stored.runs { try questions.subtract(ring: ring.id, run) }
        }
    }

    /// Never ack across a hole that may still be asked for (Band History Profile 1, duty 2): a chunk that claims
    /// to reach further than what is stored, named or asked about is not taken.
    private func refuseHole(_ chunk: Chunk, ring: RingTable.Row) throws {
        guard chunk.through < .max, chunk.records.last.map({ $0.record.seq <= chunk.through }) ?? true else {
            throw refused("the chunk through \(chunk.through) does not end where it says")
        }
        let next = ring.nextSeq
        guard Int64(chunk.through) >= next else { return }
        // The usual chunk: records from the resume point, or from below it, to the end.
        if let first = chunk.records.first?.record.seq, let last = chunk.records.last?.record.seq,
            Int64(first) <= next, last == chunk.through
        {
            return
        }
        var holes = try gaps.missing(ring: ring.id, UInt32(next)...chunk.through)
        let asked = try questions.overlapping(ring: ring.id, UInt32(next)...chunk.through).map(\.seqs)
        holes = holes.flatMap { remaining(of: $0, without: asked) }
        guard let hole = holes.first else { return }
        throw refused(
            "seq \(hole.lowerBound) to \(hole.upperBound) of ring \(chunk.ring) would be passed over")
    }

    private func refused(_ message: String) -> StoreError {
        StoreError(kind: .refused, operation: "commit", path: database.path, message: message)
    }

    /// A stream makes the highest range longer; anything else has to look at its neighbours.
    private func addUnconfirmed(_ run: ClosedRange<UInt32>, ring: RingTable.Row) throws(SQLiteError) {
        let isAppended = !ring.rolledBack && Int64(run.lowerBound) >= ring.nextSeq
        if isAppended, let tail = memo.tails[ring.id],
            try unconfirmed.extend(ring: ring.id, startingAt: tail, by: run)
        {
            return
        }
        let first = try unconfirmed.add(ring: ring.id, run)
        if isAppended { memo.tails[ring.id] = first }
    }

    // MARK: Times

    private func keep(_ reading: ClockReading, ring: RingTable.Row) throws {
        if let known = memo.reading, known.ring == ring.id, known.reading == reading { return }
        try times.keep(reading, ring: ring)
        memo.reading = (ring.id, reading)
    }

    /// They are offered to the upload once the host's clock can be believed, or was waited for long enough.
    private func hold(_ waiting: SeqRuns, ring: RingTable.Row) throws {
        guard !waiting.isEmpty, try !times.hold.isUsedUp() else { return }
        for run in waiting.runs {
            try unconfirmed.subtract(ring: ring.id, run)
            try times.hold.add(ring: ring.id, run)
        }
        memo.tails[ring.id] = nil
    }
}
