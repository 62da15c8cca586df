import IngestAPI
import SQLite
import SampleChunks

/// From a row for each sample (versions 1 and 2 of the SQLite file) to chunks.
enum RowsToChunks {
    private static let old = [
        "accounts", "devices", "persons", "rings", "ring_types", "samples", "conflicts", "gaps", "probe",
        "trend_days",
        "touched_days", "person_devices",
    ]
    /// In the order in which nothing points at what is gone.
    private static let dropped = [
        "touched_days", "trend_days", "person_devices", "gaps", "conflicts", "samples", "ring_types", "rings",
        "persons", "devices", "accounts", "probe",
    ]

    static func setAside(_ database: Database) throws {
        for table in old where try exists(table, in: database) {
            try database.execute("ALTER TABLE \(table) RENAME TO old_\(table)")
        }
        for index in ["samples_by_time", "samples_by_person", "person_devices_by_device"] {
            try database.execute("DROP INDEX IF EXISTS \(index)")
        }
    }

    static func move(_ database: Database, from version: Int) throws {
        try database.execute(
            """
            INSERT INTO accounts SELECT name, 0 FROM old_accounts;
            INSERT INTO persons SELECT a.name, p.name, p.record
                FROM old_persons p JOIN old_accounts a ON a.id = p.account_id;
            """)
        let devices = try database.all(
            """
            SELECT d.id, a.name, d.name, d.max_version, d.report, d.lease_holder, d.lease_expires_ms
            FROM old_devices d JOIN old_accounts a ON a.id = d.account_id
            """
        ) { row in
            OldDevice(
                number: row.int64(0), key: DeviceKey(account: row.text(1), name: row.text(2)),
                maxVersion: row.int64(3), report: row.optionalText(4), holder: row.optionalText(5),
                expires: row.optionalInt64(6))
        }
        for device in devices { try move(device, in: database) }
        for table in dropped { try database.execute("DROP TABLE IF EXISTS old_\(table)") }
    }

    private struct OldDevice {
        let number: Int64
        let key: DeviceKey
        let maxVersion: Int64
        let report: String?
        let holder: String?
        let expires: Int64?
    }

