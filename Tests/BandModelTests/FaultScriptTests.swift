import BandModel
import Testing

@Suite struct FaultScriptTests {
    @Test func aScriptReadsEveryForm() throws {
        let script = try FaultScript(
            "drop:0.01, truncate@3,overwrite@100:50 noend\nunreadable=1234,slow:420,never-answer:WriteValue@3,"
                + "late-services:0.5:200")
        let expected: [Fault] = [
            Fault(kind: .drop, trigger: .probability(0.01), amount: 0, method: nil),
            Fault(kind: .truncate, trigger: .at(3), amount: 0, method: nil),
            Fault(kind: .overwrite, trigger: .at(100), amount: 50, method: nil),
            Fault(kind: .noEnd, trigger: .always, amount: 0, method: nil),
            Fault(kind: .unreadable, trigger: .seq(1234), amount: 0, method: nil),
            Fault(kind: .slow, trigger: .always, amount: 420, method: nil),
            Fault(kind: .neverAnswer, trigger: .at(3), amount: 0, method: "WriteValue"),
            Fault(kind: .lateServices, trigger: .probability(0.5), amount: 200, method: nil),
        ]
        #expect(script.faults == expected)
        #expect(script.notificationsPerSecond == 420)
    }

    @Test(arguments: [
        ("drop,dorp@3", "fault script, item 2 \"dorp@3\": no fault is called \"dorp\""),
        ("drop:2", "fault script, item 1 \"drop:2\": \"2\" is not a probability between 0 and 1"),
        ("drop:x", "fault script, item 1 \"drop:x\": \"x\" is not a probability between 0 and 1"),
        ("drop@0", "fault script, item 1 \"drop@0\": events are counted from 1"),
        ("drop@-1", "fault script, item 1 \"drop@-1\": \"-1\" is not a count"),
        ("drop@3:5", "fault script, item 1 \"drop@3:5\": drop has no amount"),
        ("drop=5", "fault script, item 1 \"drop=5\": drop is not tied to a seq; use drop@N"),
        ("absent=99999999999", "fault script, item 1 \"absent=99999999999\": \"99999999999\" is not a seq"),
        ("absent@5", "fault script, item 1 \"absent@5\": absent needs a seq: absent=1234"),
        ("slow", "fault script, item 1 \"slow\": slow needs notifications a second: slow:420"),
        (
            "neveranswer@1",
            "fault script, item 1 \"neveranswer@1\": neveranswer needs a method: neveranswer:ReadValue"
        ),
        ("stall@3=4", "fault script, item 1 \"stall@3=4\": \"=4\" is left over"),
    ])
    func aBadScriptNamesItemAndProblem(text: String, problem: String) {
        #expect(throws: FaultScriptError.self) { try FaultScript(text) }
        do { _ = try FaultScript(text) } catch { #expect(error.description == problem) }
    }

    @Test func anEmptyScriptHasNoFaults() throws {
        #expect(try FaultScript(" \n,").faults.isEmpty)
    }

    @Test(arguments: FaultKind.allCases) func everyFaultCanBeNamed(kind: FaultKind) throws {
        let text =
            switch kind {
            case .slow: "slow:5"
            case .neverAnswer, .failCall: "\(kind.rawValue):Connect"
            case .absent, .unreadable: "\(kind.rawValue)=5"
            default: kind.rawValue
            }
        #expect(try FaultScript(text).contains(kind))
    }
}
