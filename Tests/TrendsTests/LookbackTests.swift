import CivilTime
import Testing
import Trends

/// How many records, the newest first, a reader takes for 2026-10-27, which begins somewhere at 2026-10-26T00:01Z.
@Suite struct LookbackTests {
    private func taken(_ samples: [TrendSample], gaps: [TrendGap] = []) -> Int {
        var lookback = SleepLookback(from: date("2026-10-27"), gaps: gaps)
        for (index, sample) in samples.reversed().enumerated() where lookback.isEnough(sample) {
            return index + 1
        }
        return samples.count
    }

    /// `HH:MM` of 2026-10-25, before the day has begun anywhere; two hours later it has.
    private func before(_ time: String, _ stage: SleepStage) -> TrendSample {
        sample("2026-10-25T\(time):00Z", stage)
    }

    private let inside = sample("2026-10-26T02:00:00Z", .light)

    @Test("the day's outermost moments") func edges() {
        #expect(SleepLookback.start(of: date("2026-10-27")) == at("2026-10-26T00:01:00Z"))
        #expect(SleepLookback.end(of: date("2026-10-27")) == at("2026-10-28T23:59:00Z"))
    }

    @Test("a record that may belong to the day is never the last") func inDay() {
        #expect(taken([before("12:00", .light), sample("2026-10-26T00:01:00Z", .outOfBed), inside]) == 3)
    }

    @Test("the newest record is enough when it is long over") func newest() {
        #expect(taken([before("08:00", .light), before("12:00", .light)]) == 1)
        #expect(taken([before("18:00", .light), before("21:00", .light)]) == 2)
    }

    @Test("out of bed is enough, when it ends before the day") func outOfBed() {
        let earlier = before("10:00", .light)
        #expect(taken([earlier, before("19:50", .outOfBed), inside]) == 2)
        #expect(taken([earlier, before("22:00", .outOfBed), before("23:59", .outOfBed), inside]) == 3)
        // It lasts until 00:10, and has its minutes in an hour of the day.
        #expect(taken([earlier, before("21:00", .outOfBed), inside]) == 3)
    }

    @Test("an hour without a stage is enough") func silence() {
        let samples = [before("08:00", .light), before("12:00", .light), before("17:00", .light), inside]
        #expect(taken(samples) == 2)
        // It lasts until 00:30, into the day.
        #expect(taken(samples.prefix(2) + [before("20:30", .light), inside]) == 3)
        let gap = TrendGap(after: at("2026-10-25T23:00:00Z"), before: at("2026-10-26T01:00:00Z"))
        #expect(taken([before("08:00", .light), before("22:00", .light), inside], gaps: [gap]) == 2)
        #expect(taken([before("08:00", .light), before("22:00", .light), inside]) == 3)
    }

    @Test("an hour awake is enough once it is known where it began") func awake() {
        let row = ["18:00", "19:00", "20:00", "21:00", "22:00", "23:00"].map { before($0, .awake) }
        let light = [before("16:00", .light), before("17:00", .light)]
        #expect(taken(light + row + [inside]) == 8)
        // What lasts no time is no beginning, time without a stage is one.
        #expect(taken(light + row.prefix(2) + [before("19:00", .deep)] + row.dropFirst() + [inside]) == 10)
        let gap = TrendGap(after: at("2026-10-25T20:30:00Z"), before: at("2026-10-25T21:00:00Z"))
        #expect(taken(light + row + [inside], gaps: [gap]) == 5)
    }

    @Test("less than an hour awake, or one that is full only in the day, is not enough") func shortAwake() {
        let light = [before("12:00", .outOfBed), before("16:01", .light)]
        let short = [
            before("19:00", .light), before("20:00", .awake), before("20:59", .light), before("23:00", .rem),
        ]
        #expect(taken(light + short + [inside]) == 7)
        let late = [before("19:00", .light), before("23:01", .awake)]
        #expect(taken(light + late + [inside]) == 5)
        #expect(taken(light + [before("19:00", .light), before("23:00", .awake), inside]) == 3)
    }

    @Test("a band that is never out of bed sends nobody back for ever") func never() {
        var samples: [TrendSample] = []
        for day in 10...25 {
            for hour in 0..<24 {
                let text = "2026-10-\(day)T\(hour < 10 ? "0" : "")\(hour):00:00Z"
                samples.append(sample(text, hour < 8 ? .light : .awake))
            }
        }
        #expect(taken(samples + [inside]) == 18)
    }
}