    private static func move(_ device: OldDevice, in database: Database) throws {
        let id = SQLiteValue.blob(device.key.id)
        var touched = TouchedDays()
        var offsets = 0...0
        var persons: [OpaqueID] = []
        try forEachRing(device, in: database) { ring, samples in
            for sample in samples {
                if let place = TrendPlace(sample) { touched.insert(place.type, place.day) }
                if let offset = sample.tzOffsetMinutes, !offsets.contains(offset) {
                    offsets = min(offset, offsets.lowerBound)...max(offset, offsets.upperBound)
                }
                if case .assigned(let person) = sample.person, !persons.contains(person) {
                    persons.append(person)
                }
            }
            for chunk in ChunkLayout.cut(samples) {
                let times = chunk.map(\.recordedAt.milliseconds)
                try database.run(
                    """
                    INSERT INTO chunks (device_id, ring, first_seq, last_seq, samples, first_ms, last_ms, received_ms, content)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """, id, .integer(ring), .int(chunk.map(\.seq).min() ?? 0),
                    .int(chunk.map(\.seq).max() ?? 0),
                    .int(chunk.count), .integer(times.min() ?? 0), .integer(times.max() ?? 0),
                    // Nobody noted when they came: as late as can be, so that nothing expires too early.
                    .integer(WallClock.now().milliseconds), .blob(ChunkCoder.encode(chunk)))
            }
        }
        try database.run(
            """
            INSERT INTO devices (device_id, account, name, max_version, least_offset_min, greatest_offset_min, persons,
                touched, report, lease_holder, lease_expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, id, .text(device.key.account), .text(device.key.name), .integer(device.maxVersion),
            .int(offsets.lowerBound), .int(offsets.upperBound),
            .text(persons.map(\.text).joined(separator: "\n")),
            .text(touched.text), .optional(device.report), .optional(device.holder), .optional(device.expires)
        )
        try database.run(
            "INSERT INTO account_devices VALUES (?, ?, ?)", .text(device.key.account), .text(device.key.name),
            id)
        for person in persons {
            try database.run(
                "INSERT INTO person_devices VALUES (?, ?, ?, ?)", .text(device.key.account),
                .text(person.text),
                .text(device.key.name), id)
        }
        try moveRest(device, in: database)
    }

    private static func moveRest(_ device: OldDevice, in database: Database) throws {
        let id = SQLiteValue.blob(device.key.id)
        let number = SQLiteValue.integer(device.number)
        try database.run(
            """
            INSERT INTO rings SELECT ?1, r.ring, r.complete_through, r.first_seen_ms, coalesce(
                (SELECT group_concat(type || ' ' || max_seq || ' ' || keys, ' ') FROM old_ring_types t
                    WHERE t.device_id = r.device_id AND t.ring = r.ring), '')
            FROM old_rings r WHERE device_id = ?2
            """, id, number)
        try database.run(
            """
            INSERT INTO gaps SELECT ?1, ring, first_seq, last_seq, after_ms, before_ms, cause, healed_ms
            FROM old_gaps WHERE device_id = ?2
            """, id, number)
        try database.query(
            "\(select("old_conflicts")), s.received_ms \(from("old_conflicts")) WHERE s.device_id = ?", number
        ) { row in
            guard let sample = sample(row) else { return }
            try database.run(
                """
                INSERT INTO conflicts (device_id, ring, type, seq, value, band_time_ms, clock_id, flags, received_ms, sample)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, id, .integer(row.int64(0)), .int(sample.type.code), .int(sample.seq), .int(sample.value),
                .integer(sample.bandTimeMilliseconds), .int(sample.clockID), .int(sample.flags),
                .integer(row.int64(14)), .blob(ChunkCoder.encode([sample])))
        }
    }

    /// In the order of seqs, some thousands at a time, never parting samples of one seq or chunk.
    private static func forEachRing(
        _ device: OldDevice, in database: Database, _ body: (Int64, [APISample]) throws -> Void
    ) throws {
        let rings = try database.all(
            "SELECT DISTINCT ring FROM old_samples WHERE device_id = ?", .integer(device.number)
        ) { $0.int64(0) }
        for ring in rings {
            var samples: [APISample] = []
            try database.query(
                "\(select("old_samples")) \(from("old_samples")) WHERE s.device_id = ? AND s.ring = ? ORDER BY s.seq",
                .integer(device.number), .integer(ring)
            ) { row in
                guard let sample = sample(row) else { return }
                if samples.count >= 16 * ChunkLayout.mostSamples, samples.last?.seq != sample.seq {
                    try body(ring, samples)
                    samples = []
                }
                samples.append(sample)
            }
            if !samples.isEmpty { try body(ring, samples) }
        }
    }

    private static func select(_ table: String) -> String {
        """
        SELECT s.ring, s.type, s.seq, s.value, s.recorded_at_ms, s.tz_offset_min, s.version, s.provenance, s.band_time_ms,
            s.clock_id, s.flags, s.time_bound_ms, s.time_uncertain, p.name
        """
    }

    private static func from(_ table: String) -> String {
        "FROM \(table) s LEFT JOIN old_persons p ON p.id = s.person_id"
    }

    private static func sample(_ row: Statement) -> APISample? {
        guard let type = APISampleType(code: row.int(1)) else { return nil }
        return APISample(
            type: type, seq: UInt32(clamping: row.int64(2)), value: row.int(3),
            recordedAt: APITime(milliseconds: row.int64(4)), tzOffsetMinutes: row.optionalInt(5),
            version: row.int(6), provenance: APIProvenance(code: row.int(7)),
            bandTimeMilliseconds: row.int64(8),
            clockID: UInt16(clamping: row.int64(9)), flags: UInt8(clamping: row.int64(10)),
            timeBoundMilliseconds: row.optionalInt(11), timeUncertain: row.bool(12),
            person: row.optionalText(13).map { .assigned(OpaqueID($0)) } ?? .cleared)
    }

    private static func exists(_ table: String, in database: Database) throws -> Bool {
        try database.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(table)) {
            _ in true
        }
            ?? false
    }
}
