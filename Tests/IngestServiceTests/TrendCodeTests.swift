import CivilTime
import IngestAPI
import SampleChunks
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

    /// Two wearers, one of whom has all that the band has of some types.
    private func lives(seed: UInt64) -> DeviceDay {
        var day = DeviceDay()
        for type in APISampleType.allCases {
            day[type, nil] = life(type, seed: seed)
            day[type, "p"] = type == .steps ? life(type, seed: seed + 1) : day[type, nil]
        }
        day[.spo2, "\u{e9}"] = life(.spo2, seed: seed + 2)
        return day
    }

    @Test func aDayComesBackAsItWas() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            let day = lives(seed: seed)
            #expect(day.days.values.allSatisfy { $0.hours.count > 24 && $0.withoutOffset > 0 })
            let content = TrendCode.bytes(day)
            #expect(try TrendCode.day(content, date: Self.date) == day, "seed \(seed)")
            for (key, own) in day.days {
                #expect(try TrendCode.day(content, date: Self.date, only: key).days[key] == own)
            }
            let nobody = DeviceDay.Key(type: .steps, person: "e\u{301}")
            #expect(try TrendCode.day(content, date: Self.date, only: nobody).days[nobody] == nil)
        }
    }

    @Test func aDayWithoutHoursComesBackToo() throws {
        var day = DeviceDay()
        for type in APISampleType.allCases { day[type, "p"] = TrendDay(type: type, date: Self.date) }
        #expect(try TrendCode.day(TrendCode.bytes(day), date: Self.date) == day)
    }

    /// 60 to 69 beats, a minute apart, from 10:00 on at +5:30.
    private static let tenBeats: (date: CivilDate, day: DeviceDay, text: String) = {
        let start = CivilDate(year: 2026, month: 10, day: 27)
        let samples = (0..<10).map {
            TrendSample(
                recordedAt: start.midnight(offsetMinutes: 330) + 36_000_000 + Int64($0) * 60_000,
                offsetMinutes: 330,
                value: 60 + $0)
        }
        var day = DeviceDay()
        day[.heartRate, nil] = TrendDays.compute(type: .heartRate, samples: samples)[start]
        day[.heartRate, "p"] = day[.heartRate, nil]
        return (start, day, "1 0 10 645 60 69 645 10 10 330 1793075400000 1793075940000 10 645 60 69 645 10")
    }()

    private static let version2 =
        "02010170011f00010014009405000000c0f541001400005a00007800001200001400005a000900"

    @Test func theStoredFormOfVersion2() throws {
        let hex = TrendCode.bytes(Self.tenBeats.day).map {
            String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
        }
        #expect(hex.joined() == Self.version2)
    }

    @Test func theStoredFormOfVersion1() throws {
        let (date, day, text) = Self.tenBeats
        #expect(try TrendCode.day(Array("\t1\t\(text)\np\t1\t\(text)".utf8), date: date) == day)
        #expect(throws: DamagedChunk.self) { try TrendCode.day(Array("\t1\t2\(text)".utf8), date: date) }
        #expect(throws: DamagedChunk.self) { try TrendCode.day(Array(text.utf8), date: date) }
        #expect(throws: DamagedChunk.self) { try TrendCode.day([], date: date) }
        for text in [
            "2 0 0 0 - - - -", "1 0 0 0 x - - -", "1 0 0 0 - - - - 1 ", "", "-", "1  0 0 - - - -", "1 0 0 -",
            "1 0 1 5 5 5 5 0", "1 0 1 5 5 5 5 -", "1 0 1 5 5 5 - 1",
        ] {
            #expect(TrendText.day(text, type: .heartRate, date: date) == nil, "\(text)")
        }
        #expect(TrendText.day("1 0 0 0 - - - -", type: .heartRate, date: date) != nil)
    }

    @Test func damageIsAnErrorAndNeverATrap() {
        let whole = TrendCode.bytes(lives(seed: 1))
        for length in 0..<whole.count {
            // Between two parts nothing tells that one is missing.
            let cut = try? TrendCode.day(Array(whole.prefix(length)), date: Self.date)
            #expect((cut?.days.count ?? 0) < 9)
        }
        var random = SeededRandom(seed: 1)
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? TrendCode.day(bytes, date: Self.date)
        }
    }

    /// Every minute a heart rate and steps, SpO2 each five, a night of stages, one wearer: what a day may take at most.
    @Test func anOrdinaryDayIsSmall() throws {
        var random = SeededRandom(seed: 1)
        var day = DeviceDay()
        func life(_ type: APISampleType, every minutes: Int, _ values: ClosedRange<Int>, hours: Int = 24) {
            let samples = (0..<hours * 60 / minutes).map { number in
                TrendSample(
                    recordedAt: Self.date.midnight(offsetMinutes: 330) + 137 + Int64(number * minutes)
                        * 60_000,
                    offsetMinutes: 330, value: .random(in: values, using: &random))
            }
            day[type, nil] = TrendDays.compute(type: type, samples: samples)[Self.date]
            day[type, "0b0f3a1e-6d5c-4e44-9d5c-0b0f3a1e6d5c"] = day[type, nil]
        }
        life(.heartRate, every: 1, 48...140)
        life(.steps, every: 1, 0...120)
        life(.spo2, every: 5, 940...990)
        life(.sleepStage, every: 11, 0...3, hours: 8)
        #expect(TrendCode.bytes(day).count < 900)
    }
}
