import BlueZModel
import GatewayModel
import Testing

@testable import Gateway

/// A bond that was lost, one that never was, and a wrong passkey are told apart, and none is tried for ever.
@Suite struct BondJudgeTests {
    struct Row: Sendable {
        var name: String
        var text: String
        var during: BlueZOperation
        var wasBonded: Bool
        var demand = PairingDemand.nothing
        var reason: String?
        var expected: BondTrouble?

        init(
            _ name: String, _ text: String, _ during: BlueZOperation, bonded: Bool,
            asked demand: PairingDemand = .nothing, reason: String? = nil,
            _ expected: BondTrouble?
        ) {
            self.name = name
            self.text = text
            self.during = during
            wasBonded = bonded
            self.demand = demand
            self.reason = reason
            self.expected = expected
        }
    }

    private static let bluez = "org.bluez.Error."
    static let rows = [
        // The band forgot: BlueZ has keys.
        Row(bluez + "Failed", "le-connection-key-missing", .connect, bonded: true, .lost),
        Row(bluez + "AuthenticationFailed", "Authentication Failed", .pair, bonded: true, .lost),
        Row(bluez + "NotPermitted", "Not paired", .read, bonded: true, .lost),
        Row(
            bluez + "Failed", "Not connected", .read, bonded: true, reason: "org.bluez.Reason.Authentication",
            .lost),
        // There was never a bond.
        Row(bluez + "AuthenticationFailed", "Authentication Failed", .pair, bonded: false, .never),
        Row(bluez + "AuthenticationRejected", "Authentication Rejected", .pair, bonded: false, .never),
        Row(bluez + "NotPermitted", "Not paired", .read, bonded: false, .never),
        Row(
            bluez + "AuthenticationFailed", "Authentication Failed", .pair, bonded: false,
            asked: .nobodyThere, .never),
        Row(
            bluez + "Failed", "Not connected", .read, bonded: false,
            reason: "org.bluez.Reason.Authentication", .never),
        // It is tried again once the other band is paired.
        Row(
            bluez + "AuthenticationRejected", "Authentication Rejected", .pair, bonded: false, asked: .notNow,
            nil),
        Row(
            bluez + "Failed", "Not connected", .read, bonded: false, asked: .notNow,
            reason: "org.bluez.Reason.Authentication", nil),
        Row(
            bluez + "Failed", "le-connection-key-missing", .connect, bonded: true, asked: .notNow, .lost),
        // Digits were given, and were not those.
        Row(
            bluez + "AuthenticationFailed", "Authentication Failed", .pair, bonded: false, asked: .answered,
            .wrongPasskey),
        Row(
            bluez + "AuthenticationFailed", "Authentication Failed", .pair, bonded: false, asked: .shown,
            .wrongPasskey),
        Row(
            bluez + "AuthenticationTimeout", "Authentication Timeout", .pair, bonded: false, asked: .declined,
            .declined),
        Row(
            bluez + "AuthenticationRejected", "Authentication Rejected", .pair, bonded: false,
            asked: .declined, .declined),
        // BlueZ 5.66 says this of a lost bond, and of a weak signal.
        Row(bluez + "Failed", "le-connection-abort-by-local", .connect, bonded: true, .doubtful),
        Row(bluez + "Failed", "Software caused connection abort", .connect, bonded: true, .doubtful),
        Row(bluez + "Failed", "le-connection-abort-by-local", .connect, bonded: false, nil),
        Row(bluez + "Failed", "Operation failed with ATT error: 0x0e", .read, bonded: true, .doubtful),
        // Other troubles.
        Row(bluez + "NotReady", "Resource Not Ready", .connect, bonded: true, nil),
        Row(bluez + "InProgress", "In Progress", .connect, bonded: true, nil),
        Row(bluez + "Failed", "Input/output error", .connect, bonded: true, nil),
        Row(bluez + "Failed", "le-connection-concurrent-connection-limit", .connect, bonded: true, nil),
        Row("org.freedesktop.DBus.Error.NoReply", "", .connect, bonded: true, nil),
        Row(bluez + "Failed", "Not connected", .read, bonded: false, reason: "org.bluez.Reason.Timeout", nil),
    ]

