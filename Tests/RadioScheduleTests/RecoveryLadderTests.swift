import BandProfile
import HistorySync
import RadioSchedule
import Testing

private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1_000) }

private func newLadder() -> RecoveryLadder { RecoveryLadder(syncInterval: 900_000) }

extension RecoveryLadder {
    /// Notices, and does what it says.
    fileprivate mutating func take(
        _ symptom: RadioSymptom, with band: Int? = nil, at now: MonotonicTime, mayRestart: Bool = true,
        use: RadioUse = RadioUse()
    ) -> Remedy? {
        let remedy = noticed(
            symptom, with: band.map { bandAddress($0) }, at: now, mayRestart: mayRestart, use: use)
        if let remedy { tried(remedy, for: symptom, at: now, didSomething: true) }
        return remedy
    }
}

@Suite struct RecoveryLadderTests {
    private func climb(
        _ symptoms: [RadioSymptom], every: Int64 = 600, mayRestart: Bool = true, use: RadioUse = RadioUse()
    ) -> (RecoveryLadder, [Remedy?]) {
        var ladder = newLadder()
        let remedies = symptoms.enumerated().map { index, symptom in
            ladder.take(symptom, at: time(Int64(index) * every), mayRestart: mayRestart, use: use)
        }
        return (ladder, remedies)
    }

    @Test func aWedgedBluetoothdLeadsUpTheTiers() {
        let (ladder, remedies) = climb(Array(repeating: .noAnswer, count: 3), every: 3_600)
        #expect(remedies == [.stopDiscovery, .restartService, .restartService])
        #expect(ladder.taken == [.stopDiscovery: 1, .restartService: 2])
        let (_, stuck) = climb(Array(repeating: .discoveryStuck, count: 5), every: 3_600)
        #expect(stuck == [.stopDiscovery, .powerCycle, .powerCycle, .restartService, .restartService])
    }

    @Test func theServiceIsOnlyRestartedWhereItIsAllowed() {
        let (ladder, remedies) = climb(
            Array(repeating: .noAnswer, count: 100), every: 3_600, mayRestart: false)
        #expect(!remedies.contains(.restartService) && remedies.contains(.powerCycle))
        #expect(ladder.isLost)
    }

    @Test func onlyDataClearsTheStrikes() {
        var ladder = newLadder()
        for _ in 0..<3 { _ = ladder.take(.discoveryStuck, at: time(0), mayRestart: false) }
        // The remedies that were taken have changed nothing of it.
        #expect(ladder.strikes == 12 && ladder.taken[.powerCycle] == 1)
        ladder.worked(at: time(1))
        #expect(ladder.strikes == 0)
        #expect(ladder.taken == [.stopDiscovery: 2, .powerCycle: 1], "what was done stays counted")
        #expect(ladder.take(.discoveryStuck, at: time(1), mayRestart: false) == .stopDiscovery)
    }

    @Test func dataDoesNotBringTheNextStrongRemedyNearer() {
        var ladder = newLadder()
        for _ in 0..<2 { _ = ladder.take(.adapterFault, at: time(0), mayRestart: false) }
        #expect(ladder.taken == [.powerCycle: 1])
        // It works for a moment after each.
        ladder.worked(at: time(10))
        for second in Int64(20)..<300 {
            #expect(ladder.take(.adapterFault, at: time(second), mayRestart: false) == nil)
        }
        #expect(ladder.take(.adapterFault, at: time(300), mayRestart: false) == .powerCycle)
    }

    @Test func theSameStrongRemedyIsTakenMoreAndMoreSeldom() {
        var ladder = newLadder()
        var cycles: [Int64] = []
        for minute in Int64(0)..<(3 * 1_440) {
            let remedy = ladder.take(.adapterFault, at: time(minute * 60), mayRestart: false)
            if remedy == .powerCycle { cycles.append(minute) }
        }
        let pauses = zip(cycles, cycles.dropFirst()).map { $1 - $0 }
        #expect(pauses.prefix(4) == [5, 10, 20, 40] && pauses.last == 360)
    }

    @Test func aRemedyThatDidNothingIsNotCountedAndIsNotTriedAtOnceAgain() {
        var ladder = newLadder()
        for _ in 0..<2 {
            _ = ladder.noticed(.adapterFault, at: time(0), mayRestart: false, use: RadioUse())
        }
        ladder.tried(.powerCycle, for: .adapterFault, at: time(0), didSomething: false)
        #expect(ladder.taken.isEmpty && !ladder.isLost)
        #expect(ladder.noticed(.adapterFault, at: time(1), mayRestart: false, use: RadioUse()) == nil)
        // Where no link is left over there is none to drop.
        var other = newLadder()
        #expect(other.noticed(.stuckLink, at: time(1), mayRestart: false, use: RadioUse()) == nil)
    }

