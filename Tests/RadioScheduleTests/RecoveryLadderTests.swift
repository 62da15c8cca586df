import HistorySync
import RadioSchedule
import Testing

private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1_000) }

@Suite struct RecoveryLadderTests {
    private func climb(
        _ symptoms: [RadioSymptom], every: Int64 = 600, mayRestart: Bool = true, others: Bool = false
    ) -> (RecoveryLadder, [Remedy?]) {
        var ladder = RecoveryLadder()
        let remedies = symptoms.enumerated().map { index, symptom in
            ladder.noticed(
                symptom, at: time(Int64(index) * every), mayRestart: mayRestart, othersUseIt: others)
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

    @Test func oneFailedConnectionIsTheAir() {
        let (_, remedies) = climb(Array(repeating: .connectFailed, count: 8))
        #expect(remedies.prefix(2).allSatisfy { $0 == nil })
        #expect(remedies.last == .powerCycle)
    }

    @Test func onlyDataClearsTheStrikes() {
        var ladder = RecoveryLadder()
        for _ in 0..<3 {
            _ = ladder.noticed(.discoveryStuck, at: time(0), mayRestart: false, othersUseIt: false)
        }
        let strikes = ladder.strikes
        // The remedies that were taken have changed nothing of it.
        #expect(strikes == 12 && ladder.taken[.powerCycle] == 1)
        ladder.worked()
        #expect(ladder.strikes == 0)
        #expect(ladder.taken == [.stopDiscovery: 2, .powerCycle: 1], "what was done stays counted")
        let next = ladder.noticed(.discoveryStuck, at: time(1), mayRestart: false, othersUseIt: false)
        #expect(next == .stopDiscovery)
    }

    @Test func theSameStrongRemedyIsTakenMoreAndMoreSeldom() {
        var ladder = RecoveryLadder()
        var cycles: [Int64] = []
        for minute in Int64(0)..<(3 * 1_440) {
            let remedy = ladder.noticed(
                .adapterFault, at: time(minute * 60), mayRestart: false, othersUseIt: false)
            if remedy == .powerCycle { cycles.append(minute) }
        }
        let pauses = zip(cycles, cycles.dropFirst()).map { $1 - $0 }
        #expect(pauses.prefix(4) == [5, 10, 20, 40] && pauses.last == 360)
    }

    @Test func linksOfOthersAreNotCutForOurTrouble() {
        let (_, remedies) = climb(Array(repeating: .connectFailed, count: 40), others: true)
        #expect(!remedies.contains(.powerCycle) && !remedies.contains(.restartService))
        let (_, wedged) = climb(Array(repeating: .noAnswer, count: 4), mayRestart: false, others: true)
        #expect(wedged.contains(.powerCycle))
    }

    @Test func anEmptyHouseRestartsNothing() {
        let (ladder, remedies) = climb(Array(repeating: .silence, count: 200), every: 3_600)
        #expect(!remedies.contains(.restartService))
        #expect(remedies.first == .powerCycle)
        #expect((ladder.taken[.powerCycle] ?? 0) < 45)
    }
}

@Suite struct SymptomTests {
    @Test func aLinkThatStaysIsDroppedFirst() {
        var ladder = RecoveryLadder()
        let first = ladder.noticed(.stuckLink, at: time(0), mayRestart: true, othersUseIt: false)
        let second = ladder.noticed(.stuckLink, at: time(1), mayRestart: true, othersUseIt: false)
        #expect(first == .dropLink && second == .powerCycle)
    }

    @Test func aBluetoothdThatListsNothingIsRestartedOrNamed() {
        var ladder = RecoveryLadder()
        let asked = (0..<3).map {
            ladder.noticed(.serviceSilent, at: time($0), mayRestart: true, othersUseIt: true)
        }
        // Links of others are nothing that it would still serve.
        #expect(asked == [nil, .restartService, nil])
    }
}
