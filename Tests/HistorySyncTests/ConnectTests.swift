import BandProfile
import GatewayModel
import HistorySync
import Testing

/// The order on connect, and what may come in its way.
struct ConnectTests {
    @Test func infoThenProgressThenClockThenSubscribeThenSendFrom() {
        let info = Given.info(1...100)
        var session = HistorySession(mode: .own)
        #expect(session.handle(.started(takenOver: false)) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.loadProgress(info)])
        #expect(session.handle(.progressLoaded(RingProgress(nextSeq: 41, ackThrough: 40))) == [.readClock])
        #expect(session.handle(.clockRead(Given.reading())) == [.subscribe])
        #expect(!session.wantsNotifications)
        #expect(session.handle(.subscribed) == [.ack(40), .write(.sendFrom(41))])
        #expect(!session.wantsNotifications)
        #expect(session.handle(.controlPointAnswered(nil)) == [])
        #expect(session.wantsNotifications)
    }

    @Test func aNewBandIsAskedForEverythingAndNothingIsAcked() {
        let info = Given.info(1...100)
        var session = HistorySession(mode: .own)
        _ = session.handle(.started(takenOver: false))
        _ = session.handle(.infoRead(info.encoded))
        #expect(session.handle(.progressLoaded(RingProgress(nextSeq: 1, ackThrough: 0))) == [.readClock])
        _ = session.handle(.clockRead(Given.reading()))
        #expect(session.handle(.subscribed) == [.write(.sendFrom(1))])
    }

    @Test func aClockThatCannotBeReadDoesNotStopTheSync() {
        var session = HistorySession(mode: .own)
        _ = session.handle(.started(takenOver: false))
        _ = session.handle(.infoRead(Given.info(1...100).encoded))
        _ = session.handle(.progressLoaded(RingProgress(nextSeq: 1, ackThrough: 0)))
        #expect(session.handle(.clockRead(nil)) == [.subscribe])
    }

    @Test(arguments: [[], [1], [UInt8](repeating: 0, count: 24), [UInt8](repeating: 0xff, count: 24)])
    func anInfoThatIsNotReadableEndsTheSession(bytes: [UInt8]) {
        var session = HistorySession(mode: .own)
        _ = session.handle(.started(takenOver: false))
        let actions = session.handle(.infoRead(bytes))
        guard case .finish(.protocolFault(let sentence))? = actions.first, actions.count == 1 else {
            Issue.record("\(actions)")
            return
        }
        #expect(sentence.hasPrefix("The band's Info is not readable"))
        #expect(session.isFinished)
    }

    // MARK: taking a link over

    /// Subscribed, with the stream of a killed predecessor perhaps still running.
    private func takenOver(_ info: RingInfo, committed: UInt32) -> HistorySession {
        var session = HistorySession(mode: .own)
        #expect(session.handle(.started(takenOver: true)) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.loadProgress(info)])
        let progress = RingProgress(nextSeq: committed + 1, ackThrough: committed)
        #expect(session.handle(.progressLoaded(progress)) == [.readClock])
        #expect(session.handle(.clockRead(Given.reading())) == [.subscribe])
        return session
    }

    @Test func aLinkThatWasLeftOpenIsAbortedDrainedAndItsInfoReadAgain() {
        var session = takenOver(Given.info(1...100), committed: 40)
        #expect(session.handle(.subscribed) == [.write(.abort)])
        #expect(session.handle(.controlPointAnswered(nil)) == [])
        #expect(session.wantsNotifications)
        // What the old stream still brings is drained: it was asked for by somebody else.
        #expect(session.handle(.notifications([Given.samples(41...55)])) == [])
        #expect(
            session.handle(.notifications([Given.samples(56...60), Given.end(60, .aborted)])) == [.readInfo])
        let again = Given.info(1...103)
        #expect(session.handle(.infoRead(again.encoded)) == [.ack(40), .write(.sendFrom(41))])
    }

    @Test func aLinkWithoutAStreamIsDrainedForHalfASecond() {
        var session = takenOver(Given.info(1...100), committed: 40)
        #expect(session.handle(.subscribed, at: 1_000) == [.write(.abort)])
        #expect(session.handle(.controlPointAnswered(nil), at: 1_010) == [])
        #expect(session.deadline == MonotonicTime(milliseconds: 1_510))
        #expect(session.handle(.deadlinePassed, at: 1_509) == [])
        #expect(session.handle(.deadlinePassed, at: 1_510) == [.readInfo])
    }

    @Test func aLinkThatWasTakenOverWithNothingNewStillRepeatsTheAck() {
        var session = takenOver(Given.info(41...50), committed: 50)
        _ = session.handle(.subscribed)
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.end(50, .aborted)])) == [.readInfo])
        #expect(session.handle(.infoRead(Given.info(41...50).encoded)) == [.ack(50), .finish(.caughtUp)])
    }

    // MARK: refusals

    @Test func aBusyBandIsAbortedAndAskedAgain() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.end(0, .internalError)]))
        #expect(session.handle(.controlPointAnswered(.busy)) == [.write(.abort)])
        #expect(session.handle(.controlPointAnswered(nil)) == [])
        #expect(session.handle(.notifications([Given.end(3, .aborted)])) == [.write(.sendFrom(1))])
    }

    @Test func aBandThatStaysBusyIsGivenUp() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.end(0, .internalError)]))
        for _ in 1...3 {
            #expect(session.handle(.controlPointAnswered(.busy)) == [.write(.abort)])
            _ = session.handle(.controlPointAnswered(nil))
            #expect(session.handle(.notifications([Given.end(3, .aborted)])) == [.write(.sendFrom(1))])
        }
        expectProtocolFault(session.handle(.controlPointAnswered(.busy)))
    }

    @Test func lostSubscriptionsAreMadeAgainAFewTimes() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.end(0, .internalError)]))
        for _ in 1...3 {
            #expect(session.handle(.controlPointAnswered(.notificationsNotEnabled)) == [.subscribe])
            #expect(session.handle(.subscribed) == [.write(.sendFrom(1))])
        }
        expectProtocolFault(session.handle(.controlPointAnswered(.notificationsNotEnabled)))
    }

    @Test(arguments: [ControlPointError.unknownOpcode, .wrongLength])
    func aBandThatDoesNotKnowSendFromIsGivenUp(error: ControlPointError) {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.end(0, .internalError)]))
        expectProtocolFault(session.handle(.controlPointAnswered(error)))
    }

    @Test func anActionThatFailedForGoodEndsTheSession() {
        let failure = SessionFailure.store(
            Problem(code: "disk_full", text: "The disk is full", remedy: "Free some space"))
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.samples(1...3)]))
        #expect(session.handle(.failed(failure)) == [.finish(.failed(failure))])
        #expect(session.handle(.committed(Given.outcome(3))) == [])
    }
}

/// One action that ends the session by the band's fault.
func expectProtocolFault(_ actions: [SessionAction]) {
    if case .finish(.protocolFault)? = actions.last, actions.count == 1 { return }
    Issue.record("not a protocol fault: \(actions)")
}
