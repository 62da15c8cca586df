import CivilTime
import IngestAPI
import Testing
import Trends

@Suite struct StoredDayTests {
    @Test("a day is stored and read without a loss", arguments: APISampleType.allCases)
    func roundTrip(type: APISampleType) throws {
        let samples = (0..<60).map { sample("2026-10-27T10:\($0 < 10 ? "0" : "")\($0):00+05:30", $0 % 5) }
        let days = TrendDays.compute(type: type, samples: samples + [placeless("2026-10-27T20:00:00Z", 1)])
        #expect(!days.isEmpty)
        for day in days.values {
            #expect(try APIJSON.decode(TrendDay.self, from: try APIJSON.encode(day)) == day)
        }
    }

    @Test("the stored form of version 1") func form() throws {
        let samples = (0..<10).map { sample("2026-10-27T10:0\($0):00+05:30", 60 + $0) }
        let day = try #require(TrendDays.compute(type: .heartRate, samples: samples)[date("2026-10-27")])
        let text = """
            {"d":"2026-10-27","f":{"l":60,"m":69,"n":10,"r":[645,10],"s":645},"h":[{"a":1793075400000,"f":{"l":60,\
            "m":69,"n":10,"r":[645,10],"s":645},"h":10,"o":330,"z":1793075940000}],"t":"heart_rate","v":1}
            """
        #expect(String(decoding: try APIJSON.encode(day), as: UTF8.self) == text)
    }

    static let unreadable: [String] = [
        #"{"d":"2026-10-27","f":{},"h":[],"t":"steps","v":2}"#,
        #"{"d":"2026-10-27","f":{},"h":[],"t":"steps"}"#,
        #"{"d":"2026-10-27","f":{"r":[1]},"h":[],"t":"steps","v":1}"#,
        #"{"d":"2026-10-27","f":{"r":[1,0]},"h":[],"t":"steps","v":1}"#, "{}",
    ]

    @Test("what was stored by another version is not read", arguments: unreadable)
    func otherVersion(text: String) {
        #expect(throws: APIFailure.self) { try APIJSON.decode(TrendDay.self, from: Array(text.utf8)) }
    }
}
