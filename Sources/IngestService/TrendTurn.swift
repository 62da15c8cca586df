import CivilTime
import IngestAPI
import SQLite
import Trends

/// Touched days of one device, as they are on one snapshot.
struct TrendTurn: Sendable {
    let device: Int64
    private var parts: [Part] = []

    /// Days that are right as long as none of the marks was set again.
    private struct Part: Sendable {
        var subject: TrendSubject
        var marks: [TouchedMark]
        var dates: [CivilDate]
        /// Those of `dates` that have samples.
        var days: [CivilDate: TrendDay]
    }

    /// Takes up to `marks` marks.
    init(device: Int64, marks limit: Int, in database: Database) throws {
        self.device = device
        var marks: [TrendSubject: [TouchedMark]] = [:]
        try database.query(Self.select, .integer(device), .int(limit)) { row in
            guard let type = APISampleType(code: row.int(1)) else { return }
            let subject = TrendSubject(device: device, person: row.int64(0), type: type)
            marks[subject, default: []].append(
                TouchedMark(day: CivilDate(days: row.int(2)), stamp: row.int64(3)))
        }
        for (subject, marks) in marks {
            let source = try TrendSource(database: database, subject: subject)
            parts += try subject.type == .sleepStage ? Self.sleep(marks, source) : Self.days(marks, source)
        }
    }

    /// Each day for itself.
    private static func days(_ marks: [TouchedMark], _ source: TrendSource) throws -> [Part] {
        let days = try source.days(marks.map(\.day))
        return marks.map { Part(subject: source.subject, marks: [$0], dates: [$0.day], days: days) }
    }

    /// Days that share sleeps go together.
    private static func sleep(_ marks: [TouchedMark], _ source: TrendSource) throws -> [Part] {
        let walk = SleepWalk(source: source)
        var dates: Set<CivilDate> = []
        for run in marks.map(\.day).runs(longest: .max) { dates.formUnion(try walk.dates(touchedOn: run)) }
        let sorted = dates.sorted()
        return [Part(subject: source.subject, marks: marks, dates: sorted, days: try source.days(sorted))]
    }

    /// In a transaction. What was touched again stays touched, and nothing is stored for it.
    func store(in database: Database) throws {
        for part in parts {
            let table = TrendTable(database: database, subject: part.subject)
            guard try part.marks.allSatisfy({ try table.isCurrent($0) }) else { continue }
            for date in part.dates { try table.put(part.days[date], on: date) }
            for mark in part.marks { try table.clear(mark) }
        }
    }

    private static let select = """
        SELECT person_id, type, day, stamp FROM touched_days WHERE device_id = ?
        ORDER BY person_id, type, day LIMIT ?
        """
}
