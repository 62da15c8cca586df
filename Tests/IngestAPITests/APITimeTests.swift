import Foundation
import Testing

@testable import IngestAPI

@Suite struct APITimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", 0),
        ("2026-10-27T05:31:00.000Z", 1_793_079_060_000),
        ("2000-02-29T23:59:59.999Z", 951_868_799_999),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0000-01-01T00:00:00.000Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ])
    func aWrittenTimeIsReadBack(_ text: String, _ milliseconds: Int64) {
        #expect(APITime(text)?.milliseconds == milliseconds)
        #expect(APITime(milliseconds: milliseconds).description == text)
    }

    @Test(arguments: [
        ("2026-10-27T05:31:00Z", 1_793_079_060_000),
        ("2026-10-27t05:31:00z", 1_793_079_060_000),
        ("2026-10-27T11:01:00+05:30", 1_793_079_060_000),
        ("2026-10-26T23:31:00-06:00", 1_793_079_060_000),
        ("2026-10-27T05:31:00.5Z", 1_793_079_060_500),
        ("2026-10-27T05:31:00.25Z", 1_793_079_060_250),
        ("2026-10-27T05:31:00.123999999Z", 1_793_079_060_123),
        ("2026-10-27T05:31:00-00:00", 1_793_079_060_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
        ("2016-12-31T15:59:60.750-08:00", 1_483_228_800_000),
    ])
    func otherSpellingsOfRFC3339AreRead(_ text: String, _ milliseconds: Int64) {
        #expect(APITime(text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "Z", "2026-10-27", "2026-10-27T05:31Z", "2026-10-27 05:31:00Z", "2026-10-27T05:31:00",
        "2026-10-27T05:31:00.Z", "2026-10-27T24:00:00Z", "2026-10-27T05:60:00Z", "2026-10-27T05:31:61Z",
        "2026-10-27T05:31:60Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "26-10-27T05:31:00Z",
        "+2026-10-27T05:31:00Z", "12026-10-27T05:31:00Z", "2026-10-27T05:31:00Zx",
        "2026-10-27T05:31:00+24:00",
        "2026-10-27T05:31:00+05", "2026-10-27T05:31:00+0530", " 2026-10-27T05:31:00Z", "2026-1-27T05:31:00Z",
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "２026-10-27T05:31:00Z", "1793079060000",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(APITime(text) == nil)
    }

    @Test func everyStrictPrefixIsRefused() {
        let text = "2026-10-27T05:31:00.000Z"
        for length in 0..<text.count { #expect(APITime(text.prefix(length)) == nil) }
    }

    @Test func timesAgreeWithFoundation() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            let milliseconds = Int64.random(in: -2_000_000_000_000...32_000_000_000_000, using: &random)
            let time = APITime(milliseconds: milliseconds)
            let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
            #expect(
                time.description.prefix(19)
                    == date.addingTimeInterval(milliseconds < 0 && milliseconds % 1000 != 0 ? -1 : 0)
                    .formatted(style).prefix(19))
            #expect(APITime(time.description) == time)
        }
    }

    @Test func timesBeyondFourDigitYearsAreMovedToTheNearest() {
        #expect(APITime(milliseconds: .max).description == "9999-12-31T23:59:59.999Z")
        #expect(APITime(milliseconds: .min).description == "0000-01-01T00:00:00.000Z")
    }

    @Test func daysRoundDownBeforeTheEpoch() {
        #expect(APITime(milliseconds: -1).day == "1969-12-31")
        #expect(APITime(milliseconds: -1).dayNumber == -1)
        #expect(APITime(milliseconds: 86_400_000).dayNumber == 1)
    }
}

/// A small generator with a seed, so that a failure can be run again.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