    @Test func linksOfOthersAreNotCutForOurTrouble() {
        let others = RadioUse(byOthers: true)
        let (_, remedies) = climb(Array(repeating: .adapterFault, count: 40), use: others)
        #expect(!remedies.contains(.powerCycle) && !remedies.contains(.restartService))
        let (_, wedged) = climb(Array(repeating: .noAnswer, count: 4), mayRestart: false, use: others)
        #expect(wedged.contains(.powerCycle))
        // A restart ends links over other adapters too; switching this one off does not.
        let (_, far) = climb(
            Array(repeating: .adapterFault, count: 40), use: RadioUse(byOthersAnywhere: true))
        #expect(far.contains(.powerCycle) && !far.contains(.restartService))
    }

    @Test func aTransferIsNotCutForTheTroubleOfAnother() {
        var ladder = newLadder()
        let reading = RadioUse(byBands: true, hasUnusedLinks: true)
        for second in Int64(0)..<20 {
            #expect(ladder.take(.stuckLink, at: time(second), use: reading) == .dropLink)
        }
        // Put off, not given up.
        #expect(ladder.take(.stuckLink, at: time(20), use: RadioUse(byBandsAnywhere: true)) == .powerCycle)
        #expect(ladder.take(.stuckLink, at: time(21)) == .restartService)
        #expect(ladder.take(.noAnswer, at: time(3_600), mayRestart: false, use: reading) == .powerCycle)
    }
}

@Suite struct WeakSymptomTests {
    @Test func oneWeakBandEndsNobodysLinks() {
        var ladder = newLadder()
        for minute in Int64(0)..<1_440 {
            #expect(ladder.take(.connectFailed, with: 0, at: time(minute * 60)) == nil)
        }
        // Nor does it bring the trouble of others nearer to a strong remedy.
        #expect(ladder.strikes == 3)
        #expect(ladder.take(.discoveryStuck, at: time(1_440 * 60)) == .stopDiscovery)
        let left = RadioUse(hasUnusedLinks: true)
        #expect(ladder.take(.connectFailed, with: 0, at: time(1_441 * 60), use: left) == .dropLink)
    }

    @Test func severalThatFailWhileNoneWorksAreTheRadio() {
        var remedies: [Remedy?] = []
        var ladder = newLadder()
        for index in 0..<10 {
            remedies.append(ladder.take(.connectFailed, with: index % 2, at: time(Int64(index))))
        }
        #expect(remedies.prefix(7).allSatisfy { $0 == nil } && remedies.contains(.powerCycle))
    }

    @Test func severalThatFailBesideOneThatWorksAreWeak() {
        var ladder = newLadder()
        for minute in Int64(0)..<600 {
            if minute % 10 == 0 { ladder.worked(at: time(minute * 60)) }
            #expect(ladder.take(.connectFailed, with: Int(minute % 3), at: time(minute * 60)) == nil)
        }
    }

    @Test func oneBandThatTheAdapterCanNotConnectToBesideOneThatWorksIsWeak() {
        var ladder = newLadder()
        for minute in Int64(0)..<1_440 {
            if minute % 14 == 0 { ladder.worked(with: bandAddress(1), at: time(minute * 60)) }
            #expect(ladder.take(.adapterFault, with: 0, at: time(minute * 60)) == nil)
        }
        #expect(ladder.strikes <= 3 && ladder.taken.isEmpty)
        // The other one does not work any more.
        let later = time(1_440 * 60 + 900)
        #expect(ladder.take(.adapterFault, with: 0, at: later) == nil)
        #expect(ladder.take(.adapterFault, with: 0, at: later) == .powerCycle)
    }

    @Test func aBandThatWorkedItselfExcusesNoFaultOfTheAdapter() {
        var ladder = newLadder()
        ladder.worked(with: bandAddress(0), at: time(0))
        #expect(ladder.take(.adapterFault, with: 0, at: time(1)) == nil)
        #expect(ladder.take(.adapterFault, with: 0, at: time(2)) == .powerCycle)
        // Nor does another, where it was not a connection that failed.
        var other = newLadder()
        other.worked(with: bandAddress(1), at: time(0))
        #expect(other.take(.adapterFault, at: time(1)) == nil)
        #expect(other.take(.adapterFault, at: time(2)) == .powerCycle)
    }

    @Test func anEmptyHouseRestartsNothing() {
        var ladder = newLadder()
        var taken: [Remedy] = []
        for hour in Int64(0)..<200 {
            if let remedy = ladder.take(.silence, at: time(hour * 3_600)) { taken.append(remedy) }
            #expect(!ladder.isLost)
        }
        // It may be deaf all the same: once is enough to find out.
        #expect(taken == [.powerCycle] && ladder.strikes == 0)
        #expect(ladder.take(.adapterFault, at: time(200 * 3_600)) == nil)
        // Somebody came home, and left again.
        ladder.heard(at: time(201 * 3_600))
        #expect(ladder.take(.silence, at: time(202 * 3_600)) == .powerCycle)
        ladder.heard(at: time(201 * 3_600))
        #expect(ladder.take(.silence, at: time(203 * 3_600)) == nil, "it was heard before that")
    }

    @Test func aSilentHouseIsNotSwitchedOffForOthers() {
        var ladder = newLadder()
        #expect(ladder.take(.silence, at: time(0), use: RadioUse(byOthers: true)) == nil)
        #expect(ladder.take(.silence, at: time(3_600)) == .powerCycle)
    }
}

