import GatewayModel
import SQLite

/// Takes care that a correction is above all versions that the server has seen of its band. A gateway that was restored
/// from an older copy, or that corrected while it was offline, may have given versions that are known there already:
/// such a correction would count as a duplicate.
struct OutboxVersions {
    let database: Database
    let unconfirmed: SeqIntervals

    /// Samples of one transaction, so that no commit of the sync waits long for it.
    private static let slice = 500

    /// The highest version that this gateway gave or heard of.
    func known(band: Int64) throws -> Int64 {
        try database.first(
            "SELECT max(version_used, version_floor) FROM bands WHERE id = ?", .integer(band)
        ) { $0.int64(0) } ?? 0
    }

    /// Corrections of this band start above `version` from now on.
    func raiseFloor(band: Int64, to version: Int64) throws(SQLiteError) {
        try database.run(
            "UPDATE bands SET version_floor = max(version_floor, ?2) WHERE id = ?1", .integer(band),
            .integer(version))
    }

    /// Corrected samples that are still to be sent, and whose version says nothing new to a server that has seen
    /// `version`; those above `key`, at most a slice of them.
    func stale(ring: Int64, upTo version: Int64, above key: Int64) throws -> [Int64] {
        var ranges: [ClosedRange<UInt32>] = []
        try unconfirmed.forEach(ring: ring) {
            ranges.append($0)
            return true
        }
        ranges += try database.all(
            "SELECT first_seq, last_seq FROM held WHERE ring = ? ORDER BY first_seq", .integer(ring)
        ) { row in
            let first = UInt32(truncatingIfNeeded: row.int64(0))
            return first...max(first, UInt32(truncatingIfNeeded: row.int64(1)))
        }
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var keys: [Int64] = []
        for range in ranges where keys.count < Self.slice {
            let first = max(SampleKey.lowest(ring: ring, seq: range.lowerBound), key + 1)
            let last = SampleKey.highest(ring: ring, seq: range.upperBound)
            guard first <= last else { continue }
            keys += try database.all(
                """
                SELECT key FROM samples WHERE key BETWEEN ? AND ? AND version > 1 AND version <= ?
                ORDER BY key LIMIT ?
                """, .integer(first), .integer(last), .integer(version), .int(Self.slice - keys.count)
            ) { $0.int64(0) }
        }
        return keys
    }

    /// In a transaction of the caller's.
    func raise(_ keys: [Int64], above version: Int64, band: Int64) throws(SQLiteError) {
        for key in keys {
            try database.run(
                "UPDATE samples SET version = ?2 WHERE key = ?1 AND version <= ?3", .integer(key),
                .integer(version + 1), .integer(version))
        }
        try database.run(
            "UPDATE bands SET version_used = max(version_used, ?2) WHERE id = ?1", .integer(band),
            .integer(version + 1))
    }
}
