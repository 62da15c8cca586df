import BandProfile
import GatewayModel
import HistorySync
import Testing

/// Stops and lost links at any moment: nothing is left half done, and nothing is acked that should not be.
struct StopTests {
    @Test func aStopDuringACommitWaitsForItAndAcksIt() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.samples(1...15), Given.samples(16...30)]))
        #expect(session.handle(.stopRequested) == [])
        #expect(session.handle(.committed(Given.outcome(30))) == [.ack(30), .write(.abort)])
        #expect(session.handle(.controlPointAnswered(nil)) == [])
        #expect(session.handle(.notifications([Given.end(45, .aborted)])) == [.finish(.stopped)])
        #expect(session.isFinished)
    }

    @Test func aStopInAnOpenStreamAbortsIt() {
        var session = HistorySession.streaming(Given.info(1...100))
        #expect(session.handle(.stopRequested) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil), at: 100)
        #expect(session.handle(.deadlinePassed, at: 5_100) == [.finish(.stopped)])
    }

    @Test(arguments: [nil, ControlPointError.busy])
    func aStopWhileSendFromIsUnansweredWaitsForItsAnswer(error: ControlPointError?) {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.end(0, .internalError)]))
        #expect(session.handle(.stopRequested) == [])
        let expected: [SessionAction] = error == nil ? [.write(.abort)] : [.finish(.stopped)]
        #expect(session.handle(.controlPointAnswered(error)) == expected)
    }

    @Test func aStopBeforeTheStreamIsAStop() {
        var session = HistorySession(mode: .own)
        _ = session.handle(.started(takenOver: false))
        #expect(session.handle(.stopRequested) == [.finish(.stopped)])
        #expect(session.handle(.infoRead(Given.info(1...100).encoded)) == [])
    }

    @Test func aStopWhileATryIsRecordedWaitsForTheStore() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.unreadable()]))
        #expect(session.handle(.stopRequested) == [])
        #expect(session.handle(.tryRecorded(Given.tries(1, connections: 1))) == [.write(.abort)])
    }

    @Test func aLinkLostDuringACommitEndsAfterItWithoutAnAck() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.samples(1...15)]))
        #expect(session.handle(.linkLost) == [])
        #expect(session.handle(.committed(Given.outcome(15))) == [.finish(.linkLost)])
        #expect(session.summary.acks == 0)
        #expect(session.summary.chunks == 1)
    }

    /// What had come before the link went is committed to the last record.
    @Test func whatWaitedBehindACommitIsCommittedWithoutTheLink() {
        var session = HistorySession.streaming(Given.info(1...100))
        let run = [Given.samples(1...15), Given.end(3), Given.samples(16...30)]
        #expect(session.handle(.notifications(run)) == [.commit(Given.chunk(1...15))])
        #expect(session.handle(.linkLost) == [])
        #expect(
            session.handle(.committed(Given.outcome(15))) == [
                .note(.lateEnd(lastSeq: 3)), .commit(Given.chunk(16...30)),
            ])
        #expect(session.handle(.committed(Given.outcome(30))) == [.finish(.linkLost)])
    }

    @Test func aLinkLostWhileATryIsRecordedEndsAfterIt() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.unreadable()]))
        #expect(session.handle(.linkLost) == [])
        #expect(session.handle(.tryRecorded(Given.tries(1, connections: 1))) == [.finish(.linkLost)])
    }

    @Test func aLinkLostWhileRewindingEndsAfterIt() {
        var session = HistorySession(mode: .own)
        _ = session.handle(.started(takenOver: false))
        _ = session.handle(.infoRead(Given.info(1...10).encoded))
        _ = session.handle(.progressLoaded(RingProgress(nextSeq: 101, ackThrough: 100)))
        #expect(session.handle(.linkLost) == [])
        #expect(session.handle(.rewound) == [.finish(.linkLost)])
    }

    @Test func aLinkLostAtAnyOtherMomentEndsAtOnce() {
        var session = HistorySession(mode: .own)
        _ = session.handle(.started(takenOver: false))
        #expect(session.handle(.linkLost) == [.finish(.linkLost)])
        var streaming = HistorySession.streaming(Given.info(1...100))
        #expect(streaming.handle(.linkLost) == [.finish(.linkLost)])
    }

    @Test func nothingHappensAfterTheEnd() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.linkLost)
        for event: SessionEvent in [
            .notifications([Given.samples(1...15)]), .committed(Given.outcome(15)), .ackPointRaised(15),
            .deadlinePassed, .stopRequested, .linkLost, .started(takenOver: false),
        ] {
            #expect(session.handle(event, at: 99_999) == [])
        }
        #expect(session.deadline == nil)
        #expect(!session.wantsNotifications)
    }
}
