import IngestAPI
import SQLite

/// Reads pages of samples in the order (recorded_at, device, ring, seq), type last where a seq repeats.
struct SampleReader {
    let database: Database

    private static let columns = """
        d.name, s.ring, s.type, s.seq, s.value, s.recorded_at_ms, s.tz_offset_min, s.version, s.provenance, \
        s.band_time_ms, s.clock_id, s.flags, s.time_bound_ms, s.time_uncertain, p.name
        """

    /// Nil when the query names a device that is not known.
    func page(_ query: SampleQuery, account: String) throws -> SamplesPage? {
        let names = Names(database: database)
        let filter: String
        let subject: Int64
        switch query.subject {
        case .device(let device):
            guard let id = try names.device(device, account: account) else { return nil }
            (filter, subject) = ("s.device_id = ?1", id)
        case .person(let person):
            guard let id = try names.person(person, account: account) else {
                return SamplesPage(samples: [], nextCursor: nil)
            }
            (filter, subject) = ("s.person_id = ?1", id)
        }
        // One more than asked for tells whether another page follows.
        var samples = try read(query, filter: filter, subject: subject, limit: query.limit + 1)
        let more = samples.count > query.limit
        if more { samples.removeLast() }
        return SamplesPage(
            samples: samples, nextCursor: more ? samples.last.map { SamplePosition(of: $0).cursor } : nil)
    }

    private func read(
        _ query: SampleQuery, filter: String, subject: Int64, limit: Int
    ) throws -> [StoredSample] {
        // A cursor only moves the start forward; the first bound lets the index seek to it.
        let start = max(query.from ?? .earliest, query.after?.recordedAt ?? .earliest)
        let after = query.after
        return try database.all(
            Self.sql(filter: filter), .integer(subject), .integer(start.milliseconds),
            .optional(query.to?.milliseconds),
            .optional(query.type?.code), .optional(after?.recordedAt.milliseconds), .optional(after?.device),
            .optional(after.map { RingCode.number($0.ring) }), .optional(after?.seq),
            .optional(after?.type.code), .int(limit), row: Self.sample
        ).compactMap { $0 }
    }

    /// Parameter 1 is what `filter` compares with, 10 the limit; the others may be NULL but for the start, 2.
    static func sql(filter: String) -> String {
        """
        SELECT \(columns) FROM samples s
        JOIN devices d ON d.id = s.device_id LEFT JOIN persons p ON p.id = s.person_id
        WHERE \(filter) AND s.recorded_at_ms >= ?2 AND (?3 IS NULL OR s.recorded_at_ms < ?3)
            AND (?4 IS NULL OR s.type = ?4)
            AND (?5 IS NULL OR (s.recorded_at_ms, d.name, s.ring, s.seq, s.type) > (?5, ?6, ?7, ?8, ?9))
        ORDER BY s.recorded_at_ms, d.name, s.ring, s.seq, s.type LIMIT ?10
        """
    }

    private static func sample(_ row: Statement) -> StoredSample? {
        guard let type = APISampleType(code: row.int(2)) else { return nil }
        let sample = APISample(
            type: type, seq: UInt32(clamping: row.int64(3)), value: row.int(4),
            recordedAt: APITime(milliseconds: row.int64(5)), tzOffsetMinutes: row.optionalInt(6),
            version: row.int(7), provenance: APIProvenance(code: row.int(8)),
            bandTimeMilliseconds: row.int64(9),
            clockID: UInt16(clamping: row.int64(10)), flags: UInt8(clamping: row.int64(11)),
            timeBoundMilliseconds: row.optionalInt(12), timeUncertain: row.bool(13),
            person: row.optionalText(14).map(PersonField.assigned) ?? .cleared)
        return StoredSample(deviceID: row.text(0), ring: RingCode.text(row.int64(1)), sample: sample)
    }
}
