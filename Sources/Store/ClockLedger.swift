import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// The readings of the bands' clocks, and what the host's clock was worth at each.
///
/// A reading counts once the true time of its moment can be told: see `HostTimeline`.
final class ClockLedger {
    private let database: Database
    private var timelines: [String: HostTimeline] = [:]

    init(_ database: Database) { self.database = database }

    /// Forgets what was looked up, after a rollback.
    func forget() { timelines = [:] }

    // MARK: Readings

    struct Kept: Equatable {
        var id: Int64
        /// False for one that was known.
        var isNew: Bool
        /// Its true time can be told.
        var isResolved: Bool
    }

    /// Keeps a reading once, however many chunks bring it. `newestSeq` where the reading does not tell.
    func keep(_ reading: ClockReading, ring: Int64, newestSeq: UInt32) throws -> Kept {
        let isResolved = try timeline(of: reading.bootID).time(of: reading.hostStamp) != nil
        let known = try database.first(
            """
            SELECT id, host_time, band_time FROM clock_readings WHERE ring = ? AND clock_id = ?
            ORDER BY id DESC LIMIT 1
            """, .integer(ring), .int(reading.clockID)
        ) { row -> Int64? in
            let isSame =
                row.int64(1) == reading.hostTime.milliseconds && row.int64(2) == reading.bandTimeMilliseconds
            return isSame ? row.int64(0) : nil
        }
        if let known = known ?? nil { return Kept(id: known, isNew: false, isResolved: isResolved) }
        try database.run(
            """
            INSERT INTO clock_readings (ring, clock_id, band_time, host_time, host_monotonic, boot_id, bound,
                seconds_since_boot, host_trust, host_bound, newest_seq, newest_age)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(ring), .int(reading.clockID), .integer(reading.bandTimeMilliseconds),
            .integer(reading.hostTime.milliseconds), .integer(reading.hostMonotonicMilliseconds),
            .text(reading.bootID), .int(reading.boundMilliseconds), .int(reading.bandSecondsSinceBoot),
            .int(reading.hostTrust.rawValue), .integer(reading.hostBoundMilliseconds),
            .int(reading.newestSeq ?? newestSeq), .integer(reading.newestAgeMilliseconds))
        return Kept(id: database.lastInsertedRowID, isNew: true, isResolved: isResolved)
    }

    /// From here on the readings of this ring say nothing of the order of its records: the ring rolled back.
    func forgetOrder(ring: Int64) throws(SQLiteError) {
        try database.run("UPDATE clock_readings SET newest_seq = NULL WHERE ring = ?", .integer(ring))
    }

    struct Reading {
        var id: Int64
        var point: ClockPoint
    }

    /// The last reading before a record was measured whose time can be told.
    func before(_ seq: UInt32, ring: Int64) throws -> Reading? {
        try firstResolved(
            "ring = ?1 AND newest_seq < ?2 ORDER BY newest_seq DESC, id DESC", ring: ring, .int(seq))
    }

    /// The first reading after a record was measured whose time can be told.
    func after(_ seq: UInt32, ring: Int64) throws -> Reading? {
        try firstResolved("ring = ?1 AND newest_seq >= ?2 ORDER BY newest_seq, id", ring: ring, .int(seq))
    }

    /// The newest one of a clock, wherever its records lie.
    func newest(ring: Int64, clockID: UInt16) throws -> Reading? {
        try predecessor(of: .max, ring: ring, clockID: clockID)
    }

    /// The last one of the same clock before this one.
    func predecessor(of id: Int64, ring: Int64, clockID: UInt16) throws -> Reading? {
        try firstResolved(
            "ring = ?1 AND clock_id = ?3 AND id < ?2 ORDER BY id DESC", ring: ring, .integer(id), clockID)
    }

    /// The first one of the same clock after this one.
    func successor(of id: Int64, ring: Int64, clockID: UInt16) throws -> Reading? {
        try firstResolved(
            "ring = ?1 AND clock_id = ?3 AND id > ?2 ORDER BY id", ring: ring, .integer(id), clockID)
    }

    func reading(_ id: Int64, ring: Int64) throws -> Reading? {
        try firstResolved("ring = ?1 AND id = ?2 ORDER BY id", ring: ring, .integer(id))
    }

    /// A reading of this clock is kept whose time can't be told yet.
    func waits(ring: Int64, clockID: UInt16) throws -> Bool {
        let boots = try database.all(
            "SELECT DISTINCT boot_id FROM clock_readings WHERE ring = ? AND clock_id = ? AND host_trust = 0",
            .integer(ring), .int(clockID)
        ) { $0.text(0) }
        return try boots.contains { try !timeline(of: $0).hasAnchors(boot: $0) }
    }

    func isBroken(ring: Int64, clockID: UInt16) throws -> Bool {
        try database.first(
            "SELECT 1 FROM clock_readings WHERE ring = ? AND clock_id = ? AND contradicts LIMIT 1",
            .integer(ring), .int(clockID)
        ) { _ in true } ?? false
    }

    /// Compares a reading with the one before it. True when that changed what is known of the clock.
    func judge(_ reading: Reading, ring: Int64) throws -> Bool {
        let earlier = try predecessor(of: reading.id, ring: ring, clockID: reading.point.clockID)
        let contradicts = earlier.map { !$0.point.agrees(with: reading.point) } ?? false
        try database.run(
            "UPDATE clock_readings SET contradicts = ?2 WHERE id = ?1 AND contradicts != ?2",
            .integer(reading.id),
            .int(contradicts ? 1 : 0))
        return database.changes > 0
    }

    // MARK: The host

    /// Writes down what the host's clock is worth now. Readings of the same boot may be told the time of by it. Nil for
    /// a stamp that says nothing.
    func note(_ stamp: HostStamp) throws -> Int64? {
        guard stamp.trust > .implausible else { return nil }
        try database.run(
            "INSERT INTO host_anchors (boot_id, monotonic, wall, bound) VALUES (?, ?, ?, ?)",
            .text(stamp.bootID),
            .integer(stamp.monotonic), .integer(stamp.wall.milliseconds), .integer(stamp.boundMilliseconds))
        timelines[stamp.bootID] = nil
        return database.lastInsertedRowID
    }

    /// The readings of a boot that this stamp, kept as `anchor`, says much more of than their own stamp and all other
    /// anchors, for each ring from the first to the last. A clock on its own is off by a ten thousandth of the distance.
    func rings(improvedBy stamp: HostStamp, anchor: Int64) throws -> [(
        ring: Int64, first: Int64, last: Int64
    )] {
        try database.all(
            """
            SELECT ring, min(id), max(id) FROM clock_readings r WHERE boot_id = ?1
                AND min(iif(host_trust > 0, host_bound, 1 << 60), coalesce(
                    (SELECT min(a.bound + abs(r.host_monotonic - a.monotonic) / 10000) FROM host_anchors a
                        WHERE a.boot_id = ?1 AND a.id <> ?2), 1 << 60))
                    > ?3 * (?4 + abs(host_monotonic - ?5) / 10000)
            GROUP BY ring
            """, .text(stamp.bootID), .integer(anchor), .integer(AnchorRule.improvement),
            .integer(stamp.boundMilliseconds), .integer(stamp.monotonic)
        ) { ($0.int64(0), $0.int64(1), $0.int64(2)) }
    }

    func readings(ring: Int64, from first: Int64, to last: Int64) throws -> [Reading] {
        try database.all(
            "SELECT \(Self.columns) FROM clock_readings WHERE ring = ? AND id BETWEEN ? AND ? ORDER BY id",
            .integer(ring), .integer(first), .integer(last), row: Self.row
        ).compactMap(resolved)
    }

    // MARK: Helpers

    private static let columns = """
        id, clock_id, band_time, host_time, host_monotonic, boot_id, bound, host_trust, host_bound, newest_seq,
        newest_age
        """

    private struct Row {
        var id: Int64
        var point: ClockPoint
        var stamp: HostStamp
    }

    private static func row(_ row: Statement) -> Row {
        Row(
            id: row.int64(0),
            point: ClockPoint(
                clockID: UInt16(truncatingIfNeeded: row.int64(1)), bandTime: row.int64(2), time: 0,
                bound: row.int64(6), newestSeq: UInt32(truncatingIfNeeded: row.optionalInt64(9) ?? 0),
                newestAge: row.int64(10)),
            stamp: HostStamp(
                bootID: row.text(5), monotonic: row.int64(4), wall: Timestamp(milliseconds: row.int64(3)),
                trust: HostTrust(rawValue: row.int(7)) ?? .implausible, boundMilliseconds: row.int64(8)))
    }

    private func firstResolved(
        _ condition: String, ring: Int64, _ value: SQLiteValue, _ clockID: UInt16? = nil
    ) throws -> Reading? {
        let sql = "SELECT \(Self.columns) FROM clock_readings WHERE \(condition)"
        let found: Reading?? =
            if let clockID {
                try database.first(sql, .integer(ring), value, .int(clockID), row: firstResolved)
            } else {
                try database.first(sql, .integer(ring), value, row: firstResolved)
            }
        return found ?? nil
    }

    /// Steps on from the row at hand until one can be told the time of.
    private func firstResolved(_ row: Statement) throws -> Reading? {
        repeat {
            if let reading = try resolved(Self.row(row)) { return reading }
        } while try row.step()
        return nil
    }

    private func resolved(_ row: Row) throws -> Reading? {
        guard let (time, bound) = try timeline(of: row.stamp.bootID).time(of: row.stamp) else { return nil }
        var point = row.point
        point.time = time.milliseconds
        point.bound += bound
        return Reading(id: row.id, point: point)
    }

    private func timeline(of boot: String) throws -> HostTimeline {
        if let known = timelines[boot] { return known }
        let anchors = try database.all(
            "SELECT monotonic, wall, bound FROM host_anchors WHERE boot_id = ?", .text(boot)
        ) {
            HostStamp(
                bootID: boot, monotonic: $0.int64(0), wall: Timestamp(milliseconds: $0.int64(1)),
                trust: .plausible, boundMilliseconds: $0.int64(2))
        }
        let timeline = HostTimeline(anchors: anchors)
        // One boot at a time is looked at; a few more while old readings are.
        if timelines.count > 16 { timelines = [:] }
        timelines[boot] = timeline
        return timeline
    }
}
