import BandProfile
import GatewayModel
import HistorySync
import Testing

/// ENDs that come late, early, twice, or say too much.
struct EndTests {
    @Test func anAbortedEndInAnOpenStreamIsOfTheOneBefore() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 50)
        let run = [Given.end(50, .aborted), Given.samples(51...65)]
        #expect(
            session.handle(.notifications(run)) == [
                .note(.lateEnd(lastSeq: 50)), .commit(Given.chunk(51...65)),
            ])
    }

    @Test func aRowOfLateEndsIsOneNoteHoweverLong() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 50)
        let run = [[UInt8]](repeating: Given.end(7), count: 100_000)
        #expect(session.handle(.notifications(run)) == [.note(.lateEnd(lastSeq: 7))])
        #expect(session.wantsNotifications)
    }

    @Test func anEndThatCameBeforeAbortsAnswerIsNotWaitedForAgain() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info)
        // A hole, and the END of the same stream behind it.
        let run = [Given.samples(16...30), Given.end(30)]
        #expect(session.handle(.notifications(run)) == [.readInfo])
        _ = session.handle(.infoRead(info.encoded))
        #expect(session.handle(.tryRecorded(Given.tries(1, connections: 1))) == [.write(.abort)])
        // No stream runs any more: ABORT succeeds and no END follows.
        #expect(session.handle(.controlPointAnswered(nil)) == [.write(.sendFrom(1))])
    }

    @Test func whatComesBetweenAbortAndEndIsAskedForAgain() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info)
        _ = session.handle(.notifications([Given.samples(16...30)]))
        _ = session.handle(.infoRead(info.encoded))
        _ = session.handle(.tryRecorded(Given.tries(1, connections: 1)))
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.samples(31...45)])) == [])
        let run = [Given.samples(46...60), Given.end(60, .aborted)]
        #expect(session.handle(.notifications(run)) == [.write(.sendFrom(1))])
    }

    @Test func anEndThatClaimsMoreThanTheBandHasIsNoHole() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 100)
        #expect(session.handle(.notifications([Given.end(250)])) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.finish(.caughtUp)])
    }

    @Test func aHoleAtTheEndReachesNoFurtherThanTheNewestRecord() {
        let info = Given.info(1...16)
        var session = HistorySession.streaming(info, committed: 15)
        #expect(session.handle(.notifications([Given.end(250)])) == [.readInfo])
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.hole(at: 16, next: 17)), .recordTry(Given.ring, seq: 16, unreadable: false),
            ])
        let gap = Gap(ring: Given.ring, firstSeq: 16, lastSeq: 16, cause: .lostByBand)
        #expect(
            session.handle(.tryRecorded(Given.tries(3, connections: 2))) == [
                .note(.gaveUp(first: 16, last: 16, cause: .lostByBand)), .readInfo,
            ])
        #expect(session.handle(.infoRead(info.encoded)) == [.commit(Given.chunk(gaps: [gap], through: 16))])
        #expect(session.handle(.committed(Given.outcome(16))) == [.ack(16), .readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.finish(.caughtUp)])
    }

    @Test func aStreamThatFailedInsideTheBandIsOpenedAgainAFewTimes() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 10)
        for _ in 1...3 {
            #expect(
                session.handle(.notifications([Given.end(10, .internalError)])) == [.write(.sendFrom(11))])
            _ = session.handle(.controlPointAnswered(nil))
        }
        expectProtocolFault(session.handle(.notifications([Given.end(10, .internalError)])))
    }

    @Test func aBandThatEndsBeforeItsNewestRecordIsNotAskedForEver() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 50)
        for _ in 1...2 {
            #expect(session.handle(.notifications([Given.end(50)])) == [.readInfo])
            #expect(session.handle(.infoRead(info.encoded)) == [.write(.sendFrom(51))])
            _ = session.handle(.controlPointAnswered(nil))
        }
        #expect(session.handle(.notifications([Given.end(50)])) == [.readInfo])
        expectProtocolFault(session.handle(.infoRead(info.encoded)))
    }

    @Test func theEndOfAnEmptyRingIsItsEnd() {
        var session = HistorySession.streaming(Given.emptyInfo())
        #expect(session.handle(.notifications([Given.end(0)])) == [.readInfo])
        #expect(session.handle(.infoRead(Given.emptyInfo().encoded)) == [.finish(.caughtUp)])
    }

    /// The END was lost on the air: Info tells that there is nothing more.
    @Test func aStreamWithoutEndIsCaughtUpWhenInfoSaysSo() {
        var session = HistorySession.streaming(Given.info(1...15))
        _ = session.handle(.notifications([Given.samples(1...15)]))
        #expect(session.handle(.committed(Given.outcome(15))) == [.ack(15)])
        #expect(session.handle(.deadlinePassed, at: 5_000) == [.ack(15), .note(.silence(acked: true))])
        #expect(session.handle(.deadlinePassed, at: 10_000) == [.note(.stalled(at: 16)), .write(.abort)])
        _ = session.handle(.controlPointAnswered(nil), at: 10_000)
        #expect(session.handle(.deadlinePassed, at: 15_000) == [.readInfo])
        #expect(session.handle(.infoRead(Given.emptyInfo(next: 16).encoded)) == [.finish(.caughtUp)])
    }
}
