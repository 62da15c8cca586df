import BandProfile
import GatewayModel
import SQLite
import Timekeeping

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

    // What is bound already. Single values: comparing them costs nothing beside an insert.
    private var clockID: UInt16?
    private var flags: UInt8?
    private var isBound = false
    private var offset: Int?
    private var source: OffsetSource?
    private var isUncertain = false
    private var timeBound: Int64?
    private var person: Int64?

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        insert = try database.prepare(
            """
            INSERT INTO samples (key, value, recorded_at, band_time, tz_offset, clock_id, flags, version,
                provenance, time_uncertain, time_bound, offset_source, person)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, 1, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING
            """)
        select = try database.prepare(
            "SELECT value, band_time, clock_id, flags, iif(offset_source = 0, tz_offset, NULL) FROM samples WHERE key = ?"
        )
    }

    /// Stores a record without a content fault, or compares it with what is stored under its key. `person` is the value
    /// of that column.
    @inline(__always)
    func insert(
        _ timed: TimedRecord, ring: Int64, derived: DerivedFields, person: Int64?, now: Timestamp
    ) throws -> Outcome {
        let record = timed.record
        let key = SampleKey(ring: ring, seq: record.seq, type: record.type)
        if timed.clockID != clockID {
            clockID = nil
            try insert.bind(6, Int64(timed.clockID))
            clockID = timed.clockID
        }
        if record.flags != flags {
            flags = nil
            try insert.bind(7, Int64(record.flags))
            flags = record.flags
        }
        try bind(derived, person: person)
        try insert.bind(1, key.packed)
        try insert.bind(2, Int64(record.value))
        try insert.bind(3, derived.recordedAt)
        try insert.bind(4, record.bandTimeMilliseconds)
        try insert.run()
        if database.changes == 1 { return .stored }
        return try compare(timed, key: key, derived: derived, person: person, now: now)
    }

    @inline(__always)
    private func bind(_ fields: borrowing DerivedFields, person: Int64?) throws(SQLiteError) {
        // Forgotten first: half of it may be bound when an error is thrown.
        let isFirst = !isBound
        isBound = false
        if isFirst || offset != fields.offsetQuarterHours {
            offset = fields.offsetQuarterHours
            try insert.bind(5, optional: offset.map(Int64.init))
        }
        if isFirst || isUncertain != fields.isUncertain {
            isUncertain = fields.isUncertain
            try insert.bind(8, isUncertain ? 1 : 0)
        }
        if isFirst || timeBound != fields.bound {
            timeBound = fields.bound
            try insert.bind(9, optional: timeBound)
        }
        if isFirst || source != fields.offsetSource {
            source = fields.offsetSource
            try insert.bind(10, optional: (source?.rawValue).map(Int64.init))
        }
        if isFirst || self.person != person {
            self.person = person
            try insert.bind(11, optional: person)
        }
        isBound = true
    }

    // MARK: A key that is known

    /// Nothing is taken for known by its number alone: equal in all that the band gave, or a conflict.
    private func compare(
        _ timed: TimedRecord, key: SampleKey, derived: DerivedFields, person: Int64?, now: Timestamp
    ) throws -> Outcome {
        let record = timed.record
        let offset =
            record.offsetQuarterHours == HistoryRecord.unknownOffset ? nil : Int64(record.offsetQuarterHours)
        let isEqual: Bool
        do {
            defer { select.reset() }
            try select.bind(1, key.packed)
            guard try select.step() else { return .duplicate }
            isEqual =
                select.int64(0) == Int64(record.value) && select.int64(1) == record.bandTimeMilliseconds
                && select.int64(2) == Int64(timed.clockID) && select.int64(3) == Int64(record.flags)
                && select.optionalInt64(4) == offset
        }
        if isEqual { return .duplicate }
        let known = try database.first(
            """
            SELECT 1 FROM conflicts WHERE key = ? AND value = ? AND band_time = ? AND clock_id = ? AND flags = ?
                AND iif(offset_source = 0, tz_offset, NULL) IS ?
            """, .integer(key.packed), .int(record.value), .integer(record.bandTimeMilliseconds),
            .int(timed.clockID), .int(record.flags), .optional(offset)
        ) { _ in true }
        if known != nil { return .duplicate }
        try database.run(
            """
            INSERT INTO conflicts (key, value, recorded_at, band_time, tz_offset, clock_id, flags, version,
                provenance, time_uncertain, time_bound, offset_source, person, noted_at, state)
            VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?, ?, 0)
            """, .integer(key.packed), .int(record.value), .integer(derived.recordedAt),
            .integer(record.bandTimeMilliseconds), .optional(derived.offsetQuarterHours), .int(timed.clockID),
            .int(record.flags), .int(derived.isUncertain ? 1 : 0), .optional(derived.bound),
            .optional(derived.offsetSource?.rawValue), .optional(person), .integer(now.milliseconds))
        return .conflict
    }
}
