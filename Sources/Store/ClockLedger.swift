import GatewayModel
import SQLite

/// What turns the band times under one clock_id into wall time.
struct ClockBase: Equatable {
    var clockID: UInt16
    /// Add to band time, ms.
    var offset: Int64
    /// clock_readings.id that gave the offset.
    var reading: Int64?
    /// The offset is that of another clock, or none at all.
    var uncertain: Bool
}

/// The clock readings of the rings, and the samples that still wait for one.
struct ClockLedger {
    let database: Database

    /// Keeps a reading once, however many chunks bring it.
    func keep(_ reading: ClockReading, ring: Int64) throws -> Int64 {
        let known = try database.first(
            """
            SELECT id FROM clock_readings WHERE ring = ? AND clock_id = ? AND host_time = ? AND band_time = ?
            ORDER BY id DESC LIMIT 1
            """, .integer(ring), .int(reading.clockID), .integer(reading.hostTime.milliseconds),
            .integer(reading.bandTimeMilliseconds)
        ) { $0.int64(0) }
        if let known { return known }
        try database.run(
            """
            INSERT INTO clock_readings
                (ring, clock_id, band_time, host_time, host_monotonic, boot_id, bound, seconds_since_boot)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(ring), .int(reading.clockID), .integer(reading.bandTimeMilliseconds),
            .integer(reading.hostTime.milliseconds), .integer(reading.hostMonotonicMilliseconds),
            .text(reading.bootID), .int(reading.boundMilliseconds), .int(reading.bandSecondsSinceBoot))
        return database.lastInsertedRowID
    }

    /// The offset for records under `clockID`: of this connection's reading when it read that clock, else of the
    /// newest reading of it, else of this connection's, marked uncertain. Times under two clock_ids are unrelated
    /// (Band History Profile 1, "Clock").
    func base(for clockID: UInt16, ring: Int64, current: (reading: ClockReading, id: Int64)?) throws
        -> ClockBase
    {
        if let current, current.reading.clockID == clockID {
            return ClockBase(
                clockID: clockID, offset: current.reading.offsetMilliseconds, reading: current.id,
                uncertain: false)
        }
        let stored = try database.first(
            """
            SELECT id, host_time - band_time FROM clock_readings WHERE ring = ? AND clock_id = ?
            ORDER BY id DESC LIMIT 1
            """, .integer(ring), .int(clockID)
        ) { ClockBase(clockID: clockID, offset: $0.int64(1), reading: $0.int64(0), uncertain: false) }
        return stored
            ?? ClockBase(
                clockID: clockID, offset: current?.reading.offsetMilliseconds ?? 0, reading: current?.id,
                uncertain: true)
    }

    // MARK: Samples that wait for a reading

    /// Samples just stored with an uncertain time.
    func noteUncertain(ring: Int64, clockID: UInt16, _ run: ClosedRange<UInt32>) throws {
        // A run that goes on where the last one ended becomes one with it.
        try database.run(
            "UPDATE uncertain SET last_seq = ?4 WHERE ring = ?1 AND clock_id = ?2 AND last_seq = ?3 - 1",
            .integer(ring), .int(clockID), .int(run.lowerBound), .int(run.upperBound))
        guard database.changes == 0 else { return }
        try database.run(
            """
            INSERT INTO uncertain VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET last_seq = max(last_seq, excluded.last_seq)
            """, .integer(ring), .int(clockID), .int(run.lowerBound), .int(run.upperBound))
    }

    /// The lowest seqs, at most `limit` of them, that wait for a reading of `clockID`.
    func waiting(ring: Int64, clockID: UInt16, limit: UInt32) throws -> ClosedRange<UInt32>? {
        try database.first(
            "SELECT first_seq, last_seq FROM uncertain WHERE ring = ? AND clock_id = ? ORDER BY first_seq LIMIT 1",
            .integer(ring), .int(clockID)
        ) {
            let first = UInt32(truncatingIfNeeded: $0.int64(0))
            let last = max(first, UInt32(truncatingIfNeeded: $0.int64(1)))
            return
                first...min(
                    last, first.addingReportingOverflow(limit - 1).overflow ? .max : first + limit - 1)
        }
    }

    func settled(ring: Int64, clockID: UInt16, _ range: ClosedRange<UInt32>) throws {
        try database.run(
            """
            DELETE FROM uncertain WHERE ring = ?1 AND clock_id = ?2 AND first_seq = ?3 AND last_seq <= ?4
            """, .integer(ring), .int(clockID), .int(range.lowerBound), .int(range.upperBound))
        guard database.changes == 0, range.upperBound < .max else { return }
        try database.run(
            "UPDATE uncertain SET first_seq = ?4 + 1 WHERE ring = ?1 AND clock_id = ?2 AND first_seq = ?3",
            .integer(ring), .int(clockID), .int(range.lowerBound), .int(range.upperBound))
    }
}
