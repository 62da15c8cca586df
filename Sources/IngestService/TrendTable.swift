import CivilTime
import IngestAPI
import SQLite
import Trends

/// The tables `trend_days` and `touched_days`, for one subject.
struct TrendTable {
    let database: Database
    let subject: TrendSubject

    struct Stored {
        /// Nil when another version of this program wrote it in a way that this one can't read.
        var day: TrendDay?
        /// A zone could move some of its samples to another day.
        var floats: Bool
    }

    func stored(_ dates: ClosedRange<CivilDate>) throws -> [CivilDate: Stored] {
        var days: [CivilDate: Stored] = [:]
        try database.query(
            Self.select, .integer(subject.device), .integer(subject.person), .int(subject.type.code),
            .int(dates.lowerBound.days), .int(dates.upperBound.days)
        ) { row in
            let date = CivilDate(days: row.int(0))
            days[date] = Stored(
                day: TrendCode.day(row.text(2), type: subject.type, date: date), floats: row.bool(1))
        }
        return days
    }

    /// Days of `dates` whose stored trend can't be trusted, in order.
    func touched(_ dates: ClosedRange<CivilDate>) throws -> [CivilDate] {
        try database.all(
            Self.selectTouched, .integer(subject.device), .integer(subject.person), .int(subject.type.code),
            .int(dates.lowerBound.days), .int(dates.upperBound.days)
        ) { CivilDate(days: $0.int(0)) }
    }

    func put(_ day: TrendDay?, on date: CivilDate) throws {
        guard let day else {
            try database.run(
                "DELETE FROM trend_days WHERE device_id = ? AND person_id = ? AND type = ? AND day = ?",
                .integer(subject.device), .integer(subject.person), .int(subject.type.code), .int(date.days))
            return
        }
        try database.run(
            """
            INSERT INTO trend_days (device_id, person_id, type, day, floating, content) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET floating = excluded.floating, content = excluded.content
            """, .integer(subject.device), .integer(subject.person), .int(subject.type.code),
            .int(date.days), .int(day.withoutOffset), .text(TrendCode.text(day)))
    }

    /// False when a mark is gone or was set again since it was read: its day may have changed.
    func isCurrent(_ mark: TouchedMark) throws -> Bool {
        let stamp = try database.first(
            "SELECT stamp FROM touched_days WHERE device_id = ? AND person_id = ? AND type = ? AND day = ?",
            .integer(subject.device), .integer(subject.person), .int(subject.type.code),
            .int(mark.day.days)
        ) { $0.int64(0) }
        return stamp == mark.stamp
    }

    func clear(_ mark: TouchedMark) throws {
        try database.run(
            "DELETE FROM touched_days WHERE device_id = ? AND person_id = ? AND type = ? AND day = ?",
            .integer(subject.device), .integer(subject.person), .int(subject.type.code), .int(mark.day.days))
    }

    private static let select = """
        SELECT day, floating, content FROM trend_days
        WHERE device_id = ? AND person_id = ? AND type = ? AND day BETWEEN ? AND ?
        """

    private static let selectTouched = """
        SELECT day FROM touched_days
        WHERE device_id = ? AND person_id = ? AND type = ? AND day BETWEEN ? AND ? ORDER BY day
        """
}
