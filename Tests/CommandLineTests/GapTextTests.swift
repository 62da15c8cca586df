import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import CommandLineText

private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let ring = RingID(rawValue: 0xb5e5_d00d)
private let times = LocalTimesTests.berlin

private func time(_ text: String) throws -> Timestamp {
    try TimeArgument(text).timestamp(now: Timestamp(milliseconds: 0))
}

@Suite struct GapTextTests {
    private func text(
        _ gaps: [Gap], all: Bool = false, width: Int = 100, name: String? = "Anna"
    ) -> String {
        var band = BandStatus(address: address, device: DeviceID(address), mode: .own)
        band.name = name
        return GapText(gaps.map { BandGap(device: DeviceID(address), gap: $0) }, bands: [band]).rendered(
            all: all, times: times, terminal: Terminal(width: width))
    }

    private func gap(_ cause: GapCause = .overwritten, healed: Timestamp? = nil) throws -> Gap {
        Gap(
            ring: ring, firstSeq: 17, lastSeq: 1020, after: try time("2026-10-03T12:05Z"),
            before: try time("2026-10-09T06:12Z"), cause: cause, healedAt: healed)
    }

    @Test func aGapIsSaidInSentences() throws {
        #expect(
            text([try gap()]) == """
                F0:F1:F2:F3:F4:F5 (Anna)

                  No data from 3 Oct 14:05 to 9 Oct 08:12 +02:00 (5 days 18 h).
                    1,004 records, 17 to 1020 of ring b5e5d00d.
                    The band's memory was full before it was read, and it wrote over its oldest records. They can
                    still come back, but only if another gateway or a restored database has them.
                    What to do: Let the band come near this gateway more often, so that its memory does not fill up.

                Times are those of Europe/Berlin.

                """)
    }

    @Test func whatIsNotKnownIsSaidSo() throws {
        var open = try gap(.reformatted)
        open.lastSeq = nil
        #expect(text([open]).contains("Records from 17 on of ring b5e5d00d; how many is not known."))
        open.before = nil
        #expect(text([open]).contains("No data after 3 Oct 14:05 +02:00; until when is not known."))
        open.after = nil
        #expect(text([open]).contains("Data is missing; when it was measured is not known."))
        open.before = try time("2026-10-09T06:12Z")
        #expect(text([open]).contains("No data before 9 Oct 08:12 +02:00; since when is not known."))
        open.after = try time("2026-10-09T06:13Z")
        #expect(text([open]).contains("Data is missing at about 9 Oct 08:12 +02:00"))
        open.lastSeq = 17
        #expect(text([open]).contains("1 record, number 17 of ring"))
        open.lastSeq = 3
        #expect(text([open]).contains("number 17 of ring"), "a damaged row is no trap")
    }

    @Test(arguments: GapCause.allCases) func everyCauseSaysWhyWhetherItHealsAndWhatToDo(_ cause: GapCause)
        throws
    {
        let words = GapWords(cause)
        #expect(words.canHeal == ![GapCause.lostByBand, .unreadable].contains(cause))
        #expect(words.canHeal == words.outlook.contains("another gateway or a restored database"))
        let shown = text([try gap(cause)], width: 40).split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        for part in [words.why, words.outlook, "What to do: \(words.remedy)"] {
            #expect(shown.contains(part))
        }
        for part in [words.why, words.outlook, words.remedy] {
            #expect(part.hasSuffix(".") && !part.contains("_") && !part.contains("seq"))
        }
        let others = GapCause.allCases.filter { $0 != cause }.map { GapWords($0).why }
        #expect(!others.contains(words.why))
    }

    @Test func thoseThatHealedAreCountedAndListedWithAll() throws {
        let healed = try gap(healed: try time("2026-10-12T08:00Z"))
        let short = text([healed, try gap(.unreadable)])
        #expect(short.contains("1 gap healed: the records came after all. 'bandferry gaps --all' lists it."))
        #expect(!short.contains("12 Oct"))
        let long = text([healed, try gap(.unreadable)], all: true)
        #expect(
            long.contains(
                """
                Healed
                  F0:F1:F2:F3:F4:F5 (Anna)
                    3 Oct 14:05 to 9 Oct 08:12 +02:00: 1,004 records from 17 on, back since 12 Oct 10:00 +02:00
                """), "\(long)")
        #expect(text([healed]).hasPrefix("No gaps any more: "))
        #expect(text([]) == "No gaps: every record that was seen on a band is here.\n")
    }

    @Test(arguments: [30, 40, 60, 80, 120, 300]) func noLineIsWiderThanTheTerminalNorThanTheEyeFollows(
        _ width: Int
    ) throws {
        let gaps = [try gap(), try gap(healed: try time("2026-10-12T08:00Z"))]
        for line in text(gaps, all: true, width: width).split(separator: "\n") {
            #expect(line.count <= min(width, 100), "\(line)")
        }
    }

    @Test func eachBandHasItsOwnPart() throws {
        let other = try #require(DeviceID("another"))
        let gaps = [
            BandGap(device: DeviceID(address), gap: try gap()), BandGap(device: other, gap: try gap()),
            BandGap(device: DeviceID(address), gap: try gap(.unreadable)),
        ]
        let text = GapText(gaps, bands: []).rendered(all: false, times: times, terminal: Terminal(width: 100))
        #expect(
            text.split(separator: "\n").filter { !$0.hasPrefix(" ") } == [
                "band_F0F1F2F3F4F5", "another", "Times are those of Europe/Berlin.",
            ])
    }

    @Test(arguments: [
        (0, "less than a minute"), (59, "less than a minute"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"),
        (11_520, "3 h 12 min"), (86_399, "23 h 59 min"), (86_400, "1 day"), (86_460, "1 day"),
        (90_000, "1 day 1 h"),
        (496_020, "5 days 17 h"),
    ])
    func aLengthIsSaidInItsTwoLargestUnits(_ seconds: Int64, _ text: String) {
        #expect(GapSentence.length(seconds) == text)
    }

    @Test func aBandsNameCannotSteerTheTerminal() throws {
        let text = text([try gap()], name: "x\u{1b}[2J\u{202e}")
        #expect(!text.unicodeScalars.contains("\u{1b}") && !text.unicodeScalars.contains("\u{202e}"))
    }

    @Test func jsonHasEveryField() throws {
        var open = try gap(.lostByBand, healed: try time("2026-10-12T08:00Z"))
        open.lastSeq = nil
        var band = BandStatus(address: address, device: DeviceID(address), mode: .own)
        band.name = "Anna"
        let gaps = [
            BandGap(device: DeviceID(address), gap: open), BandGap(device: DeviceID(address), gap: try gap()),
        ]
        let text = GapText(gaps, bands: [band]).json.text
        #expect(
            text.hasPrefix(
                #"[{"device_id":"band_F0F1F2F3F4F5","address":"F0:F1:F2:F3:F4:F5","name":"Anna","ring":"b5e5d00d","#
                    + #""first_seq":17,"last_seq":null,"after":"2026-10-03T12:05:00.000Z","#
                    + #""before":"2026-10-09T06:12:00.000Z","cause":"lost_by_band","can_heal":false,"#
                    + #""healed_at":"2026-10-12T08:00:00.000Z"},"#), "\(text)")
        #expect(
            text.hasSuffix(
                #""last_seq":1020,"after":"2026-10-03T12:05:00.000Z","before":"2026-10-09T06:12:00.000Z","cause":"overwritten","can_heal":true,"healed_at":null}]"#
            ))
    }
}
