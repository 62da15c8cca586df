import CivilTime
import IngestAPI
import Testing
import Trends

/// Where stages and sleeps end. Minutes are `awake light deep rem out_of_bed`.
@Suite struct SleepTests {
    private func night(_ samples: [TrendSample], gaps: [TrendGap] = []) throws -> String {
        let bucket = try day(.sleepStage, samples, gaps: gaps, on: "2026-10-27")
        return "\(bucket.count): \(bucket.stages ?? "")"
    }

    @Test("a stage lasts to the next record; the sleep counts on the day on which it ends") func stages()
        throws
    {
        let samples = [
            sample("2026-10-26T23:00:00Z", .light), sample("2026-10-26T23:30:00Z", .deep),
            sample("2026-10-27T01:00:00Z", .rem), sample("2026-10-27T01:20:00Z", .awake),
            sample("2026-10-27T01:25:30Z", .light), sample("2026-10-27T05:00:00Z", .outOfBed),
            sample("2026-10-27T05:10:00Z", .outOfBed),
        ]
        #expect(try night(samples) == "7: 5.5 244.5 90 20 250")
        let before = try day(.sleepStage, samples, on: "2026-10-26")
        #expect((before.count, before.stages) == (0, "0 0 0 0 0"))
    }

    @Test("a stage lasts 4 hours at most") func longest() throws {
        let samples = [sample("2026-10-27T00:00:00Z", .light), sample("2026-10-27T04:30:00Z", .deep)]
        #expect(try night(samples) == "2: 0 240 240 0 0")
    }

    @Test("a stage ends where a gap begins") func gap() throws {
        let samples = [sample("2026-10-27T00:00:00Z", .light), sample("2026-10-27T03:00:00Z", .outOfBed)]
        let gap = TrendGap(after: at("2026-10-27T01:00:00Z"), before: at("2026-10-27T02:00:00Z"))
        #expect(try night(samples, gaps: [gap]) == "2: 0 60 0 0 240")
        let atOnce = TrendGap(after: at("2026-10-27T00:00:00Z"), before: at("2026-10-27T02:00:00Z"))
        #expect(try night(samples, gaps: [gap, atOnce]) == "2: 0 0 0 0 240")
        let earlier = TrendGap(after: at("2026-10-26T23:59:59Z"), before: at("2026-10-27T02:00:00Z"))
        #expect(try night(samples, gaps: [earlier]) == "2: 0 180 0 0 240")
    }

    @Test("out of bed ends a sleep on the day on which it begins") func outOfBed() throws {
        let samples = [
            sample("2026-10-26T22:00:00Z", .light), sample("2026-10-26T23:59:00Z", .outOfBed),
            sample("2026-10-27T00:09:00Z", .deep), sample("2026-10-27T00:39:00Z", .outOfBed),
            sample("2026-10-27T00:40:00Z", .outOfBed),
        ]
        let evening = try day(.sleepStage, samples, on: "2026-10-26")
        #expect((evening.count, evening.stages) == (2, "0 119 0 0 10"))
        #expect(try night(samples) == "3: 0 0 30 0 241")
    }

    @Test("60 minutes awake in a row end a sleep; what remains begins the next") func awake() throws {
        let samples = [
            sample("2026-10-26T22:00:00Z", .light), sample("2026-10-26T22:58:00Z", .awake),
            sample("2026-10-27T00:10:00Z", .deep), sample("2026-10-27T01:00:00Z", .outOfBed),
        ]
        // Full at 23:58: the sleep ends before midnight, and 12 minutes of the awake count after it.
        let evening = try day(.sleepStage, samples, on: "2026-10-26")
        #expect((evening.count, evening.stages) == (2, "60 58 0 0 0"))
        #expect(try night(samples) == "2: 12 0 50 0 240")
        // One minute later it is the other day's.
        let later = [samples[0], sample("2026-10-26T23:00:00Z", .awake)] + samples.dropFirst(2)
        #expect(try night(later) == "4: 70 60 50 0 240")
    }

