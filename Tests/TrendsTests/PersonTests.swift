import CivilTime
import IngestAPI
import Testing
import Trends

/// One person, two bands.
@Suite struct PersonTests {
    private let today = date("2026-10-27")

    private func merged(
        _ type: APISampleType, _ bands: [String: [TrendSample]], by bucket: AggregateBucketSize = .day
    ) throws -> [AggregateBucket] {
        let days = bands.compactMapValues { TrendDays.compute(type: type, samples: $0)[today] }
        let day = try #require(TrendDay.merged(days))
        return TrendBuckets.make(type: type, days: [today: day], from: today, to: today, bucket: bucket)
    }

    @Test("no band, no day") func none() { #expect(TrendDay.merged([:]) == nil) }

    @Test("heart rates of all bands count; resting is the lowest of a band") func heartRate() throws {
        func row(_ value: Int, _ count: Int, hour: Int) -> [TrendSample] {
            (0..<count).map { sample("2026-10-27T\(10 + hour):\(10 + $0):00Z", value) }
        }
        let bucket = try #require(
            try merged(
                .heartRate, ["a": row(60, 10, hour: 0) + row(90, 1, hour: 5), "b": row(50, 9, hour: 0)]
            ).first)
        #expect((bucket.count, bucket.min, bucket.max) == (20, 50, 90))
        #expect(bucket.mean == Tenths(570 + 570, over: 20))
        // Nine of one band and ten of the other are no 19 of one.
        #expect(bucket.resting == Tenths(tenths: 600))
        let hours = try merged(.heartRate, ["a": row(60, 10, hour: 0), "b": row(50, 10, hour: 0)], by: .hour)
        #expect((hours[10].count, hours[10].resting) == (20, Tenths(tenths: 500)))
    }

    @Test("steps of an hour come from the band with more of them") func steps() throws {
        let bands = [
            "a": [sample("2026-10-27T10:00:00Z", 50), sample("2026-10-27T11:00:00Z", 10)],
            "b": [
                sample("2026-10-27T10:00:00Z", 20), sample("2026-10-27T10:30:00Z", 20),
                sample("2026-10-27T11:00:00Z", 30),
            ],
            "c": [sample("2026-10-27T12:00:00Z", 0)],
        ]
        let day = try #require(try merged(.steps, bands).first)
        #expect((day.sum, day.count) == (80, 3))
        let hours = try merged(.steps, bands, by: .hour)
        #expect(hours[10...12].map(\.sum) == [50, 30, 0])
        #expect(hours[10...12].map(\.count) == [1, 1, 1])
    }

    @Test("of equal bands the one whose id sorts first") func ties() throws {
        let one = [sample("2026-10-27T10:00:00Z", 40)]
        let two = [sample("2026-10-27T10:00:00Z", 20), sample("2026-10-27T10:30:00Z", 20)]
        #expect(try merged(.steps, ["a": one, "b": two]).first?.count == 1)
        #expect(try merged(.steps, ["b": one, "a": two]).first?.count == 2)
        let light = [sample("2026-10-27T01:00:00Z", .light), sample("2026-10-27T02:00:00Z", .outOfBed)]
        let deep = [sample("2026-10-27T01:00:00Z", .deep), sample("2026-10-27T02:00:00Z", .outOfBed)]
        #expect(try merged(.sleepStage, ["a": light, "b": deep]).first?.stages == "0 60 0 0 240")
        #expect(try merged(.sleepStage, ["b": light, "a": deep]).first?.stages == "0 0 60 0 240")
    }

    @Test("a night comes from the band that saw most of the sleep") func sleep() throws {
        let bands = [
            "a": [sample("2026-10-27T01:00:00Z", .awake), sample("2026-10-27T04:00:00Z", .outOfBed)],
            "b": [
                sample("2026-10-27T02:00:00Z", .rem), sample("2026-10-27T02:30:00Z", .light),
                sample("2026-10-27T02:45:00Z", .outOfBed),
            ],
        ]
        #expect(try merged(.sleepStage, bands).first?.stages == "0 15 0 30 240")
        let hours = try merged(.sleepStage, bands, by: .hour)
        #expect(hours[1...2].map(\.stages) == ["60 0 0 0 0", "0 15 0 30 15"])
        // Nobody slept: what there is comes from the first band that has anything.
        let awake = try merged(.sleepStage, ["0": [], "a": bands["a"] ?? []])
        #expect(awake.first?.stages == "180 0 0 0 240")
    }

    @Test("samples without an offset are counted over all bands") func withoutOffset() throws {
        let days = [
            "a": [placeless("2026-10-27T10:00:00Z", 1)], "b": [placeless("2026-10-27T10:00:00Z", 2)],
        ].compactMapValues { TrendDays.compute(type: .steps, samples: $0)[today] }
        #expect(try #require(TrendDay.merged(days)).withoutOffset == 2)
    }
}
