import BandProfile
import GatewayModel
import HistorySync
import Testing

/// A band with a window waits for acks: it must never wait for one that will not come.
struct WindowTests {
    @Test func withTheRightToAckTheStreamIsNeverInterrupted() {
        var session = HistorySession.streaming(Given.info(1...1_000, window: 1))
        for first in stride(from: UInt32(1), to: 900, by: 15) {
            let seqs = first...first + 14
            #expect(session.handle(.notifications([Given.samples(seqs)])) == [.commit(Given.chunk(seqs))])
            #expect(session.handle(.committed(Given.outcome(first + 14))) == [.ack(first + 14)])
        }
    }

    @Test func aWindowOfWhatIsKnownIsAckedAgain() {
        var session = HistorySession.streaming(Given.info(1...100, window: 2), committed: 40)
        #expect(session.handle(.notifications([Given.samples(1...15)])) == [])
        #expect(session.handle(.notifications([Given.samples(16...30)])) == [.ack(40)])
        #expect(session.handle(.notifications([Given.samples(1...15)])) == [])
    }

    /// An open question holds the ack back: the owner then takes a window at a time, as an observer does.
    @Test func anAckThatIsHeldBackDoesNotStopTheStream() {
        let info = Given.info(41...100, window: 1)
        var session = HistorySession.streaming(info, committed: 10)
        _ = session.handle(.notifications([Given.samples(41...55)]))
        _ = session.handle(.infoRead(info.encoded))
        #expect(session.handle(.committed(Given.outcome(10))) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.end(55, .aborted)])) == [.write(.sendFrom(56))])
    }

    @Test func anObserverOfABandThatOnlyRepeatsItselfGivesUp() {
        var session = HistorySession.streaming(
            Given.info(1...100, window: 1), mode: .observe, committed: 40)
        for _ in 1...3 {
            #expect(session.handle(.notifications([Given.samples(1...15)])) == [.write(.abort)])
            _ = session.handle(.controlPointAnswered(nil))
            #expect(session.handle(.notifications([Given.end(15, .aborted)])) == [.write(.sendFrom(41))])
            _ = session.handle(.controlPointAnswered(nil))
        }
        #expect(session.handle(.notifications([Given.samples(1...15)])) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.end(15, .aborted)])) == [.finish(.stalled)])
    }

    /// No ack frees a window of unreadable bytes, whoever may ack: the next stream begins behind them.
    @Test(arguments: [BandMode.own, .observe])
    func aWindowOfUnreadableBytesIsPassed(mode: BandMode) {
        let info = Given.info(1...100, window: 1)
        var session = HistorySession.streaming(info, mode: mode, committed: 15)
        _ = session.handle(.notifications([Given.unreadable()]))
        #expect(session.handle(.tryRecorded(Given.tries(3, connections: 2))) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.end(16, .aborted)])) == [.write(.sendFrom(17))])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.samples(17...31)])) == [.readInfo])
        let raw = RawNotification(reason: Given.unreadableReason, seq: 16, bytes: Given.unreadable())
        let gap = Gap(ring: Given.ring, firstSeq: 16, lastSeq: 16, cause: .unreadable)
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.gaveUp(first: 16, last: 16, cause: .unreadable)),
                .commit(Given.chunk(17...31, gaps: [gap], raw: [raw])),
            ])
    }

    @Test func withoutAWindowAnObserverIsNeverInterrupted() {
        var session = HistorySession.streaming(Given.info(1...1_000), mode: .observe)
        for first in stride(from: UInt32(1), to: 900, by: 15) {
            _ = session.handle(.notifications([Given.samples(first...first + 14)]))
            #expect(session.handle(.committed(Given.outcome(first + 14))) == [])
            #expect(session.wantsNotifications)
        }
    }

    @Test func aChunkIsTheRunThatWaited() {
        var session = HistorySession.streaming(Given.info(1...1_000, window: 64))
        let run = (0..<20).map { Given.samples($0 * 15 + 1...$0 * 15 + 15) }
        #expect(session.handle(.notifications(run)) == [.commit(Given.chunk(1...300))])
        #expect(session.handle(.committed(Given.outcome(300))) == [.ack(300)])
        #expect(session.summary.chunks == 1)
        #expect(session.summary.acks == 1)
    }
}