@Suite struct SymptomTests {
    @Test func aLinkThatStaysIsDroppedFirst() {
        var ladder = newLadder()
        let left = RadioUse(hasUnusedLinks: true)
        #expect(ladder.take(.stuckLink, at: time(0), use: left) == .dropLink)
        #expect(ladder.take(.stuckLink, at: time(1), use: left) == .powerCycle)
    }

    @Test func aBluetoothdThatListsNothingIsRestartedOrNamed() {
        var ladder = newLadder()
        // Links of others are nothing that it would still serve.
        let asked = (0..<3).map { ladder.take(.serviceSilent, at: time($0), use: RadioUse(byOthers: true)) }
        #expect(asked == [nil, .restartService, nil])
    }

    @Test func anAdapterThatStaysOffIsNamedAndTheServiceRestarted() {
        var ladder = newLadder()
        #expect(ladder.take(.staysOff, at: time(0), mayRestart: false) == nil)
        #expect(ladder.isLost)
        ladder.isOn()
        #expect(!ladder.isLost)
        #expect(ladder.take(.staysOff, at: time(1), use: RadioUse(byBandsAnywhere: true)) == nil)
        #expect(ladder.take(.staysOff, at: time(2)) == .restartService)
    }
}

@Suite struct PowerDebtTests {
    private let adapter = adapterAddress(0)

    @Test func itIsPaidAsSoonAsTheAdapterIsThereAndOff() {
        var debts = PowerDebts()
        #expect(debts.isEmpty && debts.due(off: [adapter], at: time(0)).isEmpty)
        debts.incur(adapter, at: time(0))
        #expect(debts.owes(adapter))
        #expect(debts.due(off: [], at: time(1)).isEmpty)
        #expect(debts.due(off: [adapterAddress(1), adapter], at: time(1)) == [adapter])
        debts.settle(adapter)
        #expect(debts.isEmpty && debts.due(off: [adapter], at: time(2)).isEmpty)
    }

    @Test func itIsTriedForEverMoreAndMoreSeldomAndSaysWhenThatIsNotEnough() {
        var debts = PowerDebts()
        debts.incur(adapter, at: time(0))
        var now = time(0)
        var pauses: [Int64] = []
        var asks: [Bool] = []
        for _ in 0..<12 {
            #expect(debts.due(off: [adapter], at: now) == [adapter])
            asks.append(debts.failed(adapter, at: now))
            guard let next = debts.deadline(after: now) else { break }
            pauses.append((next.milliseconds - now.milliseconds) / 1_000)
            #expect(
                debts.due(off: [adapter], at: MonotonicTime(milliseconds: next.milliseconds - 1)).isEmpty)
            now = next
        }
        #expect(asks.prefix(4) == [false, false, true, true])
        #expect(pauses.prefix(4) == [2, 4, 8, 16] && pauses.last == 300 && pauses.count == 12)
        // Another remedy switches it off once more: what is known of it stays.
        debts.incur(adapter, at: now)
        let isStillTooOften = debts.failed(adapter, at: now)
        debts.settle(adapter)
        let isOwed = debts.failed(adapter, at: now)
        #expect(isStillTooOften && !isOwed && debts.isEmpty)
    }

    @Test func anAdapterThatIsOnAndMayYetGoOffIsOwedOn() {
        var debts = PowerDebts(patience: 10_000)
        debts.incur(adapter, at: time(0))
        #expect(debts.settled(among: [adapter]) == [adapter], "nothing was told to it yet")
        debts.mayGoOff(adapter, at: time(0))
        _ = debts.failed(adapter, at: time(20))
        #expect(debts.settled(among: [adapter]).isEmpty)
        #expect(debts.due(off: [], on: [adapter], at: time(29)).isEmpty)
        #expect(debts.deadline(after: time(22)) == time(30))
        #expect(debts.due(off: [], on: [adapter], at: time(30)) == [adapter])
        // Busy: it is still at it.
        _ = debts.failed(adapter, at: time(33))
        #expect(debts.settled(among: [adapter]).isEmpty)
        #expect(debts.due(off: [], on: [adapter], at: time(42)).isEmpty)
        #expect(
            debts.due(off: [adapter], at: time(42)) == [adapter],
            "once it is off there is nothing to wait for")
        debts.isCertainlyOn(adapter)
        #expect(debts.settled(among: [adapter]) == [adapter])
        #expect(debts.due(off: [], on: [adapter], at: time(99)).isEmpty)
    }

    @Test func onceItWasSeenOffThatItIsOnSettlesIt() {
        var debts = PowerDebts(patience: 10_000)
        debts.incur(adapter, at: time(0))
        debts.mayGoOff(adapter, at: time(0))
        debts.wasSeenOff(adapter)
        #expect(debts.settled(among: [adapter]) == [adapter])
        // Switched off once more: what was seen before says nothing of that.
        debts.incur(adapter, at: time(5))
        debts.mayGoOff(adapter, at: time(5))
        #expect(debts.settled(among: [adapter]).isEmpty)
    }
}
