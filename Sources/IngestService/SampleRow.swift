import IngestAPI
import SQLite

/// A sample in the tables `samples` and `conflicts`.
enum SampleRow {
    /// In this order in both tables and in every binding.
    private static let columns = """
        device_id, ring, type, seq, value, band_time_ms, clock_id, flags, provenance, version, \
        recorded_at_ms, tz_offset_min, time_bound_ms, time_uncertain, person_id
        """

    /// Does nothing for a known key: `changes` tells.
    static let insert = """
        INSERT INTO samples (\(columns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """

    static func bind(
        _ sample: APISample, device: Int64, ring: Int64, person: Int64?, to statement: Statement
    ) throws(SQLiteError) {
        try statement.bind(1, device)
        try statement.bind(2, ring)
        try statement.bind(3, sample.type.code)
        try statement.bind(4, sample.seq)
        try statement.bind(5, sample.value)
        try statement.bind(6, sample.bandTimeMilliseconds)
        try statement.bind(7, sample.clockID)
        try statement.bind(8, sample.flags)
        try statement.bind(9, sample.provenance.code)
        try statement.bind(10, sample.version)
        try statement.bind(11, sample.recordedAt.milliseconds)
        try bind(sample.tzOffsetMinutes, 12, to: statement)
        try bind(sample.timeBoundMilliseconds, 13, to: statement)
        try statement.bind(14, sample.timeUncertain ? 1 : 0)
        try bind(person, 15, to: statement)
    }

    private static func bind(
        _ value: (some BinaryInteger)?, _ parameter: Int32, to statement: Statement
    ) throws(SQLiteError) {
        if let value { try statement.bind(parameter, value) } else { try statement.bindNull(parameter) }
    }

    /// What is stored under the key of `sample`.
    static func known(
        _ sample: APISample, device: Int64, ring: Int64, in database: Database
    ) throws -> StoredRaw {
        let row = try database.first(
            """
            SELECT value, band_time_ms, clock_id, flags, version, time_bound_ms, time_uncertain,
                recorded_at_ms, tz_offset_min, person_id
            FROM samples WHERE device_id = ? AND ring = ? AND type = ? AND seq = ?
            """, .integer(device), .integer(ring), .int(sample.type.code), .int(sample.seq)
        ) {
            StoredRaw(
                value: $0.int(0), bandTimeMilliseconds: $0.int64(1), clockID: $0.int(2), flags: $0.int(3),
                version: $0.int(4),
                bound: TimeBound(milliseconds: $0.optionalInt(5), uncertain: $0.bool(6)),
                person: $0.optionalInt64(9),
                place: TrendPlace(
                    sample.type, recordedAt: APITime(milliseconds: $0.int64(7)),
                    tzOffsetMinutes: $0.optionalInt(8), person: $0.optionalInt64(9), flags: $0.int(3),
                    uncertain: $0.bool(6)))
        }
        guard let row else { throw StorageFailure(.defect, "a known sample vanished") }
        return row
    }

    /// Makes the derived fields of `sample` current. What the band gave and the provenance stay.
    static func replaceDerived(
        _ sample: APISample, device: Int64, ring: Int64, person: Int64?, in database: Database
    ) throws {
        try database.run(
            """
            UPDATE samples SET version = ?5, recorded_at_ms = ?6, tz_offset_min = ?7, time_bound_ms = ?8,
                time_uncertain = ?9, person_id = CASE WHEN ?10 THEN person_id ELSE ?11 END
            WHERE device_id = ?1 AND ring = ?2 AND type = ?3 AND seq = ?4
            """, .integer(device), .integer(ring), .int(sample.type.code), .int(sample.seq),
            .int(sample.version), .integer(sample.recordedAt.milliseconds), .optional(sample.tzOffsetMinutes),
            .optional(sample.timeBoundMilliseconds), .int(sample.timeUncertain ? 1 : 0),
            .int(sample.person == .unchanged ? 1 : 0), .optional(person))
    }

    /// Keeps a sample that conflicts. The same one sent again is kept once.
    static func keepBeside(
        _ sample: APISample, device: Int64, ring: Int64, person: Int64?, now: APITime, in database: Database
    ) throws {
        let statement = try database.statement(
            """
            INSERT INTO conflicts (\(columns), received_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """)
        try bind(sample, device: device, ring: ring, person: person, to: statement)
        try statement.bind(16, now.milliseconds)
        try statement.run()
    }
}
