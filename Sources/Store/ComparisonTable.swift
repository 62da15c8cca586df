import BandProfile
import GatewayModel
import SQLite

/// What is to be compared with what the server has: first the seqs that it knew when they were sent, then a part of what
/// is stored of a band that another gateway syncs, too.
final class ComparisonTable {
    let contested: SeqIntervals
    let held: SeqIntervals
    /// Of each ring, lowest first. Not kept over a restart: another sweep comes.
    private var unswept: [(ring: OutboxSelection.Ring, seqs: ClosedRange<UInt32>)] = []
    private let database: Database
    private let waiting: [SeqIntervals]

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        held = try SeqIntervals(database, .held)
        waiting = [try SeqIntervals(database), held]
        contested = try SeqIntervals(database, .contested)
    }

    /// Instead of what was left of the last sweep of this band.
    func sweep(_ ranges: [(ring: OutboxSelection.Ring, seqs: ClosedRange<UInt32>)], of device: DeviceID) {
        unswept.removeAll { $0.ring.device == device }
        unswept += ranges
    }

    /// The next seqs, of one ring, with at most `limit` samples in them.
    func next(limit: Int, skipping: Set<DeviceID>) throws -> ComparisonSlice? {
        let waiting = try database.all(
            """
            SELECT rings.id, rings.ring, device, first_seq, last_seq FROM contested
            JOIN rings ON rings.id = contested.ring JOIN bands ON bands.id = rings.band
            GROUP BY rings.id HAVING first_seq = min(first_seq) ORDER BY rings.id
            """
        ) { row in
            let first = UInt32(truncatingIfNeeded: row.int64(3))
            // A damaged row must not trap.
            let seqs = first...max(first, UInt32(truncatingIfNeeded: row.int64(4)))
            return OutboxSelection.ring(row).map { (ring: $0, seqs: seqs) }
        }
        for (ring, seqs) in waiting.compactMap({ $0 }) + unswept where !skipping.contains(ring.device) {
            return try slice(of: ring, seqs, limit: limit)
        }
        return nil
    }

    /// These were compared.
    func end(_ slice: ComparisonSlice) throws(SQLiteError) {
        try contested.subtract(ring: slice.ringRow, slice.seqs)
        unswept = unswept.flatMap { ring, seqs in
            guard ring.id == slice.ringRow else { return [(ring, seqs)] }
            return remaining(of: seqs, without: [slice.seqs]).map { (ring, $0) }
        }
    }

    /// What waits to be sent is left out: it is compared after that, if need be.
    private func slice(
        of ring: OutboxSelection.Ring, _ whole: ClosedRange<UInt32>, limit: Int
    ) throws -> ComparisonSlice {
        let taken = try waiting.flatMap { try $0.overlapping(ring: ring.id, whole) }
        let settled = remaining(of: whole, without: taken).first
        guard let range = settled, range.lowerBound == whole.lowerBound else {
            let end = settled.map { $0.lowerBound - 1 } ?? whole.upperBound
            return ComparisonSlice(
                device: ring.device, ring: ring.ring, seqs: whole.lowerBound...end, moments: [],
                ringRow: ring.id)
        }
        var moments: [ComparisonSlice.Moment] = []
        var last = range.lowerBound
        try database.query(
            """
            SELECT key, recorded_at, time_bound FROM samples WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?
            """, .integer(SampleKey.lowest(ring: ring.id, seq: range.lowerBound)),
            .integer(SampleKey.highest(ring: ring.id, seq: range.upperBound)), .int(limit)
        ) { row in
            last = SampleKey(packed: row.int64(0)).seq
            moments.append(
                ComparisonSlice.Moment(
                    seq: last, time: Timestamp(milliseconds: row.int64(1)),
                    boundMilliseconds: row.optionalInt64(2)))
        }
        let seqs = range.lowerBound...(moments.count < limit ? range.upperBound : last)
        return ComparisonSlice(
            device: ring.device, ring: ring.ring, seqs: seqs, moments: moments, ringRow: ring.id)
    }
}

/// Samples of one ring that are to be compared with what the server has.
public struct ComparisonSlice: Equatable, Sendable {
    /// When one of them was recorded, as it is known here.
    public struct Moment: Equatable, Sendable {
        public var seq: UInt32
        public var time: Timestamp
        public var boundMilliseconds: Int64?

        public init(seq: UInt32, time: Timestamp, boundMilliseconds: Int64?) {
            self.seq = seq
            self.time = time
            self.boundMilliseconds = boundMilliseconds
        }
    }

    public let device: DeviceID
    public let ring: RingID
    public let seqs: ClosedRange<UInt32>
    public let moments: [Moment]

    let ringRow: Int64
}
