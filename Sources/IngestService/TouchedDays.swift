import CivilTime
import IngestAPI
import SQLite

/// A civil day of one subject on the device at hand.
struct TouchedDay: Hashable {
    /// 0 = all samples of the device, whoever wore it.
    var person: Int64
    var type: APISampleType
    var day: CivilDate
}

/// The days whose samples a transaction changes: each is written once, however many samples it has.
struct TouchedDays {
    private var days: Set<TouchedDay> = []
    private var offsets = 0...0

    mutating func insert(_ place: TrendPlace) {
        days.insert(TouchedDay(person: place.person ?? 0, type: place.type, day: place.day))
        if let offset = place.tzOffsetMinutes, !offsets.contains(offset) {
            offsets = min(offset, offsets.lowerBound)...max(offset, offsets.upperBound)
        }
    }

    mutating func insert(_ day: TouchedDay) { days.insert(day) }

    /// In the transaction that changes what the days come to.
    func write(device: Int64, in database: Database) throws {
        guard !days.isEmpty else { return }
        if offsets != 0...0 {
            try database.run(
                """
                UPDATE devices SET least_offset_min = min(least_offset_min, ?2),
                    greatest_offset_min = max(greatest_offset_min, ?3)
                WHERE id = ?1 AND (least_offset_min > ?2 OR greatest_offset_min < ?3)
                """, .integer(device), .int(offsets.lowerBound), .int(offsets.upperBound))
        }
        let statement = try database.statement(Self.upsert)
        // A day that is touched again while it is computed must not count as computed: the stamp differs.
        let stamp = Int64.random(in: .min ... .max)
        // A person's day is the device's too.
        let all = days.union(days.map { TouchedDay(person: 0, type: $0.type, day: $0.day) })
        for touched in all {
            try statement.bind(1, device)
            try statement.bind(2, touched.person)
            try statement.bind(3, touched.type.code)
            try statement.bind(4, touched.day.days)
            try statement.bind(5, stamp)
            try statement.run()
        }
    }

    private static let upsert = """
        INSERT INTO touched_days (device_id, person_id, type, day, stamp) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET stamp = excluded.stamp
        """
}
