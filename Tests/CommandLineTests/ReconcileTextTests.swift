import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import CommandLineText

private let now = Timestamp(milliseconds: 1_793_079_060_000)  // 2026-10-27T05:31:00Z
private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let ring = RingID(rawValue: 0xb5e5_d00d)

private func band() -> BandStatus {
    var band = BandStatus(address: address, device: DeviceID(address), mode: .own)
    band.name = "Anna"
    return band
}

private func report(_ differences: [DayDifference] = [], isMarked: Bool = true) -> ReconcileReport {
    var report = ReconcileReport(device: DeviceID(address), isMarked: isMarked)
    report.days = 31
    report.differences = differences
    report.differingDays = Set(differences.map(\.day)).count
    report.missing = differences.reduce(0) { $0 + $1.missing }
    report.onlyThere = differences.reduce(0) { $0 + $1.onlyThere }
    return report
}

private func text(_ report: ReconcileReport, width: Int = 100) -> String {
    ReconcileText([report], bands: [band()], now: now).rendered(for: Terminal(width: width))
}

@Suite struct ReconcileTextTests {
    private let lost = DayDifference(
        day: 20_753, ring: ring, type: .heartRate, here: 1_440, there: 1_200, missing: 240,
        missingSeqs: [120_000...120_239])

    @Test func eachDifferenceIsASentence() {
        let more = DayDifference(
            day: 20_754, ring: ring, type: .steps, here: 900, there: 950, onlyThere: 50, elsewhere: 2)
        let shown = text(report([lost, more]), width: 300)
        #expect(
            shown == """
                F0:F1:F2:F3:F4:F5 (Anna): 31 days compared, 2 differ.
                  - 2026-10-27 (UTC), heart rate: 1,440 here, 1,200 there: 240 missing there (records 120000 to
                    120239 of ring b5e5d00d).
                  - 2026-10-28 (UTC), steps: 900 here, 950 there: 50 only there, 2 there on another day, as their
                    times were corrected.
                240 samples that the server lacks go up again.
                50 samples are only at the server: another gateway's, or from before this database. Nothing needs to
                be done.

                """)
    }

    @Test func aDryRunSaysWhatItWouldDo() {
        let shown = text(report([lost], isMarked: false))
        #expect(shown.contains("240 samples would go up again; run it without --dry-run"))
    }

    @Test func whatIsInDoubtIsSaidToBe() {
        var doubt = lost
        doubt.isUnclear = true
        let shown = text(report([doubt]))
        #expect(shown.contains("can't be told") && !shown.contains("120000"))
    }

    @Test func whatIsNoDifferenceIsNamed() {
        var clean = report()
        clean.expired = 86_400
        clean.expiredDays = 20_600...20_660
        clean.waiting = 12
        clean.kept = 1
        let shown = text(clean, width: 300)
        #expect(shown.hasPrefix("F0:F1:F2:F3:F4:F5 (Anna): 31 days compared, no difference.\n"))
        #expect(shown.contains("86,400 samples of 2026-05-27 to 2026-07-26 have expired there"))
        #expect(shown.contains("12 samples are still to go up.") && shown.contains("1 sample is kept here"))
    }

    @Test func aComparisonThatEndedEarlySaysWhy() {
        var broken = report()
        broken.problem = Problem(code: "c", text: "Not reached.", remedy: "Check it.")
        #expect(text(broken).contains("it ended before") && text(broken).contains("! Not reached."))
        #expect(ReconcileText.exitCode([broken]) == .failed && ReconcileText.exitCode([report()]) == .success)
        broken.days = 0
        #expect(text(broken).contains("could not be compared."))
    }

    @Test func daysThatAreNotNamedAreCounted() {
        var long = report([lost])
        long.differingDays = 5
        #expect(text(long).contains("... and 4 more days like that."))
    }

    @Test func jsonHasEveryFigure() throws {
        let json = ReconcileText([report([lost])], bands: [band()], now: now).json.text
        let list = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        let difference = try #require((list.first?["differences"] as? [[String: Any]])?.first)
        #expect(difference["day"] as? String == "2026-10-27" && difference["type"] as? String == "heart_rate")
        #expect((difference["missing_seqs"] as? [[String: Int]])?.first?["last_seq"] == 120_239)
        #expect(list.first?["marked"] as? Bool == true && list.first?["expired_from"] is NSNull)
    }

    @Test func progressIsOneLine() {
        let device = DeviceID(address)
        #expect(
            ReconcileText.progress(ReconcileProgress(device: device, done: 12, total: 31))
                == "band_F0F1F2F3F4F5: day 12 of 31")
        #expect(ReconcileText.progress(ReconcileProgress(device: device)).contains("asking the server"))
    }
}
