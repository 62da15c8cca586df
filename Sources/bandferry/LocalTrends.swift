import BandProfile
import CivilTime
import GatewayModel
import IngestAPI
import Store
import Trends

/// Trends of what is stored here, computed by the rules that the server has, too.
struct LocalTrends {
    let reader: StoreReader
    /// For samples without an offset of their own, and for how long a day is.
    let zone: ZoneRules
    let dates: ClosedRange<CivilDate>
    let bucket: AggregateBucketSize

    func ofBand(_ device: DeviceID, _ type: SampleType) throws -> AggregateList {
        list(type, try days(of: device, type, wearer: nil))
    }

    /// Of every band that the person ever wore.
    func ofPerson(_ person: PersonID, _ type: SampleType) throws -> AggregateList {
        let devices = Set(try reader.assignments().filter { $0.person == person }.map(\.device))
        var byDate: [CivilDate: [String: TrendDay]] = [:]
        for device in devices {
            for (date, day) in try days(of: device, type, wearer: person) {
                byDate[date, default: [:]][device.text] = day
            }
        }
        return list(type, byDate.compactMapValues(TrendDay.merged))
    }

    private func list(_ type: SampleType, _ days: [CivilDate: TrendDay]) -> AggregateList {
        AggregateList(
            type: type.api, bucket: bucket,
            buckets: TrendBuckets.make(
                type: type.api, days: days, from: dates.lowerBound, to: dates.upperBound, bucket: bucket,
                zone: zone))
    }

    private func days(
        of device: DeviceID, _ type: SampleType, wearer: PersonID?
    ) throws -> [CivilDate: TrendDay] {
        let gaps = try reader.gaps(device).compactMap { TrendGap($0.gap) }
        let samples = try samples(of: device, type, wearer: wearer, gaps: gaps)
        return TrendDays.compute(type: type.api, samples: samples, gaps: gaps, zone: zone)
    }

    // MARK: samples

    /// In order of time. A sleep may have begun on an earlier day: of those as much as the first day needs.
    private func samples(
        of device: DeviceID, _ type: SampleType, wearer: PersonID?, gaps: [TrendGap]
    ) throws -> [TrendSample] {
        let end = SleepLookback.end(of: dates.upperBound) + SleepRules.longestSilence
        let start = SleepLookback.start(of: dates.lowerBound)
        func read(from: Int64, to: Int64) throws -> [TrendSample] {
            try reader.samples(
                of: device, type: type, from: Timestamp(milliseconds: from), to: Timestamp(milliseconds: to)
            ).compactMap { sample in
                guard wearer.map({ sample.wearer == .person($0) }) ?? true else { return nil }
                return TrendSample(sample)
            }
        }
        var samples = try read(from: start, to: end)
        guard type == .sleepStage else { return samples }
        // Mostly two days back are enough, nearly always a month; else all that there is.
        for days: Int64 in [2, 32, 36_500] {
            samples = try read(from: start - days * millisecondsPerDay, to: end)
            var lookback = SleepLookback(from: dates.lowerBound, gaps: gaps)
            if samples.reversed().contains(where: { lookback.isEnough($0) }) { break }
        }
        return samples
    }
}

extension SampleType {
    /// The same type as the ingest API names it.
    var api: APISampleType {
        switch self {
        case .heartRate: .heartRate
        case .steps: .steps
        case .spo2: .spo2
        case .sleepStage: .sleepStage
        }
    }
}

extension TrendSample {
    /// Nil for one that trends leave out.
    init?(_ sample: Sample) {
        self.init(
            type: sample.type.api, recordedAt: sample.recordedAt.milliseconds,
            offsetMinutes: sample.offsetMinutes, value: sample.value, flags: sample.flags,
            timeUncertain: sample.timeUncertain)
    }
}

extension TrendGap {
    /// Nil for a gap that has healed, and for one whose times are not known.
    init?(_ gap: Gap) {
        guard gap.healedAt == nil, let after = gap.after, let before = gap.before else { return nil }
        self.init(after: after.milliseconds, before: before.milliseconds)
    }
}
