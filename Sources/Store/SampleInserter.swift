import BandProfile
import GatewayModel
import SQLite

/// The hot path: one prepared insert a record, integers only. Bindings survive a reset, so what seldom changes
/// from one record to the next is bound only when it does.
final class SampleInserter {
    enum Outcome {
        case stored
        case duplicate
        /// Kept beside the first reading of the same key.
        case conflict
    }

    private let database: Database
    private let insert: Statement
    private let select: Statement

    private var base: ClockBase?
    private var offsetQuarterHours: Int8?
    private var flags: UInt8?

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        insert = try database.prepare(
            """
            INSERT INTO samples (key, value, recorded_at, band_time, tz_offset, clock_id, clock_reading, flags,
                version, provenance, time_uncertain)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, 1, ?9) ON CONFLICT DO NOTHING
            """)
        select = try database.prepare(
            "SELECT value, band_time, tz_offset, clock_id, flags, version FROM samples WHERE key = ?")
    }

    /// Stores a record without a content fault, or compares it with what is stored under its key.
    @inline(__always)
    func insert(_ record: HistoryRecord, ring: Int64, base: ClockBase, now: Timestamp) throws -> Outcome {
        let key = SampleKey(ring: ring, seq: record.seq, type: record.type)
        let bandTime = record.bandTimeMilliseconds
        if base != self.base { try bind(base) }
        if record.offsetQuarterHours != offsetQuarterHours { try bind(offset: record.offsetQuarterHours) }
        if record.flags != flags {
            try insert.bind(8, Int64(record.flags))
            flags = record.flags
        }
        try insert.bind(1, key.packed)
        try insert.bind(2, Int64(record.value))
        try insert.bind(3, bandTime + base.offset)
        try insert.bind(4, bandTime)
        try insert.run()
        if database.changes == 1 { return .stored }
        return try compare(record, key: key, base: base, now: now)
    }

    private func bind(_ base: ClockBase) throws(SQLiteError) {
        // Forgotten first: half of it may be bound when an error is thrown.
        self.base = nil
        try insert.bind(6, Int64(base.clockID))
        if let reading = base.reading { try insert.bind(7, reading) } else { try insert.bindNull(7) }
        try insert.bind(9, base.uncertain ? 1 : 0)
        self.base = base
    }

    private func bind(offset: Int8) throws(SQLiteError) {
        offsetQuarterHours = nil
        if offset == HistoryRecord.unknownOffset {
            try insert.bindNull(5)
        } else {
            try insert.bind(5, Int64(offset))
        }
        offsetQuarterHours = offset
    }

    // MARK: A key that is known

    /// Nothing is taken for known by its number alone: equal in all that the band gave, or a conflict.
    private func compare(
        _ record: HistoryRecord, key: SampleKey, base: ClockBase, now: Timestamp
    ) throws -> Outcome {
        let offset: Int64? =
            record.offsetQuarterHours == HistoryRecord.unknownOffset ? nil : Int64(record.offsetQuarterHours)
        let isEqual: Bool
        do {
            defer { select.reset() }
            try select.bind(1, key.packed)
            guard try select.step() else { return .duplicate }
            isEqual =
                select.int64(0) == Int64(record.value) && select.int64(1) == record.bandTimeMilliseconds
                && select.int64(3) == Int64(base.clockID) && select.int64(4) == Int64(record.flags)
                // A higher version may have another offset: it is a derived field (ingest API 1).
                && (select.int64(5) > 1 || select.optionalInt64(2) == offset)
        }
        if isEqual { return .duplicate }
        let known = try database.first(
            """
            SELECT 1 FROM conflicts WHERE key = ? AND value = ? AND band_time = ? AND tz_offset IS ?
                AND clock_id = ? AND flags = ?
            """, .integer(key.packed), .int(record.value), .integer(record.bandTimeMilliseconds),
            .optional(offset), .int(base.clockID), .int(record.flags)
        ) { _ in true }
        if known != nil { return .duplicate }
        try database.run(
            """
            INSERT INTO conflicts (key, value, recorded_at, band_time, tz_offset, clock_id, clock_reading, flags,
                version, provenance, time_uncertain, noted_at, state)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?, 0)
            """, .integer(key.packed), .int(record.value),
            .integer(record.bandTimeMilliseconds + base.offset), .integer(record.bandTimeMilliseconds),
            .optional(offset), .int(base.clockID), .optional(base.reading), .int(record.flags),
            .int(base.uncertain ? 1 : 0), .integer(now.milliseconds))
        return .conflict
    }
}
