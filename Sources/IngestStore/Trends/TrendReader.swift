import CivilTime
import IngestAPI
import Trends

/// Answers `GET /v1/aggregates` on one snapshot: from stored days, and from samples where those are not up to date.
/// So an answer tells all that was ever acknowledged, and needs no write.
struct TrendReader {
    let session: any SQLSession

    /// Nil when the query names a device that is not known.
    func list(_ query: AggregateQuery, account: String) throws(StorageFailure) -> AggregateList? {
        let days: [CivilDate: TrendDay]
        var frozen: CivilDate?
        switch query.subject {
        case .device(let name):
            let key = DeviceKey(account: account, name: name)
            guard let row = try DeviceRow.read(key, in: session) else { return nil }
            days = try self.days(TrendSubject(person: nil, type: query.type), key, row, query)
            frozen = row.frozenThrough
        case .person(let name):
            (days, frozen) = try person(name, account: account, query)
        }
        var buckets = TrendBuckets.make(
            type: query.type, days: days, from: query.dates.lowerBound, to: query.dates.upperBound,
            bucket: query.bucket, zone: query.zone)
        for index in buckets.indices {
            if let frozen, buckets[index].localDate <= frozen { buckets[index].isFrozen = true }
        }
        return AggregateList(type: query.type, bucket: query.bucket, buckets: buckets)
    }

    /// A person's days, device by device; none for a person that is not known.
    private func person(
        _ name: String, account: String, _ query: AggregateQuery
    ) throws(StorageFailure) -> ([CivilDate: TrendDay], frozen: CivilDate?) {
        var found: [CivilDate: [String: TrendDay]] = [:]
        var frozen: CivilDate?
        for device in try PersonReads(session: session).devices(of: name, account: account) {
            guard let row = try DeviceRow.read(device, in: session) else { continue }
            let subject = TrendSubject(person: OpaqueID(name), type: query.type)
            for (date, day) in try days(subject, device, row, query) {
                found[date, default: [:]][device.name] = day
            }
            frozen = [frozen, row.frozenThrough].compactMap { $0 }.max()
        }
        return (found.compactMapValues(TrendDay.merged), frozen)
    }

    /// The days of one subject that have anything; maybe more than those that are asked for.
    func days(
        _ subject: TrendSubject, _ device: DeviceKey, _ row: DeviceRow, _ query: AggregateQuery
    ) throws(StorageFailure) -> [CivilDate: TrendDay] {
        let source = TrendSource(
            kept: DeviceSamples(device, session), subject: subject, offsets: row.offsets)
        // A zone moves a sample without an offset of its own to the day before or after. Its stage and its sleep may
        // end four hours later: no zone is so far from UTC that this makes it two days.
        let margin = query.zone == nil ? 0 : 1
        let dates = query.dates
        let wide = dates.lowerBound.advanced(by: -margin)...dates.upperBound.advanced(by: margin)
        var stored: [CivilDate: TrendDay] = [:]
        var stale = Set(try stale(wide, row.touched, source))
        let key = DeviceDay.Key(type: subject.type, person: subject.person)
        for (date, content) in try TrendTable(device: device).contents(wide, in: session) {
            do {
                stored[date] = try TrendCode.day(content, date: date, only: key).days[key]
            } catch {
                stale.insert(date)
            }
            // A zone could move some of its samples to another day.
            if margin > 0, let day = stored[date], day.withoutOffset > 0 { stale.insert(date) }
        }
        if margin > 0 {
            stale = Set(stale.flatMap { $0.advanced(by: -margin)...$0.advanced(by: margin) })
        }
        // Of a frozen day the samples may be gone: what is stored is all there is.
        if let frozen = row.frozenThrough { stale = stale.filter { $0 > frozen } }
        var days = stored.filter { !stale.contains($0.key) }
        let computed = try source.days(stale.filter(dates.contains).sorted(), zone: query.zone)
        days.merge(computed) { _, computed in computed }
        return days
    }

    /// The dates of `dates` for which the stored day, or its absence, can't be trusted.
    private func stale(
        _ dates: ClosedRange<CivilDate>, _ touched: TouchedDays, _ source: TrendSource
    ) throws(StorageFailure) -> [CivilDate] {
        let ranges = touched.ranges(source.subject.type)
        guard source.subject.type == .sleepStage else {
            return ranges.filter { $0.overlaps(dates) }.flatMap { Array($0.clamped(to: dates)) }
        }
        // A change of sleep is felt as far as sleeps reach: hardly ever beyond a day or two, but there is no bound
        // forwards, and offsets within a day, twice, bound it backwards.
        let last = dates.upperBound.advanced(by: 4)
        let near = ranges.filter { $0.lowerBound <= last }
        if near.count > Self.walksAtMost { return Array(dates) }
        var stale: [CivilDate] = []
        for range in near {
            let reached = try SleepWalk(source: source).dates(touchedOn: range)
            if reached.overlaps(dates) { stale += Array(reached.clamped(to: dates)) }
        }
        return stale
    }

    /// Past it all that is asked for is computed from samples.
    private static let walksAtMost = 32
}
