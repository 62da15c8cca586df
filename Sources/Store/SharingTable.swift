import GatewayModel
import SQLite

/// Which bands another gateway syncs, too, and how far what lies here was compared with what the server has.
///
/// Two gateways meet at the server alone, and it tells nobody that a sample was said better. Who sent a sample first
/// only learns of it by looking: at what is new, and little by little at all that is older.
struct SharingTable {
    let database: Database
    let band: Int64

    /// Sweeps for which a band counts as shared after another gateway was last seen on it.
    private static let sweeps = 60

    func noteOthers() throws(SQLiteError) {
        try database.run("UPDATE bands SET sweeps = ?2 WHERE id = ?1", .integer(band), .int(Self.sweeps))
    }

    func isShared() throws -> Bool {
        try database.first("SELECT sweeps > 0 FROM bands WHERE id = ?", .integer(band)) { $0.bool(0) }
            ?? false
    }

    // MARK: Reports

    /// Before a status is sent: if its answer is lost, the server may have it all the same.
    func noteSending(report: String) throws(SQLiteError) {
        try database.run("UPDATE bands SET sent_report = ?2 WHERE id = ?1", .integer(band), .text(report))
    }

    func noteTaken(report: String) throws(SQLiteError) {
        try database.run("UPDATE bands SET report = ?2 WHERE id = ?1", .integer(band), .text(report))
    }

    /// The statuses that the server may have from here.
    func reports() throws -> [String] {
        try database.first("SELECT sent_report, report FROM bands WHERE id = ?", .integer(band)) { row in
            [row.optionalText(0), row.optionalText(1)].compactMap { $0 }
        } ?? []
    }

    // MARK: Sweeps

    /// The newest `count` samples of a shared band, and as many of those that are older: each sweep goes on where the
    /// last one ended. Nil when the band is not shared.
    func sweep(count: Int) throws -> [(ring: Int64, seqs: ClosedRange<UInt32>)]? {
        let position = try database.first(
            "SELECT swept FROM bands WHERE id = ? AND sweeps > 0", .integer(band)
        ) { $0.int64(0) }
        guard let position else { return nil }
        var (ranges, reached) = try highest(count, below: .max)
        // Further down than the newest ones, which come anyway.
        let start = position == 0 ? reached : min(position, reached)
        if start > 0 {
            let older = try highest(count, below: start)
            ranges += older.ranges
            reached = older.reached
        }
        try database.run(
            "UPDATE bands SET sweeps = sweeps - 1, swept = ?2 WHERE id = ?1", .integer(band),
            .integer(reached))
        return ranges
    }

    /// The highest samples below `key`, the newest rings first, and the lowest key among them; 0 when nothing is below.
    private func highest(
        _ count: Int, below key: Int64
    ) throws -> (ranges: [(ring: Int64, seqs: ClosedRange<UInt32>)], reached: Int64) {
        var ranges: [(ring: Int64, seqs: ClosedRange<UInt32>)] = []
        var left = count
        let rings = try database.all("SELECT id FROM rings WHERE band = ? ORDER BY id DESC", .integer(band)) {
            $0.int64(0)
        }
        for ring in rings {
            let top = min(SampleKey.highest(ring: ring, seq: .max), key - 1)
            let bottom = SampleKey.lowest(ring: ring, seq: 0)
            guard bottom <= top else { continue }
            let found = try database.first(
                """
                SELECT min(key), max(key), count(*) FROM
                    (SELECT key FROM samples WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?)
                """, .integer(bottom), .integer(top), .int(left)
            ) { ($0.int64(0), $0.int64(1), $0.int(2)) }
            guard let (low, high, number) = found, number > 0 else { continue }
            ranges.append((ring, SampleKey(packed: low).seq...SampleKey(packed: high).seq))
            left -= number
            if left <= 0 { return (ranges, low) }
        }
        return (ranges, 0)
    }
}
