import CivilTime
import IngestAPI
import Testing
import Trends

/// Which samples count, and on which day.
@Suite struct PlacementTests {
    private func counts(_ buckets: [AggregateBucket]) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: buckets.map { ($0.localDate.description, $0.count) })
    }

    @Test("a sample belongs to the day of its own offset, whatever the zone asked for") func ownOffset() {
        let samples = [sample("2026-10-27T00:10:00+05:30", 5), sample("2026-10-26T23:50:00-08:00", 7)]
        for zone in [nil, Zone.kolkata, Zone.london, .utc] {
            let buckets = buckets(.steps, samples, from: "2026-10-26", to: "2026-10-27", zone: zone)
            #expect(buckets.map(\.sum) == [7, 5])
        }
    }

    @Test("without an own offset the zone decides, without a zone UTC") func noOffset() {
        let samples = [placeless("2026-10-26T20:00:00Z", 1)]
        let range = ("2026-10-26", "2026-10-27")
        #expect(buckets(.steps, samples, from: range.0, to: range.1).map(\.count) == [1, 0])
        #expect(
            buckets(.steps, samples, from: range.0, to: range.1, zone: Zone.london).map(\.count) == [1, 0])
        #expect(
            buckets(.steps, samples, from: range.0, to: range.1, zone: Zone.kolkata).map(\.count) == [0, 1])
        let day = TrendDays.compute(type: .steps, samples: samples)[date("2026-10-26")]
        #expect(day?.withoutOffset == 1)
    }

    @Test("left out: an uncertain time, a heart rate off the wrist, a value that is none") func leftOut() {
        func taken(
            _ type: APISampleType, value: Int = 3, flags: UInt8 = 1, uncertain: Bool = false
        ) -> Bool {
            TrendSample(
                type: type, recordedAt: 0, offsetMinutes: nil, value: value, flags: flags,
                timeUncertain: uncertain) != nil
        }
        for type in APISampleType.allCases {
            #expect(taken(type))
            #expect(taken(type, flags: 0xff))
            #expect(taken(type, flags: 0xfe) == (type != .heartRate))
            #expect(taken(type, flags: 0) == (type != .heartRate))
            #expect(!taken(type, uncertain: true))
            #expect(!taken(type, value: -1))
        }
        #expect(!taken(.sleepStage, value: 5))
    }

    @Test("a stored sample and a ledger's gap say the same") func wire() {
        let stored = APISample(
            type: .heartRate, seq: 1, value: 60, recordedAt: APITime(milliseconds: 5), tzOffsetMinutes: 60,
            bandTimeMilliseconds: 0, clockID: 0, flags: 1)
        #expect(TrendSample(stored) == TrendSample(recordedAt: 5, offsetMinutes: 60, value: 60))
        let (early, late) = (APITime(milliseconds: 1), APITime(milliseconds: 2))
        func gap(_ after: APITime?, _ before: APITime?, healed: APITime? = nil) -> TrendGap? {
            TrendGap(
                APIGap(
                    ring: "b5e5d00d", firstSeq: 1, lastSeq: nil, after: after, before: before,
                    cause: .overwritten,
                    healedAt: healed))
        }
        #expect(gap(early, late) == TrendGap(after: 1, before: 2))
        #expect(gap(nil, late) == nil && gap(early, nil) == nil && gap(early, late, healed: late) == nil)
    }

    @Test("times that nobody can write do no harm") func extremes() {
        for time in [Int64.min, .max] {
            for type in APISampleType.allCases {
                let sample = TrendSample(recordedAt: time, offsetMinutes: 1439, value: 1)
                let days = TrendDays.compute(type: type, samples: [sample], zone: Zone.london)
                for (date, _) in days {
                    for bucket in AggregateBucketSize.allCases {
                        _ = TrendBuckets.make(type: type, days: days, from: date, to: date, bucket: bucket)
                    }
                }
                #expect(!days.isEmpty)
            }
        }
    }
}