    @Test(arguments: rows) func eachIsToldApart(_ row: Row) {
        let failure = BlueZFailure(name: row.name, text: row.text, during: row.during)
        let evidence = BondEvidence(
            kind: failure.kind, operation: failure.operation, wasBonded: row.wasBonded, demand: row.demand,
            reason: row.reason)
        #expect(BondJudge.judge(evidence) == row.expected)
    }

    @Test func everyTroubleHasAFixThatNamesTheBand() {
        let band = BluetoothAddressFixture.band
        var codes: Set<String> = []
        for trouble in BondTrouble.allCases {
            let problem = Problem.bond(trouble, of: band)
            #expect(problem.remedy.contains("bandferry pair \(band)"))
            #expect(problem.text.hasSuffix(".") && problem.code == trouble.rawValue)
            codes.insert(problem.code)
        }
        #expect(codes.count == BondTrouble.allCases.count)
    }
}

@Suite struct BondWatchTests {
    private let start = Timestamp(milliseconds: 1_793_000_000_000)
    private func after(_ seconds: Int64) -> Timestamp {
        Timestamp(milliseconds: start.milliseconds + seconds * 1_000)
    }

    @Test(arguments: BondTrouble.allCases) func itIsTriedSoOftenAndThenLeftAlone(_ trouble: BondTrouble) {
        var watch = BondWatch()
        for number in 1..<trouble.tries {
            watch.failed(trouble, at: start)
            #expect(watch.rest(at: start) == nil && watch.tries == number)
            #expect(watch.isNamed == (trouble != .doubtful))
        }
        watch.failed(trouble, at: start)
        #expect(watch.isNamed && watch.rest(at: start) == trouble.rest)
        let seconds = Int64(trouble.rest / .seconds(1))
        #expect(watch.rest(at: after(seconds)) == nil)
        // One try, and it is left alone again.
        watch.failed(trouble, at: after(seconds))
        #expect(watch.rest(at: after(seconds)) == trouble.rest)
    }

    @Test func whatIsCertainEndsADoubtAndNotTheOtherWayRound() {
        var watch = BondWatch()
        for _ in 1...4 { watch.failed(.doubtful, at: start) }
        watch.failed(.lost, at: start)
        #expect(watch.trouble == .lost && watch.tries == 1)
        watch.failed(.doubtful, at: start)
        watch.failed(.doubtful, at: start)
        #expect(watch.trouble == .lost && watch.rest(at: start) == BondTrouble.lost.rest)
        watch.failed(.wrongPasskey, at: start)
        #expect(watch.trouble == .wrongPasskey && watch.tries == 1)
    }

    /// A weak signal is no lost bond: it is worth a try when the band is back.
    @Test func aDoubtRestsUntilTheBandHasBeenAway() {
        var watch = BondWatch()
        for _ in 1...5 { watch.failed(.doubtful, at: start) }
        #expect(watch.rest(at: start) == .seconds(900))
        watch.wasMissed()
        #expect(watch.rest(at: start) == nil && watch.isNamed && watch.trouble == .doubtful)
        // One try, and it is left alone again.
        watch.failed(.doubtful, at: start)
        #expect(watch.rest(at: start) == .seconds(900))
        var certain = BondWatch()
        for _ in 1...3 { certain.failed(.lost, at: start) }
        certain.wasMissed()
        #expect(certain.rest(at: start) == BondTrouble.lost.rest)
    }

    /// A host without a battery clock may wake up years before, or after.
    @Test func aClockThatSteppedDoesNotKeepItAway() {
        var watch = BondWatch()
        for _ in 1...3 { watch.failed(.lost, at: start) }
        #expect(watch.rest(at: after(-3_600)) == nil)
        #expect(watch.rest(at: after(90_000)) == nil)
        #expect(watch.rest(at: after(1)) != nil)
    }

    @Test func whatTheStoreGivesBackIsTheSame() {
        var watch = BondWatch()
        for _ in 1...3 { watch.failed(.never, at: start) }
        #expect(
            BondWatch(trouble: watch.trouble, tries: watch.tries, restUntil: watch.restUntil) == watch)
        #expect(BondWatch(trouble: nil, tries: 7, restUntil: start) == BondWatch())
    }
}
