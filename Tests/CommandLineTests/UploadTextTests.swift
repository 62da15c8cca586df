import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import CommandLineText

private let now = Timestamp(milliseconds: 1_793_079_060_000)  // 2026-10-27T05:31:00Z
private func later(_ seconds: Int64) -> Timestamp {
    Timestamp(milliseconds: now.milliseconds + seconds * 1000)
}
private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let ring = RingID(rawValue: 0xb5e5_d00d)

private func kept(_ reason: KeptSamples.Reason, _ code: String = "") -> KeptSamples {
    KeptSamples(
        reason: reason, code: code, ring: ring, count: 3, ranges: [3...4, 9...9], from: later(-7200),
        to: later(-3600))
}

private func upload(_ kept: [KeptSamples] = []) -> UploadStatus {
    var status = UploadStatus(state: .waiting, url: "https://ingest.example.org")
    status.lastSuccess = later(-180)
    status.bands = [
        UploadBand(device: DeviceID(address), address: address, name: "Anna", pending: 0, kept: kept)
    ]
    return status
}

private func text(_ status: UploadStatus, width: Int = 120) -> String {
    UploadText.rendered(
        status, times: .utc(now: now), terminal: Terminal(width: width), now: now)
}

@Suite struct UploadTextTests {
    @Test func nothingToSendIsShort() {
        #expect(
            text(upload()) == """
                Upload to https://ingest.example.org: waiting for something to send
                  pending       0 samples
                  last success  3 min ago

                """)
    }

    @Test func whatWaitsAndFailsIsSaidWithUntilWhenAndWhatToDo() {
        var status = upload()
        status.pending = 12_345
        status.bands[0].pending = 12_345
        status.inFlight = 500
        status.waitsUntil = later(240)
        status.lastErrorCode = "network_timeout"
        status.lastErrorAt = later(-60)
        status.problem = Problem(code: "network_timeout", text: "Not reached.", remedy: "Check the network.")
        let text = text(status)
        for part in [
            "12,345 samples, 500 of them in flight", "next try      in 4 min, at 27 Oct 05:35 UTC",
            "last error    network_timeout, 1 min ago\n", "F0:F1:F2:F3:F4:F5 (Anna)   12,345",
            "! Not reached.\n    What to do: Check the network.",
        ] { #expect(text.contains(part), "\(part) in\n\(text)") }
    }

    @Test func cheaperHoursAreWaitedForAndSaid() {
        var status = upload()
        status.metered = .hours(until: 365)
        #expect(text(status).contains("history       waits for the end of metered_hours at 6:05"))
        #expect(UploadText.json(status).text.contains(#""metered":{"by":"hours","until":"06:05"}"#))
        status.metered = .connection
        #expect(text(status).contains("connection that is not metered"))
    }

    @Test func anErrorThatIsOverIsSaidToBe() {
        var status = upload()
        status.lastErrorCode = "server_error"
        status.lastErrorAt = later(-7200)
        #expect(text(status).contains("server_error, 2 h ago; it is over"))
    }

    @Test func aPauseSaysUntilWhenAndHowItEnds() {
        var status = upload()
        status.state = .paused
        status.pause = UploadPause(since: later(-3600), until: later(3600))
        status.waitsUntil = later(60)
        let shown = text(status)
        #expect(shown.contains("org: paused\n") && shown.contains("1 h ago, until 27 Oct 06:31 UTC"))
        #expect(shown.contains("What to do: bandferry upload resume") && !shown.contains("next try"))
        status.pause?.until = nil
        #expect(text(status).contains("until 'bandferry upload resume'"))
    }

    @Test func aStoppedDaemonIsSaidWithItsLastFailure() {
        var status = upload()
        status.state = .stopped
        status.lastErrorCode = "authentication_failed"
        status.lastErrorAt = later(-60)
        let shown = text(status)
        #expect(shown.contains("bandferryd is not running") && shown.contains("systemctl start bandferryd"))
        #expect(shown.contains("Put a valid gateway token") && !shown.contains("it is over"))
    }

    @Test(arguments: KeptSamples.Reason.allCases)
    func whatDoesNotGoUpIsListedWithWhatToDo(_ reason: KeptSamples.Reason) {
        let shown = text(upload([kept(reason, "bad_time")]))
        #expect(
            shown.contains("3 to 4, 9 of ring b5e5d00d") && shown.contains("27 Oct 03:31 to 27 Oct 04:31 UTC")
        )
        #expect(shown.contains("bad_time") && shown.contains("What to do: "))
    }

    @Test func withoutAServerThatIsSaid() {
        #expect(
            text(UploadStatus(state: .off)).hasPrefix(
                "No server is configured: samples are kept here only.\n"))
    }

    @Test func jsonHasEveryFigureAndNoValue() throws {
        var status = upload([kept(.refused, "bad_time"), kept(.hostClock)])
        status.pause = UploadPause(since: now)
        status.lastErrorCode = "server_error"
        let json = UploadText.json(status).text
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["state"] as? String == "waiting" && object["waits_until"] is NSNull)
        #expect((object["last_error"] as? [String: Any])?["code"] as? String == "server_error")
        #expect((object["paused"] as? [String: Any])?["until"] is NSNull)
        let band = try #require((object["bands"] as? [[String: Any]])?.first)
        let samples = try #require(band["kept"] as? [[String: Any]])
        #expect(samples.map { $0["reason"] as? String } == ["refused", "host_clock"])
        #expect(samples[0]["code"] as? String == "bad_time" && samples[1]["code"] is NSNull)
        #expect((samples[0]["ranges"] as? [[String: Int]])?.last == ["first_seq": 9, "last_seq": 9])
        #expect(!json.contains("value"))
    }
}

