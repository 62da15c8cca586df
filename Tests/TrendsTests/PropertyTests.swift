import CivilTime
import IngestAPI
import Testing
import Trends

/// Random lives, beside the naive model. A failure names the seed; `TRENDS_SEED` in the environment begins there.
@Suite struct PropertyTests {
    private static let from = CivilDate(milliseconds: RandomLife.start, offsetMinutes: 0).advanced(by: -2)
    private static let to = from.advanced(by: RandomLife.days + 4)

    private func hourKey(_ bucket: AggregateBucket) -> String {
        NaiveModel.hourKey(bucket.start.milliseconds, bucket.offsetMinutes)
    }

    static let summed: [APISampleType] = [.heartRate, .spo2, .steps]

    @Test("days and hours of values", arguments: RandomLife.seeds, summed)
    func values(seed: UInt64, type: APISampleType) {
        var life = RandomLife(seed: seed)
        let (samples, zone) = (life.samples(type), life.zone())
        let model = NaiveModel(zone: zone)
        let (days, hours) = (model.days(samples), model.hours(samples))
        let ours = TrendDays.compute(type: type, samples: samples, zone: zone)
        #expect(Set(ours.keys.map(\.description)) == Set(days.keys))
        for bucket in TrendBuckets.make(
            type: type, days: ours, from: Self.from, to: Self.to, bucket: .day, zone: zone)
        {
            compare(bucket, type, days[bucket.localDate.description] ?? [])
        }
        var seen: Set<String> = []
        for bucket in TrendBuckets.make(
            type: type, days: ours, from: Self.from, to: Self.to, bucket: .hour, zone: zone)
        {
            compare(bucket, type, hours[hourKey(bucket)] ?? [])
            #expect(seen.insert(hourKey(bucket)).inserted)
            #expect(hourKey(bucket).hasPrefix("\(bucket.localDate) "))
        }
        #expect(Set(hours.keys).isSubset(of: seen))
    }

    private func compare(_ bucket: AggregateBucket, _ type: APISampleType, _ samples: [TrendSample]) {
        let values = samples.map(\.value)
        #expect(bucket.count == values.count)
        if type == .steps {
            #expect(bucket.sum == values.reduce(0, +))
        } else {
            #expect(bucket.min == values.min() && bucket.max == values.max())
            #expect(bucket.mean?.description == NaiveModel.mean(values))
        }
        let resting = type == .heartRate ? NaiveModel.resting(samples) : nil
        #expect((bucket.resting != nil) == (resting != nil))
        if let resting, let ours = bucket.resting { #expect(abs(ours.value - resting) < 0.0501) }
    }

    @Test("the frame of days and hours", arguments: RandomLife.seeds)
    func frames(seed: UInt64) {
        var life = RandomLife(seed: seed)
        let (samples, zone) = (life.samples(.steps), life.zone())
        let model = NaiveModel(zone: zone)
        let ours = TrendDays.compute(type: .steps, samples: samples, zone: zone)
        let days = TrendBuckets.make(
            type: .steps, days: ours, from: Self.from, to: Self.to, bucket: .day, zone: zone)
        let hours = TrendBuckets.make(
            type: .steps, days: ours, from: Self.from, to: Self.to, bucket: .hour, zone: zone)
        if zone != nil {
            compareWithZone(model, days, hours, lived: model.days(samples), livedHours: model.hours(samples))
        } else {
            compareWithSamples(model, days, lived: model.days(samples))
        }
        for day in days {
            let own = hours.filter { $0.localDate == day.localDate }
            #expect(own.allSatisfy { $0.minutesInDay == day.minutesInDay })
            #expect(own.map(\.start) == own.map(\.start).sorted())
            #expect(own.reduce(0) { $0 + ($1.sum ?? 0) } == day.sum)
        }
    }

    private func compareWithZone(
        _ model: NaiveModel, _ days: [AggregateBucket], _ hours: [AggregateBucket],
        lived: [String: [TrendSample]], livedHours: [String: [TrendSample]]
    ) {
        let zone = model.zoneDays()
        for day in days {
            guard let expected = zone.days[day.localDate.description] else {
                #expect(lived[day.localDate.description] != nil)
                continue
            }
            #expect(
                (day.start.milliseconds, day.offsetMinutes, day.minutesInDay)
                    == (expected.start, expected.offset, expected.minutes))
        }
        let dates = (Self.from...Self.to).map(\.description)
        let shown = dates.filter { zone.days[$0] != nil || lived[$0] != nil }
        #expect(days.map(\.localDate.description) == shown)
        // The zone's hours, without those that were lived elsewhere instead.
        let ownHours = zone.hours.keys.filter { key in
            guard livedHours[key] == nil else { return true }
            let hour = key.prefix(13)
            return !livedHours.keys.contains { $0.hasPrefix(hour) && zone.hours[$0] == nil }
        }
        let skipped = Set(dates.filter { zone.days[$0] == nil })
        let expected = Set(ownHours + livedHours.keys).filter {
            dates.contains(String($0.prefix(10))) && !skipped.contains(String($0.prefix(10)))
        }
        let found = Set(hours.filter { !skipped.contains($0.localDate.description) }.map(hourKey))
        #expect(found == expected, "\(found.symmetricDifference(expected).sorted())")
        for hour in hours
        where livedHours[hourKey(hour)] == nil && !skipped.contains(hour.localDate.description) {
            #expect(hour.start.milliseconds == zone.hours[hourKey(hour)])
        }
    }

