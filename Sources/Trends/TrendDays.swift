import CivilTime
import IngestAPI

/// Raw samples to civil days.
public enum TrendDays {
    /// The days of one type of one subject on one band.
    ///
    /// `samples` are in order of (`recorded_at`, ring, seq); those that trends leave out are not among them. `gaps` are
    /// the band's, in any order; only sleep looks at them. `zone` decides for samples without an offset of their own;
    /// without a zone they count as UTC. A day of sleep is whole only if its sleeps are: see `SleepLookback`.
    public static func compute(
        type: APISampleType, samples: [TrendSample], gaps: [TrendGap] = [], zone: ZoneRules? = nil
    ) -> [CivilDate: TrendDay] {
        let placed = PlacedSample.inOrder(samples, zone: zone)
        var days = DaysBuilder(type: type)
        if type == .sleepStage {
            days.addSleep(SleepRecord.inOrder(placed, gaps: gaps))
        } else {
            days.add(placed)
        }
        return days.finished
    }
}

/// A sample at its place in civil time.
struct PlacedSample {
    var at: Int64
    var offsetMinutes: Int
    var knowsItsOffset: Bool
    var value: Int
    var date: CivilDate

    /// Samples of one instant stay in the order in which they were given.
    static func inOrder(_ samples: [TrendSample], zone: ZoneRules?) -> [PlacedSample] {
        guard zip(samples, samples.dropFirst()).contains(where: { $0.recordedAt > $1.recordedAt }) else {
            return samples.map { PlacedSample($0, zone: zone) }
        }
        let order = samples.indices.sorted {
            (samples[$0].recordedAt, $0) < (samples[$1].recordedAt, $1)
        }
        return order.map { PlacedSample(samples[$0], zone: zone) }
    }

    private init(_ sample: TrendSample, zone: ZoneRules?) {
        at = sample.recordedAt
        offsetMinutes = sample.offsetMinutes ?? zone?.offsetMinutes(at: sample.recordedAt) ?? 0
        knowsItsOffset = sample.offsetMinutes != nil
        value = sample.value
        date = CivilDate(milliseconds: at, offsetMinutes: offsetMinutes)
    }
}
