import CivilTime
import IngestAPI
import Testing
import Trends

/// A store computes one day at a time, from as few records as it may. It must not matter.
@Suite struct PartsTests {
    private static let from = CivilDate(milliseconds: RandomLife.start, offsetMinutes: 0).advanced(by: -2)
    private static let to = from.advanced(by: RandomLife.days + 4)

    @Test(
        "a day from what its own samples are is the day from all", arguments: RandomLife.seeds,
        PropertyTests.summed)
    func values(seed: UInt64, type: APISampleType) {
        var life = RandomLife(seed: seed)
        let (samples, zone) = (life.samples(type), life.zone())
        let all = TrendDays.compute(type: type, samples: samples, zone: zone)
        for date in Self.from...Self.to {
            let part = samples.filter {
                (SleepLookback.start(of: date)..<SleepLookback.end(of: date)).contains($0.recordedAt)
            }
            #expect(TrendDays.compute(type: type, samples: part, zone: zone)[date] == all[date])
        }
    }

    /// What a store reads: backwards until it is enough, forwards to the first record after the day.
    private func part(_ samples: [TrendSample], _ date: CivilDate, _ gaps: [TrendGap]) -> [TrendSample] {
        let middle = samples.firstIndex { $0.recordedAt >= SleepLookback.start(of: date) } ?? samples.count
        let end = samples.firstIndex { $0.recordedAt >= SleepLookback.end(of: date) } ?? samples.count - 1
        var lookback = SleepLookback(from: date, gaps: gaps)
        var begin = min(middle, samples.count - 1)
        while begin >= 0, !lookback.isEnough(samples[begin]) { begin -= 1 }
        return Array(samples[max(begin, 0)...max(end, begin, 0)])
    }

    @Test("a day from whole sleeps is the day from all", arguments: RandomLife.seeds)
    func sleep(seed: UInt64) {
        var life = RandomLife(seed: seed)
        let (samples, zone, gaps) = (life.samples(.sleepStage), life.zone(), life.gaps())
        let all = TrendDays.compute(type: .sleepStage, samples: samples, gaps: gaps, zone: zone)
        for date in Self.from...Self.to {
            let part = part(samples, date, gaps)
            let day = TrendDays.compute(type: .sleepStage, samples: part, gaps: gaps, zone: zone)[date]
            #expect(day == all[date], "\(date)")
        }
    }

    @Test("a reader need not go far back") func economy() {
        var (read, needed) = (0, 0)
        for seed in RandomLife.seeds {
            var life = RandomLife(seed: seed)
            let (samples, gaps) = (life.samples(.sleepStage), life.gaps())
            let date = Self.to.advanced(by: -3)
            read += part(samples, date, gaps).count
            needed += samples.filter { $0.recordedAt >= SleepLookback.start(of: date) }.count
        }
        #expect(read < 2 * needed)
    }
}
