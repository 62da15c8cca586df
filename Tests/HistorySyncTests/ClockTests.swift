import BandProfile
import GatewayModel
import HistorySync
import Testing

/// A clock that is stepped while a stream runs.
struct ClockTests {
    @Test func recordsOfAClockThatWasNotReadWaitUntilItIs() {
        var session = HistorySession.streaming(Given.info(1...100))
        let run = [
            Given.samples(1...15), Given.samples(16...30, clockID: 2), Given.samples(31...45, clockID: 2),
        ]
        #expect(session.handle(.notifications(run)) == [.commit(Given.chunk(1...15))])
        #expect(session.handle(.committed(Given.outcome(15))) == [.ack(15), .readClock])
        #expect(!session.wantsNotifications)
        #expect(
            session.handle(.clockRead(Given.reading(clockID: 2))) == [
                .commit(Given.chunk(16...45, clockID: 2))
            ])
    }

    @Test func aClockFromBeforeTheConnectionCannotBeReadAnyMore() {
        var session = HistorySession.streaming(Given.info(1...100, clockID: 5))
        let run = [Given.samples(1...15, clockID: 3), Given.samples(16...30, clockID: 4)]
        guard case .commit(let chunk)? = session.handle(.notifications(run)).first else {
            Issue.record("no commit")
            return
        }
        #expect(
            chunk.records.map(\.clockID) == [UInt16](repeating: 3, count: 15)
                + [UInt16](repeating: 4, count: 15))
    }

    @Test func aClockThatCannotBeReadAgainIsTriedOnce() {
        var session = HistorySession.streaming(Given.info(1...100))
        #expect(session.handle(.notifications([Given.samples(1...15, clockID: 2)])) == [.readClock])
        #expect(session.handle(.clockRead(nil)) == [.commit(Given.chunk(1...15, clockID: 2))])
        _ = session.handle(.committed(Given.outcome(15)))
        #expect(
            session.handle(.notifications([Given.samples(16...30, clockID: 2)])) == [
                .commit(Given.chunk(16...30, clockID: 2))
            ])
    }

    @Test func clockIDsMayWrapAround() {
        var session = HistorySession.streaming(Given.info(1...100, clockID: .max))
        #expect(session.handle(.notifications([Given.samples(1...15, clockID: 0)])) == [.readClock])
    }
}
