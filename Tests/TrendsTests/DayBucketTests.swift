import CivilTime
import IngestAPI
import Testing
import Trends

/// What a day's bucket says of it.
@Suite struct DayBucketTests {
    @Test("heart rate: count, extremes, mean to one decimal") func heartRate() throws {
        let samples = [
            sample("2026-10-27T07:00:00+05:30", 60), sample("2026-10-27T07:01:00+05:30", 61),
            sample("2026-10-27T07:02:00+05:30", 61),
        ]
        let bucket = try day(.heartRate, samples, on: "2026-10-27")
        #expect(
            bucket
                == AggregateBucket(
                    localDate: date("2026-10-27"), start: APITime(milliseconds: at("2026-10-26T18:30:00Z")),
                    offsetMinutes: 330, minutesInDay: 1440, count: 3, min: 60, mean: Tenths(tenths: 607),
                    max: 61))
    }

    @Test("SpO2 has no resting value") func spo2() throws {
        let samples = (0..<20).map { sample("2026-10-27T07:\(10 + $0):00Z", 950 + $0) }
        let bucket = try day(.spo2, samples, on: "2026-10-27")
        #expect((bucket.min, bucket.max, bucket.mean) == (950, 969, Tenths(tenths: 9595)))
        #expect(bucket.resting == nil && bucket.sum == nil && bucket.minutes == nil)
    }

    @Test("steps are summed") func steps() throws {
        let samples = [sample("2026-10-27T07:00:00Z", 14), sample("2026-10-27T19:00:00Z", 30_000)]
        let bucket = try day(.steps, samples, on: "2026-10-27")
        #expect((bucket.count, bucket.sum) == (2, 30_014))
        #expect(bucket.min == nil && bucket.mean == nil && bucket.resting == nil)
    }

    @Test("a day with nothing is shown", arguments: APISampleType.allCases)
    func empty(type: APISampleType) {
        let buckets = buckets(type, [], from: "2026-10-27", to: "2026-10-29")
        #expect(buckets.map(\.localDate.description) == ["2026-10-27", "2026-10-28", "2026-10-29"])
        #expect(buckets.allSatisfy { $0.count == 0 && $0.minutesInDay == 1440 && $0.offsetMinutes == 0 })
        #expect(buckets.allSatisfy { $0.min == nil && $0.mean == nil && $0.max == nil && $0.resting == nil })
        #expect(buckets.allSatisfy { $0.sum == (type == .steps ? 0 : nil) })
        #expect(buckets.allSatisfy { $0.stages == (type == .sleepStage ? "0 0 0 0 0" : nil) })
    }

    @Test("from after to is no day") func reversed() {
        #expect(buckets(.steps, [], from: "2026-10-28", to: "2026-10-27").isEmpty)
    }

    @Test("without a zone, an empty day has the offset before it, else that after it") func emptyOffsets() {
        let samples = [
            sample("2026-10-03T07:00:00+05:30", 1), sample("2026-10-05T07:00:00+01:00", 1),
            sample("2026-10-05T23:00:00+02:00", 1), sample("2026-10-09T07:00:00-03:00", 1),
        ]
        let buckets = buckets(.steps, samples, from: "2026-10-01", to: "2026-10-07")
        #expect(buckets.map(\.offsetMinutes) == [330, 330, 330, 330, 60, 120, 120])
        #expect(buckets.map(\.minutesInDay) == [1440, 1440, 1440, 1440, 1380, 1440, 1440])
        #expect(buckets[5].start.description == "2026-10-05T22:00:00.000Z")
    }

    @Test("without a zone, a day is as long as its samples' offsets say") func lengthFromSamples() throws {
        let east = [sample("2026-10-27T08:00:00Z", 1), sample("2026-10-27T20:00:00+05:30", 1)]
        #expect(try day(.steps, east, on: "2026-10-27").minutesInDay == 1110)
        let west = [sample("2026-10-27T08:00:00+05:30", 1), sample("2026-10-27T20:00:00Z", 1)]
        let bucket = try day(.steps, west, on: "2026-10-27")
        #expect(bucket.minutesInDay == 1770)
        #expect((bucket.offsetMinutes, bucket.start.description) == (330, "2026-10-26T18:30:00.000Z"))
    }

    @Test("with a zone, the day is the zone's") func lengthFromZone() throws {
        let samples = [sample("2026-10-25T12:00:00+05:30", 1)]
        let bucket = try day(.steps, samples, on: "2026-10-25", zone: Zone.london)
        #expect((bucket.minutesInDay, bucket.offsetMinutes, bucket.count) == (1500, 60, 1))
        #expect(bucket.start.description == "2026-10-24T23:00:00.000Z")
    }

    @Test("a day that the zone skipped is absent, unless somebody lived it") func skipped() throws {
        let absent = buckets(.steps, [], from: "2011-12-29", to: "2011-12-31", zone: Zone.apia)
        #expect(absent.map(\.localDate.description) == ["2011-12-29", "2011-12-31"])
        let samples = [sample("2011-12-30T10:00:00-10:00", 3), sample("2011-12-30T12:00:00-09:00", 4)]
        let lived = buckets(.steps, samples, from: "2011-12-29", to: "2011-12-31", zone: Zone.apia)
        #expect(lived.map(\.sum) == [0, 7, 0])
        #expect(lived[1].minutesInDay == 1380 && lived[1].offsetMinutes == -600)
        #expect(lived[1].start.description == "2011-12-30T10:00:00.000Z")
    }
}
