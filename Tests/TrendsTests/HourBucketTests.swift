import CivilTime
import IngestAPI
import Testing
import Trends

@Suite struct HourBucketTests {
    private func text(_ bucket: AggregateBucket) -> String {
        "\(bucket.localHour ?? -1)@\(bucket.offsetMinutes):\(bucket.sum ?? -1)"
    }

    @Test("every hour is shown, with the length of its day") func everyHour() {
        let samples = [sample("2026-10-27T07:59:59+05:30", 4), sample("2026-10-27T08:00:00+05:30", 5)]
        let buckets = buckets(.steps, samples, from: "2026-10-27", to: "2026-10-28", by: .hour)
        #expect(buckets.count == 48)
        #expect(buckets.map(\.localHour) == Array(0...23) + Array(0...23))
        #expect(buckets.allSatisfy { $0.minutesInDay == 1440 && $0.offsetMinutes == 330 })
        #expect((buckets[7].sum, buckets[8].sum, buckets[9].sum) == (4, 5, 0))
        #expect(buckets[8].start.description == "2026-10-27T02:30:00.000Z")
    }

    @Test("the hour that a zone repeats appears twice, the one that it skipped does not") func clocks() {
        let autumn = buckets(
            .steps, [sample("2026-10-25T01:30:00+01:00", 3), sample("2026-10-25T01:30:00Z", 4)],
            from: "2026-10-25",
            to: "2026-10-25", by: .hour, zone: Zone.london)
        #expect(autumn.prefix(4).map(text) == ["0@60:0", "1@60:3", "1@0:4", "2@0:0"])
        #expect(autumn.count == 25 && autumn.allSatisfy { $0.minutesInDay == 1500 })
        let spring = buckets(.steps, [], from: "2026-03-29", to: "2026-03-29", by: .hour, zone: Zone.london)
        #expect(spring.prefix(3).map(text) == ["0@0:0", "2@60:0", "3@60:0"])
        #expect(spring.count == 23 && spring.allSatisfy { $0.minutesInDay == 1380 })
    }

    @Test("without a zone the samples tell of the change") func lived() {
        let autumn = buckets(
            .steps, [sample("2026-10-25T00:30:00+01:00", 3), sample("2026-10-25T05:30:00Z", 4)],
            from: "2026-10-25", to: "2026-10-25", by: .hour)
        #expect(autumn.count == 25)
        #expect(autumn.reduce(0) { $0 + ($1.sum ?? 0) } == 7)
        // Somewhere between the two the clocks changed: where, nobody said.
        #expect(
            autumn.prefix(7).map(text) == [
                "0@60:3", "1@60:0", "2@60:0", "3@60:0", "4@60:0", "5@60:0", "5@0:4",
            ])
        let spring = buckets(
            .steps, [sample("2026-03-29T00:30:00Z", 3), sample("2026-03-29T02:00:00+01:00", 4)],
            from: "2026-03-29", to: "2026-03-29", by: .hour)
        #expect(spring.prefix(3).map(text) == ["0@0:3", "2@60:4", "3@60:0"])
        #expect(spring.count == 23)
    }

    @Test("hours of a flight to the west are lived twice") func flight() {
        let samples = [
            sample("2026-10-27T10:15:00+05:30", 1), sample("2026-10-27T12:15:00+05:30", 2),
            sample("2026-10-27T12:15:00Z", 3),
        ]
        let buckets = buckets(.steps, samples, from: "2026-10-27", to: "2026-10-27", by: .hour)
        let noon = buckets.filter { $0.localHour == 12 }
        #expect(noon.map(text) == ["12@330:2", "12@0:3"])
        // From midnight in Bengaluru to midnight in London.
        #expect(buckets.map { $0.start.description }.first == "2026-10-26T18:30:00.000Z")
        #expect(buckets.map(\.start) == buckets.map(\.start).sorted())
        #expect(buckets.count == 18 + 12 && buckets.allSatisfy { $0.minutesInDay == 1770 })
    }

    @Test("an old midnight that comes before the first new hour is where the offset changes")
    func longFlight() {
        let samples = [sample("2026-10-27T10:15:00+05:30", 1), sample("2026-10-27T20:15:00Z", 2)]
        let buckets = buckets(.steps, samples, from: "2026-10-27", to: "2026-10-27", by: .hour)
        // At midnight in Bengaluru it is 18:30 in London.
        #expect(buckets.map(\.localHour) == Array(0...23) + Array(18...23))
        #expect(buckets[24].start.description == "2026-10-27T18:30:00.000Z")
        #expect(buckets[26].sum == 2)
    }

    @Test("clocks that go back by half an hour show a part of an hour twice") func halfHour() {
        let samples = [
            sample("2026-04-05T01:00:00+11:00", 1), sample("2026-04-05T01:50:00+11:00", 2),
            sample("2026-04-05T01:30:00+10:30", 3),
        ]
        let buckets = buckets(.steps, samples, from: "2026-04-05", to: "2026-04-05", by: .hour)
        #expect(buckets[1...3].map(text) == ["1@660:3", "1@630:3", "2@630:0"])
        #expect(buckets[2].start.description == "2026-04-04T15:00:00.000Z")
        #expect(buckets.allSatisfy { $0.minutesInDay == 1470 })
    }

    @Test("an hour lived elsewhere stands in for the zone's own, unless that has samples too")
    func elsewhere() {
        let away = [sample("2026-11-05T03:15:00+05:30", 1)]
        let alone = buckets(
            .steps, away, from: "2026-11-05", to: "2026-11-05", by: .hour, zone: Zone.london)
        #expect(alone.count == 24)
        #expect(alone.filter { $0.localHour == 3 }.map(text) == ["3@330:1"])
        #expect(alone.first { $0.localHour == 3 }?.start.description == "2026-11-04T21:30:00.000Z")
        let both = buckets(
            .steps, away + [sample("2026-11-05T03:15:00Z", 2)], from: "2026-11-05", to: "2026-11-05",
            by: .hour,
            zone: Zone.london)
        #expect(both.count == 25)
        #expect(both.filter { $0.localHour == 3 }.map(text) == ["3@330:1", "3@0:2"])
    }

    @Test("an hour that the zone skipped is shown when samples say that they are in it") func skippedHour() {
        let samples = [sample("2026-03-29T01:30:00Z", 9)]
        let buckets = buckets(
            .steps, samples, from: "2026-03-29", to: "2026-03-29", by: .hour, zone: Zone.london)
        #expect(buckets.filter { $0.localHour == 1 }.map(text) == ["1@0:9"])
        #expect(buckets.count == 24)
    }
}
