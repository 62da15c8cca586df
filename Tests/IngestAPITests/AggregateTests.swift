import CivilTime
import Testing

@testable import IngestAPI

@Suite struct AggregateTests {
    static let rounded: [(Int64, Int64, String)] = [
        (0, 1, "0"), (672, 10, "67.2"), (1, 20, "0.1"), (1, 21, "0"), (-1, 20, "-0.1"), (-1, 21, "0"),
        (2, 3, "0.7"), (670, 10, "67"), (99_949, 1000, "99.9"), (99_950, 1000, "100"), (5, 0, "0"),
        (.max, 1, "922337203685477580.7"), (.min, 1, "-922337203685477580.8"),
        (.max, 60_000, "153722867280912"),
        (30_000, 60_000, "0.5"), (3_000, 60_000, "0.1"), (2_999, 60_000, "0"),
    ]

    @Test("one decimal, half away from zero", arguments: rounded)
    func rounding(dividend: Int64, divisor: Int64, text: String) {
        #expect(Tenths(dividend, over: divisor).description == text)
    }

    @Test("a whole number is written as one") func tenths() throws {
        let values = [0, 5, 670, 672, -3, -10].map { Tenths(tenths: $0) }
        #expect(String(decoding: try APIJSON.encode(values), as: UTF8.self) == "[0,0.5,67,67.2,-0.3,-1]")
        #expect(try APIJSON.decode([Tenths].self, from: try APIJSON.encode(values)) == values)
        let every = (0...3000).map { Tenths(tenths: $0) }
        #expect(try APIJSON.decode([Tenths].self, from: try APIJSON.encode(every)) == every)
        #expect(throws: APIFailure.self) { try APIJSON.decode([Tenths].self, from: Array("[1e300]".utf8)) }
    }

    @Test("the contract's example") func example() throws {
        let text = """
            {"bucket":"day","buckets":[{"count":1440,"local_date":"2026-10-01","max":141,"mean":67.2,"min":48,\
            "minutes_in_day":1440,"offset_min":330,"resting":51.3,"start":"2026-09-30T18:30:00.000Z"}],\
            "type":"heart_rate"}
            """
        let bucket = AggregateBucket(
            localDate: CivilDate(year: 2026, month: 10, day: 1),
            start: APITime(milliseconds: 1_790_793_000_000),
            offsetMinutes: 330, minutesInDay: 1440, count: 1440, min: 48, mean: Tenths(tenths: 672), max: 141,
            resting: Tenths(tenths: 513))
        let list = AggregateList(type: .heartRate, bucket: .day, buckets: [bucket])
        #expect(String(decoding: try APIJSON.encode(list), as: UTF8.self) == text)
        #expect(try APIJSON.decode(AggregateList.self, from: Array(text.utf8)) == list)
    }

    @Test("sleep has minutes per stage, an hour its number") func sleep() throws {
        let tenths = [15, 200, 300, 400, 0].map { Tenths(tenths: $0) }
        let bucket = AggregateBucket(
            localDate: CivilDate(days: 0), localHour: 7, start: APITime(milliseconds: 0), offsetMinutes: 0,
            minutesInDay: 1440, count: 3,
            minutes: SleepMinutes(
                awake: tenths[0], light: tenths[1], deep: tenths[2], rem: tenths[3], outOfBed: tenths[4]))
        let text = """
            {"count":3,"local_date":"1970-01-01","local_hour":7,"minutes":{"awake":1.5,"deep":30,"light":20,\
            "out_of_bed":0,"rem":40},"minutes_in_day":1440,"offset_min":0,"start":"1970-01-01T00:00:00.000Z"}
            """
        #expect(String(decoding: try APIJSON.encode(bucket), as: UTF8.self) == text)
        #expect(try APIJSON.decode(AggregateBucket.self, from: Array(text.utf8)) == bucket)
    }
}
