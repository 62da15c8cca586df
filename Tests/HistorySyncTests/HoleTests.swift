import BandProfile
import GatewayModel
import HistorySync
import Testing

/// Holes: what is gone, what is asked for again, and how far a gap may reach.
struct HoleTests {
    private func tries(_ session: inout HistorySession, _ tries: Int, connections: Int) -> [SessionAction] {
        session.handle(.tryRecorded(Given.tries(tries, connections: connections)))
    }

    /// ABORT's answer and END, then SEND FROM's answer; returns the seq asked for.
    private func reopen(_ session: inout HistorySession) -> UInt32? {
        _ = session.handle(.controlPointAnswered(nil))
        guard case .write(.sendFrom(let seq))? = session.handle(.notifications([Given.end(0, .aborted)])).last
        else { return nil }
        _ = session.handle(.controlPointAnswered(nil))
        return seq
    }

    @Test func noGapIsWrittenForWhatAnInfoFromBeforeTheStreamSaid() {
        // Before the stream the band had lost nothing; while it ran 1 to 40 were overwritten.
        var session = HistorySession.streaming(Given.info(1...100, capacity: 100))
        #expect(session.handle(.notifications([Given.samples(41...55)])) == [.readInfo])
        let question = SuspectedGap(ring: Given.ring, firstSeq: 1, lastSeq: 40, cause: .overwritten)
        #expect(
            session.handle(.infoRead(Given.info(41...140, capacity: 100).encoded)) == [
                .commit(Given.chunk(41...55, questions: [question]))
            ])
    }

    @Test func aHoleThatIsPartlyGoneIsAskedForFromWhereItIsNot() {
        var session = HistorySession.streaming(Given.info(1...100, capacity: 100))
        _ = session.handle(.notifications([Given.samples(41...55)]))
        // 1 to 20 are gone; 21 to 40 are still there and were lost on the air.
        let info = Given.info(21...120, capacity: 100)
        #expect(session.handle(.infoRead(info.encoded)) == [.readInfo])
        let question = SuspectedGap(ring: Given.ring, firstSeq: 1, lastSeq: 20, cause: .overwritten)
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .commit(Given.chunk(questions: [question], through: 20))
            ])
        #expect(
            session.handle(.committed(Given.outcome(0))) == [
                .note(.hole(at: 21, next: 41)), .recordTry(Given.ring, seq: 21, unreadable: false),
            ])
        #expect(tries(&session, 1, connections: 1) == [.write(.abort)])
        #expect(reopen(&session) == 21)
    }

    @Test func twoFaultsSideBySideAreNotOneGap() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info)
        // 1 to 3 are absent for good, and this time 4 to 15 were lost on the air as well.
        _ = session.handle(.notifications([Given.samples(16...30)]))
        _ = session.handle(.infoRead(info.encoded))
        #expect(tries(&session, 3, connections: 2) == [.write(.abort)])
        #expect(reopen(&session) == 1)
        #expect(session.handle(.notifications([Given.samples(4...15)])) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.write(.abort)])
        #expect(reopen(&session) == 1)
        #expect(session.handle(.notifications([Given.samples(4...15)])) == [.readInfo])
        let gap = Gap(ring: Given.ring, firstSeq: 1, lastSeq: 3, cause: .lostByBand)
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.gaveUp(first: 1, last: 3, cause: .lostByBand)),
                .commit(Given.chunk(4...15, gaps: [gap])),
            ])
    }

    /// The last stream of three lost more than the ones before: the gap ends where the others saw it end.
    @Test func aGapEndsWhereAnyStreamSawItEnd() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info)
        for round in 1...2 {
            _ = session.handle(.notifications([Given.samples(4...15)]))
            _ = session.handle(.infoRead(info.encoded))
            if round == 1 { #expect(tries(&session, 3, connections: 2) == [.write(.abort)]) }
            #expect(reopen(&session) == 1)
        }
        #expect(session.handle(.notifications([Given.samples(16...30)])) == [.readInfo])
        let gap = Gap(ring: Given.ring, firstSeq: 1, lastSeq: 3, cause: .lostByBand)
        // What is given up is written first; the rest of the hole has tries of its own.
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.gaveUp(first: 1, last: 3, cause: .lostByBand)), .readInfo,
            ])
        #expect(
            session.handle(.infoRead(info.encoded)) == [.commit(Given.chunk(gaps: [gap], through: 3))])
        #expect(
            session.handle(.committed(Given.outcome(3))) == [
                .note(.hole(at: 4, next: 16)), .ack(3), .recordTry(Given.ring, seq: 4, unreadable: false),
            ])
    }

    @Test func whatComesOnAnotherTryIsNoGap() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info)
        _ = session.handle(.notifications([Given.samples(16...30)]))
        _ = session.handle(.infoRead(info.encoded))
        #expect(tries(&session, 3, connections: 2) == [.write(.abort)])
        #expect(reopen(&session) == 1)
        #expect(
            session.handle(.notifications([Given.samples(1...15)])) == [.commit(Given.chunk(1...15))])
    }

    /// A seq damaged in flash would bridge everything up to it, and the rest of the ring would look known.
    @Test func aSeqAboveTheNewestRecordIsAFramingFaultAndNotAJump() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 15)
        let damaged = Given.samples(0x8000_0010...0x8000_0010)
        #expect(session.handle(.notifications([damaged, Given.samples(17...31)])) == [.readInfo])
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.framingFault(at: 16, reason: "invalid seq at byte 4")),
                .recordTry(Given.ring, seq: 16, unreadable: true),
            ])
        let raw = RawNotification(reason: "invalid seq at byte 4", seq: 16, bytes: damaged)
        let gap = Gap(ring: Given.ring, firstSeq: 16, lastSeq: 16, cause: .unreadable)
        #expect(
            tries(&session, 3, connections: 2) == [
                .note(.gaveUp(first: 16, last: 16, cause: .unreadable)),
                .commit(Given.chunk(17...31, gaps: [gap], raw: [raw])),
            ])
    }

    @Test func recordsMeasuredSinceInfoWasReadAreTaken() {
        var session = HistorySession.streaming(Given.info(1...10))
        #expect(
            session.handle(.notifications([Given.samples(1...12)])) == [.commit(Given.chunk(1...12))])
    }

    @Test func everyUnreadableNotificationOfAHoleIsCommittedBeforeItsGap() throws {
        let info = Given.info(1...1_000)
        var session = HistorySession.streaming(info)
        let run = (0..<200).map { Given.unreadable(UInt8($0 % 100)) }
        _ = session.handle(.notifications(run))
        var actions = tries(&session, 3, connections: 2)
        var kept: [[UInt8]] = []
        while case .commit(let chunk)? = actions.last {
            #expect(chunk.gaps.isEmpty && chunk.records.isEmpty && chunk.through == 0)
            #expect(chunk.raw.count <= SessionRules().rawPerChunk)
            kept += chunk.raw.map(\.bytes)
            actions = session.handle(.committed(Given.outcome(0)))
        }
        let behind = [Given.samples(2...2), Given.end(2)]
        #expect(session.handle(.notifications(behind)) == [.readInfo])
        guard case .commit(let chunk)? = session.handle(.infoRead(info.encoded)).last else {
            Issue.record("no chunk behind the hole")
            return
        }
        kept += chunk.raw.map(\.bytes)
        #expect(Set(kept).count == 100)
        let gap = Gap(ring: info.ring, firstSeq: 1, lastSeq: 1, cause: .unreadable)
        #expect(chunk.gaps == [gap] && chunk.through == 2)
    }

    // MARK: other rings

    @Test func aReformattedRingLeavesAnOpenEndedQuestionOnlyAfterInfoWasReadInTheStream() {
        let info = Given.info(1...30)
        var session = HistorySession.streaming(
            info, predecessors: [RingProgress.Predecessor(ring: Given.otherRing, nextSeq: 501)])
        #expect(session.handle(.notifications([Given.samples(1...15)])) == [.readInfo])
        let question = SuspectedGap(ring: Given.otherRing, firstSeq: 501, lastSeq: nil, cause: .reformatted)
        #expect(
            session.handle(.infoRead(info.encoded)) == [.commit(Given.chunk(1...15, questions: [question]))])
        // It is of another ring: this one may be acked.
        #expect(session.handle(.committed(Given.outcome(15))) == [.ack(15)])
        #expect(
            session.handle(.notifications([Given.samples(16...30)])) == [.commit(Given.chunk(16...30))])
    }

    @Test func anEmptyRingToldOfItsPredecessorToo() {
        let info = Given.emptyInfo()
        var session = HistorySession.streaming(
            info, predecessors: [RingProgress.Predecessor(ring: Given.otherRing, nextSeq: 501)])
        #expect(session.handle(.notifications([Given.end(0)])) == [.readInfo])
        let question = SuspectedGap(ring: Given.otherRing, firstSeq: 501, lastSeq: nil, cause: .reformatted)
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .commit(Given.chunk(questions: [question], through: 0))
            ])
        #expect(session.handle(.committed(Given.outcome(0))) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.finish(.caughtUp)])
    }

    @Test func aRingThatChangesUnderAnOpenLinkEndsTheSession() {
        var session = HistorySession.streaming(Given.info(1...100))
        #expect(session.handle(.notifications([Given.samples(16...30)])) == [.readInfo])
        let other = Given.info(1...100, ring: Given.otherRing)
        #expect(session.handle(.infoRead(other.encoded)) == [.finish(.ringChanged)])
    }

    @Test func aRolledBackRingIsReadFromItsOldestRecord() {
        let info = Given.info(21...80)
        var session = HistorySession(mode: .own)
        _ = session.handle(.started(takenOver: false))
        _ = session.handle(.infoRead(info.encoded))
        #expect(
            session.handle(.progressLoaded(RingProgress(nextSeq: 101, ackThrough: 100))) == [
                .note(.ringRolledBack(committed: 100, newest: 80)), .rewind(Given.ring, to: 21),
            ])
        // Nothing is taken for known by its number alone: no ack but below what is read again.
        #expect(session.handle(.ackPointRaised(100)) == [])
        #expect(session.handle(.rewound) == [.readClock])
        _ = session.handle(.clockRead(Given.reading()))
        #expect(session.handle(.subscribed) == [.ack(20), .write(.sendFrom(21))])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(
            session.handle(.notifications([Given.samples(21...35)])) == [.commit(Given.chunk(21...35))])
        #expect(session.handle(.committed(Given.outcome(35))) == [.ack(35)])
    }

    @Test func aRingThatRollsBackUnderAnOpenLinkIsReadAgainToo() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 100)
        _ = session.handle(.notifications([Given.end(100)]))
        #expect(
            session.handle(.infoRead(Given.info(1...60).encoded)) == [
                .note(.ringRolledBack(committed: 100, newest: 60)), .rewind(Given.ring, to: 1),
            ])
        #expect(session.handle(.rewound) == [.write(.sendFrom(1))])
    }
}
