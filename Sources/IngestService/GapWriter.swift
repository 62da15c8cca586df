import CivilTime
import IngestAPI
import SQLite
import Trends

/// Puts gaps inside a transaction, and notes which days of sleep change with them.
struct GapWriter {
    let database: Database
    let device: Int64
    let now: APITime

    /// Returns the gaps as they are stored now.
    func put(_ gaps: [APIGap]) throws -> [APIGap] {
        let table = GapTable(database: database)
        var touched = TouchedDays()
        var persons: [Int64]?
        let stored = try gaps.compactMap { gap in
            let before = try table.gap(ring: gap.ring, firstSeq: gap.firstSeq, device: device)
            try table.put(gap, device: device, now: now)
            let after = try table.gap(ring: gap.ring, firstSeq: gap.firstSeq, device: device)
            let changed = [before, after].map { $0.flatMap(TrendGap.init) }
            guard changed[0] != changed[1] else { return after }
            let worn = try persons ?? [0] + Names(database: database).persons(device: device)
            persons = worn
            for gap in changed { if let gap { touch(gap, of: worn, in: &touched) } }
            return after
        }
        try touched.write(device: device, in: database)
        return stored
    }

    /// A gap cuts the stage in which it begins.
    private func touch(_ gap: TrendGap, of persons: [Int64], in touched: inout TouchedDays) {
        let date = CivilDate(milliseconds: gap.after, offsetMinutes: 0)
        for person in persons { touched.insert(TouchedDay(person: person, type: .sleepStage, day: date)) }
    }
}