    @Test("awake records add up; another stage begins anew, one of no length does not") func awakeInARow()
        throws
    {
        func evening(_ between: [TrendSample]) throws -> String? {
            let samples =
                [sample("2026-10-26T22:00:00Z", .light), sample("2026-10-26T22:58:00Z", .awake)] + between
                + [sample("2026-10-26T23:28:00Z", .awake), sample("2026-10-27T00:10:00Z", .deep)]
            return try day(.sleepStage, samples, on: "2026-10-26").stages
        }
        #expect(try evening([]) == "60 58 0 0 0")
        #expect(try evening([sample("2026-10-26T23:27:00Z", .rem)]) == "0 0 0 0 0")
        #expect(try evening([sample("2026-10-26T23:28:00Z", .rem)]) == "60 58 0 0 0")
    }

    @Test("time without a stage breaks a row of awake") func awakeUncovered() throws {
        let samples = [
            sample("2026-10-26T22:58:00Z", .awake), sample("2026-10-26T23:28:00Z", .awake),
            sample("2026-10-27T00:10:00Z", .deep),
        ]
        let gap = TrendGap(after: at("2026-10-26T23:27:00Z"), before: at("2026-10-26T23:28:00Z"))
        #expect(try day(.sleepStage, samples, on: "2026-10-26").stages == "60 0 0 0 0")
        #expect(try day(.sleepStage, samples, gaps: [gap], on: "2026-10-26").stages == "0 0 0 0 0")
    }

    @Test("a long time awake is several sleeps") func allDayAwake() throws {
        let samples = [sample("2026-10-26T21:30:00Z", .awake), sample("2026-10-27T00:50:00Z", .outOfBed)]
        // 22:30 and 23:30 are on the day before; 00:30 and the 20 minutes to out of bed on this one.
        let evening = try day(.sleepStage, samples, on: "2026-10-26")
        #expect((evening.count, evening.stages) == (1, "120 0 0 0 0"))
        #expect(try night(samples) == "1: 80 0 0 0 240")
    }

    @Test("60 minutes without a stage end a sleep where the last stage ended") func uncovered() throws {
        let gap = TrendGap(after: at("2026-10-26T23:30:00Z"), before: at("2026-10-27T00:00:00Z"))
        func evening(_ next: String) throws -> String? {
            let samples = [sample("2026-10-26T22:00:00Z", .light), sample(next, .deep)]
            return try day(.sleepStage, samples, gaps: [gap], on: "2026-10-26").stages
        }
        #expect(try evening("2026-10-27T00:29:59.999Z") == "0 0 0 0 0")
        #expect(try evening("2026-10-27T00:30:00Z") == "0 90 0 0 0")
    }

    @Test("of records at one instant the last counts") func instant() throws {
        let samples = [
            sample("2026-10-27T00:00:00Z", .light), sample("2026-10-27T00:00:00Z", .deep),
            sample("2026-10-27T01:00:00Z", .rem),
        ]
        #expect(try night(samples) == "3: 0 0 60 240 0")
    }

    @Test("a day is given in tenths of a minute, rounded at the end") func rounding() throws {
        let samples = (0..<10).map {
            sample("2026-10-27T00:0\($0):00.00\($0)Z", $0 % 2 == 0 ? .light : .deep)
        }
        // 5 light of 60.001 s; 4 deep of 60.001 s and one of 4 h.
        #expect(try night(samples) == "10: 0 5 244 0 0")
        let short = [sample("2026-10-27T00:00:00Z", .rem), sample("2026-10-27T00:00:03Z", .outOfBed)]
        #expect(try night(short) == "2: 0 0 0 0.1 240")
    }

    @Test("an hour has the minutes and the records that fall into it") func hours() {
        let samples = [
            sample("2026-10-26T22:50:00Z", .light), sample("2026-10-27T00:10:00Z", .deep),
            sample("2026-10-27T00:30:00Z", .outOfBed),
        ]
        let hours = buckets(.sleepStage, samples, from: "2026-10-26", to: "2026-10-27", by: .hour)
        #expect(hours.count == 48)
        #expect(hours[22...28].map(\.count) == [1, 0, 2, 0, 0, 0, 0])
        #expect(
            hours[22...28].map { $0.stages ?? "" } == [
                "0 10 0 0 0", "0 60 0 0 0", "0 10 20 0 30", "0 0 0 0 60", "0 0 0 0 60", "0 0 0 0 60",
                "0 0 0 0 30",
            ])
    }

    @Test("no record, no sleep") func nothing() {
        #expect(TrendDays.compute(type: .sleepStage, samples: []).isEmpty)
        #expect(TrendDays.compute(type: .sleepStage, samples: [sample("2026-10-27T00:00:00Z", 9)]).isEmpty)
    }
}
