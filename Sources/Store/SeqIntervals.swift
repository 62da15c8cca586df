import SQLite

/// A table of disjoint, never adjacent ranges of seqs for each ring.
struct SeqIntervals {
    private let touching: Statement
    private let insert: Statement
    private let delete: Statement
    private let setLast: Statement
    private let upward: Statement
    private let append: Statement
    private let database: Database

    enum Table: String {
        /// What the server has not confirmed.
        case unconfirmed
        /// What has to be derived again.
        case stale
        /// What may have been at any time for days around.
        case vague
        /// What waits for a host clock that can be trusted.
        case held
        /// What the server knew when it was sent.
        case contested
        /// What the server has and was let go here.
        case pruned
        /// What a damaged database lost.
        case lost
    }

    init(_ database: Database, _ table: Table = .unconfirmed) throws(SQLiteError) {
        self.database = database
        let name = table.rawValue
        append = try database.prepare(
            "UPDATE \(name) SET last_seq = ?4 WHERE ring = ?1 AND first_seq = ?2 AND last_seq = ?3")
        touching = try database.prepare(
            "SELECT first_seq, last_seq FROM \(name) WHERE ring = ? AND first_seq <= ? ORDER BY first_seq DESC"
        )
        insert = try database.prepare("INSERT INTO \(name) (ring, first_seq, last_seq) VALUES (?, ?, ?)")
        delete = try database.prepare("DELETE FROM \(name) WHERE ring = ? AND first_seq = ?")
        setLast = try database.prepare("UPDATE \(name) SET last_seq = ?3 WHERE ring = ?1 AND first_seq = ?2")
        upward = try database.prepare(
            "SELECT first_seq, last_seq FROM \(name) WHERE ring = ? ORDER BY first_seq")
    }

    /// Makes the range that starts at `first` longer, if it ends just below `more`. Nothing may lie above.
    func extend(
        ring: Int64, startingAt first: UInt32, by more: ClosedRange<UInt32>
    ) throws(SQLiteError) -> Bool {
        try append.bind(1, ring)
        try append.bind(2, Int64(first))
        try append.bind(3, Int64(more.lowerBound) - 1)
        try append.bind(4, Int64(more.upperBound))
        try append.run()
        return database.changes == 1
    }

    /// Adds a range; what it overlaps or touches becomes one range with it. Returns where that starts.
    @discardableResult
    func add(ring: Int64, _ range: ClosedRange<UInt32>) throws(SQLiteError) -> UInt32 {
        let reach = range.upperBound == .max ? range.upperBound : range.upperBound + 1
        var merged = range
        var absorbed: [UInt32] = []
        try touching.bind(1, ring)
        try touching.bind(2, Int64(reach))
        while try touching.step() {
            let found = Self.range(touching)
            if UInt64(found.upperBound) + 1 < UInt64(range.lowerBound) { break }
            if found.lowerBound <= range.lowerBound, absorbed.isEmpty, found.upperBound < range.lowerBound {
                // The common case: the chunk goes on where the last one ended.
                touching.reset()
                try extend(ring: ring, found.lowerBound, to: merged.upperBound)
                return found.lowerBound
            }
            merged = min(merged.lowerBound, found.lowerBound)...max(merged.upperBound, found.upperBound)
            absorbed.append(found.lowerBound)
        }
        touching.reset()
        for first in absorbed { try remove(ring: ring, startingAt: first) }
        try put(ring: ring, merged)
        return merged.lowerBound
    }

    /// Takes a range out; what it cuts is split.
    func subtract(ring: Int64, _ range: ClosedRange<UInt32>) throws(SQLiteError) {
        for found in try overlapping(ring: ring, range) {
            if found.lowerBound < range.lowerBound {
                try extend(ring: ring, found.lowerBound, to: range.lowerBound - 1)
            } else {
                try remove(ring: ring, startingAt: found.lowerBound)
            }
            if found.upperBound > range.upperBound {
                try put(ring: ring, (range.upperBound + 1)...found.upperBound)
            }
        }
    }

    /// The stored ranges that share a seq with `range`, highest first.
    func overlapping(ring: Int64, _ range: ClosedRange<UInt32>) throws(SQLiteError) -> [ClosedRange<UInt32>] {
        defer { touching.reset() }
        try touching.bind(1, ring)
        try touching.bind(2, Int64(range.upperBound))
        var found: [ClosedRange<UInt32>] = []
        while try touching.step() {
            let next = Self.range(touching)
            if next.upperBound < range.lowerBound { break }
            found.append(next)
        }
        return found
    }

    /// The ranges of a ring, lowest first, until `body` returns false.
    func forEach(ring: Int64, _ body: (ClosedRange<UInt32>) throws -> Bool) throws {
        defer { upward.reset() }
        try upward.bind(1, ring)
        while try upward.step() {
            guard try body(Self.range(upward)) else { return }
        }
    }

    // MARK: Helpers

    private static func range(_ row: Statement) -> ClosedRange<UInt32> {
        let first = UInt32(truncatingIfNeeded: row.int64(0))
        // A damaged row must not trap.
        return first...max(first, UInt32(truncatingIfNeeded: row.int64(1)))
    }

    private func put(ring: Int64, _ range: ClosedRange<UInt32>) throws(SQLiteError) {
        try insert.bind(1, ring)
        try insert.bind(2, Int64(range.lowerBound))
        try insert.bind(3, Int64(range.upperBound))
        try insert.run()
    }

    private func remove(ring: Int64, startingAt first: UInt32) throws(SQLiteError) {
        try delete.bind(1, ring)
        try delete.bind(2, Int64(first))
        try delete.run()
    }

    private func extend(ring: Int64, _ first: UInt32, to last: UInt32) throws(SQLiteError) {
        try setLast.bind(1, ring)
        try setLast.bind(2, Int64(first))
        try setLast.bind(3, Int64(last))
        try setLast.run()
    }
}
