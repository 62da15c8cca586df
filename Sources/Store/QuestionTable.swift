import BandProfile
import GatewayModel
import SQLite

/// The open questions of the rings: disjoint ranges, each with the cause that its gap would have.
struct QuestionTable {
    struct Row: Equatable {
        /// Up to `UInt32.max` where the end is not known.
        var seqs: ClosedRange<UInt32>
        var cause: GapCause

        func suspect(in ring: RingID) -> SuspectedGap {
            SuspectedGap(
                ring: ring, firstSeq: seqs.lowerBound,
                lastSeq: seqs.upperBound == .max ? nil : seqs.upperBound,
                cause: cause)
        }
    }

    private let database: Database
    private let lowest: Statement
    private let overlapping: Statement

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        lowest = try database.prepare("SELECT min(first_seq) FROM open_questions WHERE ring = ?")
        overlapping = try database.prepare(
            """
            SELECT first_seq, last_seq, cause FROM open_questions
            WHERE ring = ? AND first_seq <= ? AND last_seq >= ? ORDER BY first_seq
            """)
    }

    /// Adds what is not asked yet.
    func add(_ row: Row, ring: Int64) throws {
        let asked = try self.overlapping(ring: ring, row.seqs).map(\.seqs)
        for seqs in remaining(of: row.seqs, without: asked) {
            try put(Row(seqs: seqs, cause: row.cause), ring: ring)
        }
    }

    /// Takes out what was answered; a question that is cut is split.
    func subtract(ring: Int64, _ answered: ClosedRange<UInt32>) throws {
        for row in try overlapping(ring: ring, answered) {
            try database.run(
                "DELETE FROM open_questions WHERE ring = ? AND first_seq = ?", .integer(ring),
                .int(row.seqs.lowerBound))
            for rest in remaining(of: row.seqs, without: [answered]) {
                try put(Row(seqs: rest, cause: row.cause), ring: ring)
            }
        }
    }

    func overlapping(ring: Int64, _ range: ClosedRange<UInt32>) throws(SQLiteError) -> [Row] {
        defer { overlapping.reset() }
        try overlapping.bind(1, ring)
        try overlapping.bind(2, Int64(range.upperBound))
        try overlapping.bind(3, Int64(range.lowerBound))
        var rows: [Row] = []
        while try overlapping.step() { rows.append(Self.row(overlapping)) }
        return rows
    }

    func all(ring: Int64) throws(SQLiteError) -> [Row] { try overlapping(ring: ring, 0...UInt32.max) }

    func lowest(ring: Int64) throws(SQLiteError) -> UInt32? {
        defer { lowest.reset() }
        try lowest.bind(1, ring)
        guard try lowest.step(), !lowest.isNull(0) else { return nil }
        return UInt32(truncatingIfNeeded: lowest.int64(0))
    }

    /// Of every band.
    func everywhere() throws -> [OpenQuestion] {
        try database.all(
            """
            SELECT first_seq, last_seq, cause, rings.ring, device FROM open_questions
                JOIN rings ON rings.id = open_questions.ring JOIN bands ON bands.id = rings.band
            ORDER BY rings.id, first_seq
            """
        ) { row in
            DeviceID(row.text(4)).map {
                let ring = RingID(rawValue: UInt32(truncatingIfNeeded: row.int64(3)))
                return OpenQuestion(device: $0, suspect: Self.row(row).suspect(in: ring))
            }
        }.compactMap { $0 }
    }

    // MARK: Helpers

    private func put(_ row: Row, ring: Int64) throws(SQLiteError) {
        try database.run(
            "INSERT INTO open_questions (ring, first_seq, last_seq, cause) VALUES (?, ?, ?, ?)",
            .integer(ring),
            .int(row.seqs.lowerBound), .int(row.seqs.upperBound), .text(row.cause.rawValue))
    }

    private static func row(_ row: Statement) -> Row {
        let first = UInt32(truncatingIfNeeded: row.int64(0))
        // A damaged row must not trap.
        return Row(
            seqs: first...max(first, UInt32(truncatingIfNeeded: row.int64(1))),
            cause: GapCause(rawValue: row.text(2)) ?? .lostByBand)
    }
}
