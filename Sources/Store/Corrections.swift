import BandProfile
import GatewayModel
import SQLite

/// What the gateway itself says of a sample, and may say better later. What the band gave never changes.
public struct DerivedFields: Equatable, Sendable {
    public var recordedAt: Timestamp
    /// Quarter hours east of UTC; nil = not known.
    public var offsetQuarterHours: Int?
    public var provenance: Provenance
    public var timeUncertain: Bool
    /// The row of the clock reading that gave the offset.
    var clockReading: Int64?
}

/// What the band gave, for a correction to judge by.
public struct BandFields: Equatable, Sendable {
    public var type: SampleType
    public var seq: UInt32
    public var value: Int
    public var bandTimeMilliseconds: Int64
    public var clockID: UInt16
    public var flags: UInt8
}

/// Changes derived fields: each changed row gets a higher version, above all that the server has, and goes up again.
struct Corrections {
    let database: Database
    let unconfirmed: SeqIntervals
    let gaps: GapLedger

    /// Returns how many rows changed.
    @discardableResult
    func apply(
        ring: Int64, band: Int64, _ range: ClosedRange<UInt32>, now: Timestamp,
        _ change: (inout DerivedFields, BandFields) -> Void
    ) throws -> Int {
        let floor =
            try database.first("SELECT max(version_floor, 0) FROM bands WHERE id = ?", .integer(band)) {
                $0.int64(0)
            }
            ?? 0
        var changed: [(key: SampleKey, fields: DerivedFields, version: Int64)] = []
        try database.query(
            """
            SELECT key, value, recorded_at, band_time, tz_offset, clock_id, clock_reading, flags, version,
                provenance, time_uncertain
            FROM samples WHERE key BETWEEN ? AND ? ORDER BY key
            """, .integer(SampleKey.lowest(ring: ring, seq: range.lowerBound)),
            .integer(SampleKey.highest(ring: ring, seq: range.upperBound))
        ) { row in
            let key = SampleKey(packed: row.int64(0))
            guard let type = SampleType(rawValue: key.type) else { return }
            let before = DerivedFields(
                recordedAt: Timestamp(milliseconds: row.int64(2)), offsetQuarterHours: row.optionalInt(4),
                provenance: Provenance(rawValue: UInt8(truncatingIfNeeded: row.int64(9))) ?? .unknown,
                timeUncertain: row.bool(10), clockReading: row.optionalInt64(6))
            var after = before
            change(
                &after,
                BandFields(
                    type: type, seq: key.seq, value: row.int(1), bandTimeMilliseconds: row.int64(3),
                    clockID: UInt16(truncatingIfNeeded: row.int64(5)),
                    flags: UInt8(truncatingIfNeeded: row.int64(7))))
            if after != before { changed.append((key, after, max(floor, row.int64(8)) + 1)) }
        }
        var runs = SeqRuns()
        for (key, fields, version) in changed {
            try write(fields, version: version, to: key)
            try release(key, now: now)
            runs.append(key.seq)
        }
        for run in runs.runs { try unconfirmed.add(ring: ring, run) }
        if let highest = changed.map(\.version).max() {
            try database.run(
                "UPDATE bands SET version_used = max(version_used, ?2) WHERE id = ?1", .integer(band),
                .integer(highest))
        }
        return changed.count
    }

    private func write(_ fields: DerivedFields, version: Int64, to key: SampleKey) throws(SQLiteError) {
        try database.run(
            """
            UPDATE samples SET recorded_at = ?2, tz_offset = ?3, provenance = ?4, time_uncertain = ?5,
                clock_reading = ?6, version = ?7
            WHERE key = ?1
            """, .integer(key.packed), .integer(fields.recordedAt.milliseconds),
            .optional(fields.offsetQuarterHours), .int(fields.provenance.rawValue),
            .int(fields.timeUncertain ? 1 : 0), .optional(fields.clockReading), .integer(version))
    }

    /// A sample that the server refused gets another chance with its new fields.
    private func release(_ key: SampleKey, now: Timestamp) throws {
        try database.run("DELETE FROM quarantine WHERE key = ?", .integer(key.packed))
        if database.changes > 0 { try gaps.heal(ring: key.ring, key.seq...key.seq, now: now) }
    }
}
