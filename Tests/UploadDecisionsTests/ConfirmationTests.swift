import Testing
import UploadDecisions

/// "A sample is confirmed when the answer is for its `sync_id`, the counts sum up, it is not in `rejected`, and `ack_seq`
/// of its type is at or above its seq."
@Suite struct ConfirmationTests {
    static let three = SentBatch(
        syncID: "id-1",
        samples: [
            .init(type: "heart_rate", seq: 10), .init(type: "steps", seq: 11),
            .init(type: "heart_rate", seq: 12),
        ])

    static func body(
        id: String = "id-1", accepted: Int = 3, duplicates: Int = 0, corrected: Int = 0,
        conflicts: String = "",
        rejected: String = "", ack: String = #""heart_rate":12,"steps":11"#
    ) -> String {
        #"{"sync_id":"\#(id)","accepted":\#(accepted),"duplicates":\#(duplicates),"corrected":\#(corrected),"#
            + #""conflicts":[\#(conflicts)],"rejected":[\#(rejected)],"ack_seq":{\#(ack)}}"#
    }

    func verdict(_ body: String) -> BatchVerdict? {
        let decision = StatusTable.decide(answered(200, body), batch: Self.three, wallTime: wallTime)
        if case .settle(let verdict) = decision { return verdict }
        #expect(decision == .backOff(.inconsistentAnswer, retryAfter: nil))
        return nil
    }

    @Test func aWholeAnswerConfirmsEverySample() {
        #expect(verdict(Self.body())?.confirmed == [0, 1, 2])
        #expect(verdict(Self.body(accepted: 0, duplicates: 3))?.confirmed == [0, 1, 2])
        #expect(verdict(Self.body(accepted: 1, duplicates: 1, corrected: 1))?.confirmed == [0, 1, 2])
    }

    @Test func aConflictIsStoredAtTheServerAndConfirmed() {
        let conflict = #"{"index":1,"type":"steps","seq":11}"#
        let verdict = verdict(Self.body(accepted: 2, conflicts: conflict))
        #expect(verdict?.confirmed == [0, 1, 2])
        #expect(verdict?.conflicts == 1)
    }

    static let lies = [
        body(id: "id-2"), body(id: ""), body(accepted: 2), body(accepted: 4), body(duplicates: 1),
        body(accepted: -1, duplicates: 4), body(accepted: .max, duplicates: .max),
        // A rejection that can't be placed makes the whole answer unusable.
        body(accepted: 2, rejected: #"{"index":3,"code":"bad_time","message":""}"#),
        body(accepted: 2, rejected: #"{"index":-1,"code":"bad_time","message":""}"#),
        body(
            accepted: 1,
            rejected:
                #"{"index":0,"code":"bad_time","message":""},{"index":0,"code":"bad_time","message":""}"#),
    ]

    @Test(arguments: lies) func anAnswerThatDoesNotFitTheBatchConfirmsNothing(_ body: String) {
        #expect(verdict(body) == nil)
    }

    @Test func aSampleAboveTheAckIsNotConfirmed() {
        #expect(verdict(Self.body(ack: #""heart_rate":11,"steps":11"#))?.confirmed == [0, 1])
        #expect(verdict(Self.body(ack: #""heart_rate":11,"steps":11"#))?.unconfirmed == [2])
        #expect(verdict(Self.body(ack: #""heart_rate":12"#))?.unconfirmed == [1])
        let lie = verdict(Self.body(ack: ""))
        #expect(lie?.confirmed == [])
        #expect(lie?.isProgress == false)
    }

    @Test func aRejectedSampleIsSetAsideAndOneWithoutConsentIsHeld() {
        let verdict = verdict(
            Self.body(
                accepted: 1,
                rejected: #"{"index":0,"code":"value_out_of_range","message":"value is outside"},"#
                    + #"{"index":2,"code":"consent_missing","message":""}"#))
        #expect(verdict?.confirmed == [1])
        #expect(
            verdict?.rejected == [.init(index: 0, code: "value_out_of_range", message: "value is outside")])
        #expect(verdict?.held == [2])
        #expect(verdict?.isProgress == true)
    }

    /// Codes are logged, counted by and stored: a server can't make any number of them, nor long ones.
    @Test func whatAServerSaysOfARejectionIsMadeFit() {
        func rejected(_ code: String, _ message: String = "") -> BatchVerdict.Rejected? {
            verdict(
                Self.body(accepted: 2, rejected: #"{"index":0,"code":"\#(code)","message":"\#(message)"}"#))?
                .rejected.first
        }
        for code in ["a", "bad_time", "x2_9", String(repeating: "a", count: 64)] {
            #expect(rejected(code)?.code == code)
        }
        for code in [
            "", "Bad", "bad-time", "a b", "a\\nb", "a\\u0000", "\\u001b[31m", "é", "\\u202e",
            String(repeating: "a", count: 65),
        ] {
            #expect(rejected(code)?.code == "unknown", "\(code)")
        }
        #expect(rejected("a", "say\\n\\u001b[2Jé\\u2028")?.message == "say  [2Jé ")
        // One character, by its grapheme.
        let stack = rejected("a", "e" + String(repeating: "\u{301}", count: 10_000))?.message
        #expect(stack?.unicodeScalars.count == 200)
    }

    @Test func aSampleThatIsRejectedIsNeverConfirmedByTheAck() {
        let verdict = verdict(
            Self.body(accepted: 2, rejected: #"{"index":1,"code":"a_new_code","message":""}"#))
        #expect(verdict?.confirmed == [0, 2])
        #expect(verdict?.rejected.map(\.code) == ["a_new_code"])
    }

    /// Whatever a server answers, an index is in one place only, and all are somewhere.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func everyIndexIsInExactlyOneList(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: 1...20, using: &random)
        let sent = batch(count)
        let bad = (0..<count).filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        let codes = ["bad_time", "consent_missing", "other"]
        let rejected = bad.map {
            #"{"index":\#($0),"code":"\#(codes[Int.random(in: 0..<3, using: &random)])","message":""}"#
        }
        let body = Self.body(
            accepted: count - bad.count, rejected: rejected.joined(separator: ","),
            ack: #""heart_rate":\#(Int.random(in: 0...count + 2, using: &random))"#)
        guard
            case .settle(let verdict) = StatusTable.decide(
                answered(200, body), batch: sent, wallTime: wallTime)
        else {
            Issue.record("seed \(seed): not settled")
            return
        }
        let all = verdict.confirmed + verdict.unconfirmed + verdict.held + verdict.rejected.map(\.index)
        #expect(all.sorted() == Array(0..<count), "seed \(seed)")
    }
}
