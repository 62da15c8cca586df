import CommandLineText
import Conditions
import Doctor
import Foundation
import GatewayModel
import Testing

private let now = Timestamp(milliseconds: 1_793_079_060_000)

private func diagnosis(_ findings: [Finding], daemon: DaemonFacts.State = .running) -> Diagnosis {
    Diagnosis(findings: findings, checked: [.configuration, .disk], daemon: daemon)
}

private let blocked = Finding(Problem(.adapterBlocked, ["operation": "use hci0", "detail": ""]))
private let weak = Finding(
    Problem(
        .weakSignal, ["band": "F0", "rssi": "-92", "limit": "-85"],
        since: Timestamp(milliseconds: now.milliseconds - 7_200_000)), subject: "Anna\u{1b}[2J")
private let lacks = Finding(Problem(.bluetoothdLacks, ["version": "5.66", "lacks": "this"]))

@Suite struct DoctorTextTests {
    @Test func eachFindingIsSaidWithSeverityCodeAndFix() {
        let text = DoctorText.rendered(
            diagnosis([blocked, weak, lacks]), now: now, terminal: Terminal(width: 80))
        #expect(text.hasPrefix("bandferryd is running.\n\nerror adapter_blocked\n  Could not use hci0: "))
        #expect(text.contains("    What to do: Run `rfkill unblock bluetooth`.\n"))
        #expect(text.contains("warning weak_signal\n  Anna?[2J: Band F0 is heard"))
        #expect(text.contains("(2 h\n  ago)"))
        #expect(text.contains("Looked at the configuration, the disk.\n"))
        #expect(text.hasSuffix("\n1 error, 1 warning, 1 notice.\n"))
        #expect(!text.contains("\u{1b}"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func whereNothingIsWrongThatIsSaid() {
        let text = DoctorText.rendered(diagnosis([]), now: now, terminal: Terminal())
        #expect(text.hasSuffix("\nNothing is wrong.\n"))
        let notice = DoctorText.rendered(diagnosis([lacks, lacks]), now: now, terminal: Terminal())
        #expect(notice.hasSuffix("\nNothing is wrong. 2 notices.\n"))
    }

    @Test func theExitStatusIsThatOfTheGravest() {
        #expect(DoctorText.exitCode(diagnosis([])) == .success)
        #expect(DoctorText.exitCode(diagnosis([lacks])) == .success)
        #expect(DoctorText.exitCode(diagnosis([lacks, weak])) == .warningsFound)
        #expect(DoctorText.exitCode(diagnosis([weak, blocked])) == .errorsFound)
    }

    @Test func eachStateOfTheDaemonIsSaid() {
        let states: [DaemonFacts.State] = [.running, .offTheBus, .stopped, .silent, .notPermitted, .unknown]
        let lines = states.map {
            DoctorText.rendered(diagnosis([], daemon: $0), now: now, terminal: Terminal()).prefix {
                $0 != "\n"
            }
        }
        #expect(Set(lines).count == states.count)
    }

    @Test func jsonHasTheSame() throws {
        let text = DoctorText.json(diagnosis([blocked, weak], daemon: .stopped)).text
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["healthy"] as? Bool == false)
        #expect(object["daemon"] as? String == "stopped")
        #expect(object["checked"] as? [String] == ["configuration", "disk"])
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.map { $0["code"] as? String } == ["adapter_blocked", "weak_signal"])
        #expect(findings.map { $0["severity"] as? String } == ["error", "warning"])
        #expect(findings[0]["subject"] is NSNull && findings[1]["subject"] as? String == "Anna\u{1b}[2J")
        #expect(findings[0]["remedy"] as? String == "Run `rfkill unblock bluetooth`.")
    }
}
