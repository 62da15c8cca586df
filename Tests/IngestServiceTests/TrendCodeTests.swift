import CivilTime
import IngestAPI
import Testing
import Trends

@testable import IngestService
@testable import IngestStore

@Suite struct TrendCodeTests {
    private static let date = CivilDate(year: 2026, month: 3, day: 29)

    private func life(_ type: APISampleType, seed: UInt64) -> TrendDay? {
        var random = SeededRandom(seed: seed)
        let samples = (0..<300).map { number in
            TrendSample(
                recordedAt: Self.date.midnight(offsetMinutes: 0) + Int64(number) * 240_000,
                offsetMinutes: [60, 120, -60, nil].randomElement(using: &random) ?? nil,
                value: .random(in: 0...4, using: &random))
        }
        return TrendDays.compute(type: type, samples: samples)[Self.date]
    }

    @Test(arguments: APISampleType.allCases) func aDayComesBackAsItWas(type: APISampleType) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let day = try #require(life(type, seed: seed))
            #expect(day.hours.count > 24 && day.withoutOffset > 0)
            #expect(TrendCode.day(TrendCode.text(day), type: type, date: Self.date) == day, "seed \(seed)")
        }
    }

    @Test(arguments: APISampleType.allCases) func aDayWithoutHoursComesBackToo(type: APISampleType) {
        let day = TrendDay(type: type, date: Self.date)
        #expect(TrendCode.day(TrendCode.text(day), type: type, date: Self.date) == day)
    }

    @Test func theStoredFormOfVersion1() throws {
        // 60 to 69 beats, a minute apart, from 10:00 on at +5:30.
        let start = CivilDate(year: 2026, month: 10, day: 27)
        let samples = (0..<10).map {
            TrendSample(
                recordedAt: start.midnight(offsetMinutes: 330) + 36_000_000 + Int64($0) * 60_000,
                offsetMinutes: 330,
                value: 60 + $0)
        }
        let day = try #require(TrendDays.compute(type: .heartRate, samples: samples)[start])
        let text = "1 0 10 645 60 69 645 10 10 330 1793075400000 1793075940000 10 645 60 69 645 10"
        #expect(TrendCode.text(day) == text)
    }

    @Test func whatIsCutOrOfAnotherVersionOrNoNumberIsNoDay() throws {
        let day = try #require(life(.heartRate, seed: 1))
        let words = TrendCode.text(day).split(separator: " ")
        for count in 0..<words.count {
            let cut = TrendCode.day(
                words.prefix(count).joined(separator: " "), type: .heartRate, date: Self.date)
            #expect(cut != day)
            // Between two hours nothing tells that one is missing.
            #expect(cut == nil || (count - 8) % 10 == 0)
        }
        for text in [
            "2 0 0 0 - - - -", "1 0 0 0 x - - -", "1 0 0 0 - - - - 1 ", "", "-", "1  0 0 - - - -", "1 0 0 -",
            "1 0 1 5 5 5 5 0", "1 0 1 5 5 5 5 -", "1 0 1 5 5 5 - 1",
        ] {
            #expect(TrendCode.day(text, type: .heartRate, date: Self.date) == nil, "\(text)")
        }
        #expect(TrendCode.day("1 0 0 0 - - - -", type: .heartRate, date: Self.date) != nil)
    }
}
