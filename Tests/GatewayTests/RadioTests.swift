import BandProfile
import BlueZModel
import RadioSchedule
import Testing

@testable import Gateway

struct RadioTests {
    @Test(arguments: [
        (BlueZFailureKind.transient, SyncOutcome.failed(moved: false)), (.tooManyLinks, .noSlot),
        (.notReady, .radioFault), (.blocked, .radioFault), (.serviceGone, .radioFault),
        (.busGone, .radioFault), (.authentication, .needsHelp), (.keyMissing, .needsHelp),
        (.gone, .failed(moved: false)), (.deadline, .failed(moved: false)), (.cancelled, .again),
    ])
    func whoseFaultAFailureIs(_ kind: BlueZFailureKind, _ outcome: SyncOutcome) {
        #expect(SyncOutcome(BlueZFailure(kind: kind, during: .connect), moved: false) == outcome)
    }

    @Test func whatBlueZHasForgottenWasNotTried() {
        #expect(SyncOutcome(.unseen, moved: false) == .forgotten)
        // It was removed in the middle of an attempt.
        let removed = BlueZFailure(
            name: "org.freedesktop.DBus.Error.UnknownObject", text: "the device was removed", during: .connect
        )
        #expect(SyncOutcome(removed, moved: false) == .failed(moved: false))
    }

    @Test func aBandThatEndsEachSessionForANewConnectionIsTriedLessOften() {
        #expect((0..<2).map { SyncOutcome.goingOn(fruitless: $0) } == [.again, .again])
        #expect((2..<5).allSatisfy { SyncOutcome.goingOn(fruitless: $0) == .failed(moved: false) })
    }

    /// A band that another program holds, or takes again at once, is in use: nothing is done about that link.
    @Test func aBandThatAnotherProgramHoldsIsNoStuckLink() {
        let held = TurnEnd(
            outcome: .failed(moved: false), failure: BlueZFailure(kind: .heldByAnother, during: .subscribe))
        #expect(held.suspicion(isStillLinked: true) == nil)
        #expect(held.suspicion(isStillLinked: false) == nil)
        #expect(
            TurnEnd(outcome: .caughtUp, moved: true).suspicion(isStillLinked: true)
                == RadioSuspicion(symptom: .stuckLink, isAskedFirst: true))
    }

    @Test(
        arguments: [
            (
                BlueZFailureKind.deadline, BlueZOperation.connect,
                RadioSuspicion(symptom: .connectFailed, isAskedFirst: true)
            ),
            (.deadline, .read, RadioSuspicion(symptom: nil, isAskedFirst: true)),
            (.transient, .connect, RadioSuspicion(symptom: .connectFailed)), (.transient, .read, nil),
            (.adapterFault, .connect, RadioSuspicion(symptom: .adapterFault)),
            (.adapterFault, .read, RadioSuspicion(symptom: .adapterFault, isOfBand: false)),
            (.notPaired, .read, nil),
        ] as [(BlueZFailureKind, BlueZOperation, RadioSuspicion?)])
    func whatAFailureSaysOfTheRadio(
        _ kind: BlueZFailureKind, _ operation: BlueZOperation, _ suspicion: RadioSuspicion?
    ) {
        let failure = BlueZFailure(kind: kind, during: operation)
        let end = TurnEnd(outcome: .failed(moved: false), failure: failure)
        #expect(end.suspicion(isStillLinked: false) == suspicion)
        // Where data came, the radio works.
        let moved = TurnEnd(outcome: .failed(moved: true), failure: failure, moved: true)
        #expect(moved.suspicion(isStillLinked: false) == nil)
    }

    @Test func anAdapterThatHoldsNoLinkAndRefusesOneIsAtFault() {
        let end = TurnEnd(outcome: .noSlot, failure: BlueZFailure(kind: .tooManyLinks, during: .connect))
        #expect(
            end.suspicion(isStillLinked: false, otherLinks: 0) == RadioSuspicion(symptom: .adapterFault))
        #expect(end.suspicion(isStillLinked: false, otherLinks: 1) == nil)
    }

    @Test func whoWasNotHeardSaysNothingOfTheRadio() {
        let end = TurnEnd(outcome: .failed(moved: false), failure: .notHeard)
        #expect(end.suspicion(isStillLinked: false) == nil)
    }

    /// The database may be opened again in one process; counters never go back by that.
    @Test func whatEarlierRadiosCountedIsKept() throws {
        let meter = GatewayMeter()
        #expect(meter.radio(nil) == nil)
        let adapter = BluetoothAddress(bits: 1)
        var first = RadioCounters()
        (first.attempts, first.scanMilliseconds, first.linksHeld) = (5, 300, [adapter: 2])
        first.remedies = [adapter: [.powerCycle: 1]]
        first.serviceRemedies = [.restartService: 1]
        #expect(meter.radio(first) == first)
        meter.radioEnded(first)
        #expect(try #require(meter.radio(nil)).attempts == 5)
        var second = RadioCounters()
        (second.attempts, second.scanMilliseconds, second.linksHeld) = (2, 40, [adapter: 1])
        second.remedies = [adapter: [.powerCycle: 2, .dropLink: 1]]
        let both = try #require(meter.radio(second))
        #expect(both.attempts == 7 && both.scanMilliseconds == 340 && both.linksHeld == [adapter: 1])
        #expect(both.remediesTaken == [.powerCycle: 3, .dropLink: 1, .restartService: 1])
        meter.radioEnded(second)
        let all = try #require(meter.radio(nil))
        #expect(all.attempts == 7 && all.linksHeld.isEmpty)
    }
}