@Suite struct UploadReportTextTests {
    private func text(_ report: UploadReport, waited: Int = 60) -> String {
        UploadReportText.rendered(report, waited: waited, terminal: Terminal(width: 100))
    }

    @Test func eachEndHasItsWordsAndItsStatus() {
        let problem = Problem(code: "c", text: "Not reached.", remedy: "Check it.")
        let ends: [(UploadReport, Int, String, ExitCode)] = [
            (UploadReport(sent: 1_234, left: 0), 60, "1,234 samples went up. Nothing is left.\n", .success),
            (UploadReport(sent: 0, left: 0), 60, "Nothing went up. Nothing is left.\n", .success),
            (UploadReport(sent: 1, left: 3), 60, "1 sample went up. 3 samples are kept back:", .success),
            (
                UploadReport(sent: 1, left: 9, isCut: true), 30, "9 samples are still to go after 30 s",
                .failed
            ),
            (UploadReport(sent: 0, left: 2, problem: problem), 60, "! Not reached.", .failed),
            (UploadReport(sent: 0, left: 2, isCut: true), 0, "The upload begins.", .success),
            (
                UploadReport(sent: 0, left: 2, problem: problem, isCut: true), 0,
                "The upload does not begin. 2 samples are still here.\n! Not reached.", .failed
            ),
        ]
        for (report, waited, words, code) in ends {
            #expect(
                text(report, waited: waited).contains(words), "\(words) in \(text(report, waited: waited))")
            #expect(UploadReportText.exitCode(report, waited: waited) == code)
        }
    }

    @Test(arguments: [
        ("90s", 90), ("45m", 2_700), ("2h", 7_200), ("1h30m", 5_400), ("3d", 259_200), ("366d", 31_622_400),
        ("", nil), ("5", nil), ("m", nil), ("0s", nil), ("367d", nil), ("1.5h", nil), ("-1h", nil),
        ("99999999999h", nil), ("1h 30m", nil), ("9999999999s", nil),
    ])
    func timesAreWrittenAsPeopleDo(_ text: String, _ seconds: Int?) {
        #expect(DurationArgument.seconds(text) == seconds)
    }
}
