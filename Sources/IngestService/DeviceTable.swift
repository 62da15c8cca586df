import IngestAPI
import SQLite

/// Reads and writes what is known of a device beside its samples.
struct DeviceTable {
    let database: Database

    func states(account: String) throws -> [DeviceState] {
        let names = try database.all(
            """
            SELECT d.id, d.name FROM devices d JOIN accounts a ON a.id = d.account_id
            WHERE a.name = ? ORDER BY d.name
            """, .text(account)
        ) { ($0.int64(0), $0.text(1)) }
        return try names.compactMap { try state(id: $0, name: $1) }
    }

    func state(id: Int64, name: String) throws -> DeviceState? {
        let rings = RingTable(database: database)
        let row = try database.first(
            """
            SELECT max_version, report,
                (SELECT min(recorded_at_ms) FROM samples WHERE device_id = ?1),
                (SELECT max(recorded_at_ms) FROM samples WHERE device_id = ?1)
            FROM devices WHERE id = ?1
            """, .integer(id)
        ) { ($0.int(0), $0.optionalText(1), $0.optionalInt64(2), $0.optionalInt64(3)) }
        guard let (maxVersion, report, first, last) = row else { return nil }
        return DeviceState(
            deviceID: name, rings: try rings.states(device: id), maxVersion: maxVersion,
            firstRecordedAt: first.map(APITime.init(milliseconds:)),
            lastRecordedAt: last.map(APITime.init(milliseconds:)), counts: try rings.counts(device: id),
            status: try report.map { try APIJSON.decode(from: Array($0.utf8)) })
    }

    func put(_ report: DeviceReport, device: Int64) throws {
        let text = String(decoding: try APIJSON.encode(report), as: UTF8.self)
        try database.run("UPDATE devices SET report = ? WHERE id = ?", .text(text), .integer(device))
    }

    func ranges(device: Int64) throws -> [DayRange] {
        // Integer division rounds towards zero; days before 1970 round down.
        var ranges: [DayRange] = []
        try database.query(
            """
            SELECT ring, type,
                (recorded_at_ms - (recorded_at_ms % 86400000 + 86400000) % 86400000) / 86400000 AS day,
                count(*), min(seq), max(seq)
            FROM samples WHERE device_id = ? GROUP BY ring, type, day ORDER BY ring, type, day
            """, .integer(device)
        ) { row in
            guard let type = APISampleType(code: row.int(1)) else { return }
            ranges.append(
                DayRange(
                    ring: RingCode.text(row.int64(0)), type: type,
                    day: APITime(milliseconds: row.int64(2) * 86_400_000).day, count: row.int(3),
                    minSeq: UInt32(clamping: row.int64(4)), maxSeq: UInt32(clamping: row.int64(5))))
        }
        return ranges
    }
}
