import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// Derives stale samples again, a slice at a time, and publishes what became better.
struct Reviser {
    let database: Database
    let revisions: Revisions
    let corrections: Corrections
    let gaps: GapLedger
    let held: SeqIntervals

    /// Seqs of one transaction, so that no commit of the sync waits long for it.
    private static let slice: UInt32 = 500

    /// One slice inside a transaction that the caller holds. Nil when nothing is stale; else how many changed.
    func step(context: (_ ring: Int64) throws -> TimeContext?, now: Timestamp) throws -> Int? {
        guard let (ring, seqs) = try revisions.next() else { return nil }
        guard let context = try context(ring), let slice = try slice(of: seqs, ring: ring) else {
            try revisions.stale.subtract(ring: ring, seqs)
            return 0
        }
        let changed = try corrections.apply(ring: ring, slice) { published, sample in
            guard
                let better = Revision.decide(
                    published: published,
                    fresh: try context.estimate(
                        seq: sample.seq, bandTime: sample.bandTimeMilliseconds, clockID: sample.clockID),
                    bandOffset: published.offsetSource == .band ? published.offsetQuarterHours : nil,
                    isClockBroken: try context.isBroken(sample.clockID), derivation: context.derivation)
            else { return }
            published = better
        } columns: {
            try context.column($0, published: $1)
        } verdicts: {
            try context.verdict($0)
        }
        try release(slice, ring: ring, context: context)
        if changed > 0 { try gaps.refreshTimes(ring: ring, slice) }
        try revisions.stale.subtract(ring: ring, seqs.lowerBound...slice.upperBound)
        return changed
    }

    /// As many seqs as fit one slice, from the first that is stored: a mark may reach far beyond what there is.
    private func slice(of seqs: ClosedRange<UInt32>, ring: Int64) throws -> ClosedRange<UInt32>? {
        let bounds = try database.first(
            """
            SELECT min(seq), max(seq) FROM (SELECT key >> 8 & 4294967295 AS seq FROM samples
                WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?)
            """, .integer(SampleKey.lowest(ring: ring, seq: seqs.lowerBound)),
            .integer(SampleKey.highest(ring: ring, seq: seqs.upperBound)), .int(Self.slice)
        ) { ($0.optionalInt64(0), $0.optionalInt64(1)) }
        guard let first = bounds?.0.flatMap(UInt32.init(exactly:)),
            let last = bounds?.1.flatMap(UInt32.init(exactly:)), first <= last
        else { return nil }
        return first...last
    }

    /// Samples that waited for the host's clock go up once it told their time.
    private func release(_ slice: ClosedRange<UInt32>, ring: Int64, context: TimeContext) throws {
        for range in try held.overlapping(ring: ring, slice) {
            let range = max(range.lowerBound, slice.lowerBound)...min(range.upperBound, slice.upperBound)
            var settled = SeqRuns()
            try database.query(
                "SELECT key, clock_id FROM samples WHERE key BETWEEN ? AND ? ORDER BY key",
                .integer(SampleKey.lowest(ring: ring, seq: range.lowerBound)),
                .integer(SampleKey.highest(ring: ring, seq: range.upperBound))
            ) { row in
                let clockID = UInt16(truncatingIfNeeded: row.int64(1))
                if try !context.waitsForHost(clockID) { settled.append(SampleKey(packed: row.int64(0)).seq) }
            }
            for run in settled.runs {
                try held.subtract(ring: ring, run)
                try corrections.unconfirmed.add(ring: ring, run)
            }
        }
    }
}
