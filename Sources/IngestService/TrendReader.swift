import CivilTime
import IngestAPI
import SQLite
import Trends

/// Answers `GET /v1/aggregates` on one snapshot: from stored days, and from samples where those are not up to date.
/// So an answer tells all that was ever acknowledged, and needs no write.
struct TrendReader {
    let database: Database

    /// Nil when the query names a device that is not known.
    func list(_ query: AggregateQuery, account: String) throws -> AggregateList? {
        let names = Names(database: database)
        let days: [CivilDate: TrendDay]
        switch query.subject {
        case .device(let name):
            guard let device = try names.device(name, account: account) else { return nil }
            days = try self.days(TrendSubject(device: device, person: 0, type: query.type), query)
        case .person(let name):
            days = try person(name, account: account, query)
        }
        let buckets = TrendBuckets.make(
            type: query.type, days: days, from: query.dates.lowerBound, to: query.dates.upperBound,
            bucket: query.bucket, zone: query.zone)
        return AggregateList(type: query.type, bucket: query.bucket, buckets: buckets)
    }

    /// A person's days, device by device; none for a person that is not known.
    private func person(_ name: String, account: String, _ query: AggregateQuery) throws -> [CivilDate:
        TrendDay]
    {
        let names = Names(database: database)
        guard let person = try names.person(name, account: account) else { return [:] }
        var found: [CivilDate: [String: TrendDay]] = [:]
        for (device, name) in try names.devices(person: person) {
            let days = try days(TrendSubject(device: device, person: person, type: query.type), query)
            for (date, day) in days { found[date, default: [:]][name] = day }
        }
        return found.compactMapValues(TrendDay.merged)
    }

    /// The days of one subject that have anything; maybe more than those that are asked for.
    func days(_ subject: TrendSubject, _ query: AggregateQuery) throws -> [CivilDate: TrendDay] {
        let table = TrendTable(database: database, subject: subject)
        let source = try TrendSource(database: database, subject: subject)
        // A zone moves a sample without an offset of its own to the day before or after. Its stage and its sleep may
        // end four hours later: no zone is so far from UTC that this makes it two days.
        let margin = query.zone == nil ? 0 : 1
        let dates = query.dates
        let wide = dates.lowerBound.advanced(by: -margin)...dates.upperBound.advanced(by: margin)
        let stored = try table.stored(wide)
        var stale = Set(try stale(wide, table, source))
        for (date, stored) in stored where stored.day == nil || (margin > 0 && stored.floats) {
            stale.insert(date)
        }
        if margin > 0 {
            stale = Set(stale.flatMap { $0.advanced(by: -margin)...$0.advanced(by: margin) })
        }
        var days = stored.compactMapValues(\.day).filter { !stale.contains($0.key) }
        let computed = try source.days(stale.filter(dates.contains).sorted(), zone: query.zone)
        days.merge(computed) { _, computed in computed }
        return days
    }

    /// The dates of `dates` for which the stored day, or its absence, can't be trusted.
    private func stale(
        _ dates: ClosedRange<CivilDate>, _ table: TrendTable, _ source: TrendSource
    ) throws -> [CivilDate] {
        guard table.subject.type == .sleepStage else { return try table.touched(dates) }
        // A change of sleep is felt as far as sleeps reach: hardly ever beyond a day or two, but there is no bound
        // forwards, and offsets within a day, twice, bound it backwards.
        let last = dates.upperBound.advanced(by: 4)
        let touched = try table.touched(CivilDate(days: .min)...last)
        if touched.count > Self.walksAtMost { return Array(dates) }
        let walk = SleepWalk(source: source)
        return try touched.runs(longest: .max).flatMap {
            let reached = try walk.dates(touchedOn: $0)
            return reached.overlaps(dates) ? Array(reached.clamped(to: dates)) : []
        }
    }

    /// Past it all that is asked for is computed from samples.
    private static let walksAtMost = 32
}
