import SQLite

/// Samples that the upload gets once the host's clock can be believed, one day at most: a time that is years off would
/// mislead, and a sample that waits for ever would be lost.
struct HostClockHold {
    let held: SeqIntervals
    private let database: Database
    private let meta: MetaTable

    /// ms of the daemon running. A machine that is off does not wait.
    static let limit: Int64 = 86_400_000

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        held = try SeqIntervals(database, .held)
        meta = MetaTable(database: database)
    }

    func add(ring: Int64, _ seqs: ClosedRange<UInt32>) throws(SQLiteError) { try held.add(ring: ring, seqs) }

    /// The wait was long enough: what comes under the same clock goes up at once, flagged.
    func isUsedUp() throws(SQLiteError) -> Bool { try meta.read(.holdUsed) ?? 0 >= Self.limit }

    /// Counts time that was waited, and gives up what waited too long: also what a boot timed that ended before its clock was
    /// right, for which nothing can come any more. Returns whether it did.
    func count(milliseconds: Int64, unconfirmed: SeqIntervals) throws -> Bool {
        let waiting = try database.all("SELECT ring, first_seq, last_seq FROM held") { row in
            let first = UInt32(truncatingIfNeeded: row.int64(1))
            return (row.int64(0), first...max(first, UInt32(truncatingIfNeeded: row.int64(2))))
        }
        guard !waiting.isEmpty else {
            // What waited was told its time before the day was over: the next wait begins anew.
            if try (1..<Self.limit).contains(meta.read(.holdUsed) ?? 0) { try meta.write(.holdUsed, 0) }
            return false
        }
        let used = (try meta.read(.holdUsed) ?? 0) + milliseconds
        try meta.write(.holdUsed, used)
        guard used >= Self.limit else { return false }
        for (ring, seqs) in waiting {
            try held.subtract(ring: ring, seqs)
            try unconfirmed.add(ring: ring, seqs)
        }
        return true
    }

    /// The host's clock can be believed: the next wait begins anew. What still waits goes on counting.
    func hostTrusted() throws {
        let isWaiting = try database.first("SELECT 1 FROM held LIMIT 1") { _ in true } ?? false
        if !isWaiting, try meta.read(.holdUsed) ?? 0 != 0 { try meta.write(.holdUsed, 0) }
    }
}