    private func compareWithSamples(
        _ model: NaiveModel, _ days: [AggregateBucket], lived: [String: [TrendSample]]
    ) {
        var offset = days.compactMap { lived[$0.localDate.description]?.first }.first.map(model.offset) ?? 0
        for day in days {
            let samples = lived[day.localDate.description] ?? []
            let first = samples.first.map(model.offset) ?? offset
            offset = samples.last.map(model.offset) ?? offset
            #expect(day.offsetMinutes == first)
            #expect(day.minutesInDay == 1440 - (offset - first))
            #expect(
                day.start.milliseconds
                    == APITime("\(day.localDate)T00:00:00Z").map { $0.milliseconds - Int64(first) * 60_000 })
        }
        #expect(days.count == RandomLife.days + 5)
    }

    @Test("sleeps and their hours", arguments: RandomLife.seeds)
    func sleep(seed: UInt64) {
        var life = RandomLife(seed: seed)
        let (samples, zone, gaps) = (life.samples(.sleepStage), life.zone(), life.gaps())
        let naive = NaiveSleep(samples, gaps: gaps, model: NaiveModel(zone: zone))
        let ours = TrendDays.compute(type: .sleepStage, samples: samples, gaps: gaps, zone: zone)
        func sleep(_ bucket: AggregateBucket) -> NaiveSleep.Sleep {
            let minutes = bucket.minutes.map { [$0.awake, $0.light, $0.deep, $0.rem, $0.outOfBed] } ?? []
            return NaiveSleep.Sleep(records: bucket.count, minutes: minutes.map { $0.tenths / 10 })
        }
        for bucket in TrendBuckets.make(
            type: .sleepStage, days: ours, from: Self.from, to: Self.to, bucket: .day, zone: zone)
        {
            #expect(sleep(bucket) == naive.days[bucket.localDate.description] ?? NaiveSleep.Sleep())
        }
        let hours = TrendBuckets.make(
            type: .sleepStage, days: ours, from: Self.from, to: Self.to, bucket: .hour, zone: zone)
        for bucket in hours { #expect(sleep(bucket) == naive.hours[hourKey(bucket)] ?? NaiveSleep.Sleep()) }
        #expect(Set(naive.hours.keys).isSubset(of: hours.map(hourKey)))
    }

    @Test("two bands of one person", arguments: RandomLife.seeds, APISampleType.allCases)
    func person(seed: UInt64, type: APISampleType) {
        var life = RandomLife(seed: seed)
        let (one, two, zone) = (life.samples(type), life.samples(type), life.zone())
        let days = [one, two].map { TrendDays.compute(type: type, samples: $0, zone: zone) }
        let model = NaiveModel(zone: zone)
        for date in Self.from...Self.to {
            var bands: [String: TrendDay] = [:]
            for (name, days) in zip(["x", "a"], days) { bands[name] = days[date] }
            guard let merged = TrendDay.merged(bands) else { continue }
            let name = date.description
            switch type {
            case .heartRate, .spo2:
                let samples = (model.days(one)[name] ?? []) + (model.days(two)[name] ?? [])
                #expect(merged.figures.sum == Int64(samples.reduce(0) { $0 + $1.value }))
                #expect(merged.figures.count == samples.count)
                #expect(merged.figures.min == samples.map(\.value).min())
                #expect(merged.figures.max == samples.map(\.value).max())
            case .steps:
                let (first, second) = (model.hours(one), model.hours(two))
                let keys = Set(first.keys).union(second.keys).filter { $0.hasPrefix(name) }
                let best = keys.map { key in
                    [first, second].map { ($0[key] ?? []).reduce(0) { $0 + $1.value } }.max() ?? 0
                }
                #expect(merged.figures.sum == Int64(best.reduce(0, +)))
            case .sleepStage:
                let naive = [one, two].map { NaiveSleep($0, gaps: [], model: model).days[name] }
                let asleep = naive.map { ($0?.minutes[1...3].reduce(0, +)) ?? 0 }
                #expect(merged.figures.stages.asleep == Int64(asleep.max() ?? 0) * 60_000)
            }
        }
    }
}
