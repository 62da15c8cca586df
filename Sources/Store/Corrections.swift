import BandProfile
import GatewayModel
import SQLite
import Timekeeping

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
    let writer: DerivedWriter
    let held: SeqIntervals

    /// Returns how many rows changed. `columns` gives a wearer's value of `samples.person`, `verdicts` reads it.
    @discardableResult
    func apply(
        ring: Int64, _ range: ClosedRange<UInt32>,
        _ change: (inout DerivedFields, BandFields) throws -> Void,
        columns: (WearerVerdict, _ published: Int64?) throws -> Int64?,
        verdicts: (Int64?) throws -> WearerVerdict
    ) throws -> Int {
        let (band, floor) = try versionFloor(ring: ring)
        var changed: [DerivedWriter.Row] = []
        try database.query(
            """
            SELECT key, value, recorded_at, band_time, tz_offset, clock_id, flags, version, time_uncertain,
                time_bound, offset_source, person
            FROM samples WHERE key BETWEEN ? AND ? ORDER BY key
            """, .integer(SampleKey.lowest(ring: ring, seq: range.lowerBound)),
            .integer(SampleKey.highest(ring: ring, seq: range.upperBound))
        ) { row in
            let key = SampleKey(packed: row.int64(0))
            guard let type = SampleType(rawValue: key.type) else { return }
            let person = row.optionalInt64(11)
            let before = DerivedFields(
                recordedAt: row.int64(2), bound: row.optionalInt64(9), isUncertain: row.bool(8),
                offsetQuarterHours: row.optionalInt(4),
                offsetSource: row.optionalInt(10).flatMap {
                    OffsetSource(rawValue: UInt8(truncatingIfNeeded: $0))
                },
                wearer: try verdicts(person))
            var after = before
            try change(
                &after,
                BandFields(
                    type: type, seq: key.seq, value: row.int(1), bandTimeMilliseconds: row.int64(3),
                    clockID: UInt16(truncatingIfNeeded: row.int64(5)),
                    flags: UInt8(truncatingIfNeeded: row.int64(6))))
            let wearer = try columns(after.wearer, person)
            // "Nobody was ever named" and "nobody" are the same until somebody was.
            if wearer == person { after.wearer = before.wearer }
            guard after != before else { return }
            changed.append(
                DerivedWriter.Row(
                    key: key, fields: after, person: wearer, version: max(floor, row.int64(7)) + 1))
        }
        for row in changed { try release(row.key) }
        let runs = try writer.write(changed, ring: ring)
        // What waits for the host's clock goes up when that is believed, however often it changes until then.
        for run in runs {
            for part in remaining(of: run, without: try held.overlapping(ring: ring, run)) {
                try unconfirmed.add(ring: ring, part)
            }
        }
        if let highest = changed.map(\.version).max() { try noteUsed(highest, band: band) }
        return changed.count
    }

    /// The band of a ring, and the version above which its corrections start.
    func versionFloor(ring: Int64) throws -> (band: Int64, floor: Int64) {
        try database.first(
            "SELECT bands.id, max(version_floor, 0) FROM rings JOIN bands ON bands.id = rings.band WHERE rings.id = ?",
            .integer(ring)
        ) { ($0.int64(0), $0.int64(1)) } ?? (0, 0)
    }

    func noteUsed(_ version: Int64, band: Int64) throws(SQLiteError) {
        try database.run(
            "UPDATE bands SET version_used = max(version_used, ?2) WHERE id = ?1", .integer(band),
            .integer(version))
    }

    /// A sample that the server refused gets another chance with its new fields. Its gap heals when the server takes it.
    private func release(_ key: SampleKey) throws(SQLiteError) {
        try database.run("DELETE FROM quarantine WHERE key = ?", .integer(key.packed))
    }
}
