import BandProfile
import GatewayModel
import HistorySync
import Testing

/// Band History Profile 1, "What the gateway owes the band": each duty by its number.
struct DutyTests {
    // MARK: 1. Ack only what is durable, confirmed complete, or a written gap.

    @Test func duty1_nothingIsAckedBeforeItsCommitReturned() {
        var session = HistorySession.streaming(Given.info(1...100))
        #expect(session.handle(.notifications([Given.samples(1...15)])) == [.commit(Given.chunk(1...15))])
        #expect(!session.wantsNotifications)
        #expect(session.handle(.committed(Given.outcome(15))) == [.ack(15)])
    }

    @Test func duty1_theAckIsWhatTheStoreSaysAndNotWhatWasSent() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.samples(1...15)]))
        #expect(session.handle(.committed(Given.outcome(7))) == [.ack(7)])
    }

    @Test func duty1_noAckGoesBeyondTheLastCommit() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.samples(1...15)]))
        #expect(session.handle(.committed(Given.outcome(90))) == [.ack(15)])
        #expect(session.handle(.ackPointRaised(80)) == [])
    }

    @Test func duty1_aWrittenGapMayBeAcked() {
        let info = Given.info(41...100, capacity: 60)
        var session = HistorySession.streaming(info, committed: 10)
        #expect(session.handle(.notifications([Given.samples(41...55)])) == [.readInfo])
        let question = SuspectedGap(ring: Given.ring, firstSeq: 11, lastSeq: 40, cause: .overwritten)
        #expect(
            session.handle(.infoRead(info.encoded)) == [.commit(Given.chunk(41...55, questions: [question]))])
        // The server was not asked yet: the ack stays before the question.
        #expect(session.handle(.committed(Given.outcome(10))) == [])
        // It was, and nobody has them: the gap is written.
        #expect(session.handle(.ackPointRaised(55)) == [.ack(55)])
    }

    // MARK: 2. Never ack across a hole that may still be asked for.

    @Test func duty2_recordsBehindAHoleAreNeitherTakenNorAcked() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info)
        let run = [Given.samples(1...15), Given.samples(31...45)]
        #expect(session.handle(.notifications(run)) == [.commit(Given.chunk(1...15))])
        #expect(session.handle(.committed(Given.outcome(15))) == [.ack(15), .readInfo])
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.hole(at: 16, next: 31)), .recordTry(Given.ring, seq: 16, unreadable: false),
            ])
        #expect(session.handle(.tryRecorded(Given.tries(1, connections: 1))) == [.write(.abort)])
        #expect(session.handle(.controlPointAnswered(nil)) == [])
        #expect(session.handle(.notifications([Given.end(60, .aborted)])) == [.write(.sendFrom(16))])
    }

    // MARK: 3. Resume; repeat the last ack after Info.

    @Test func duty3_afterEachConnectTheLastAckIsRepeatedAfterInfo() {
        var session = HistorySession(mode: .own)
        #expect(session.handle(.started(takenOver: false)) == [.readInfo])
        _ = session.handle(.infoRead(Given.info(1...100).encoded))
        _ = session.handle(.progressLoaded(RingProgress(nextSeq: 51, ackThrough: 45)))
        _ = session.handle(.clockRead(Given.reading()))
        // Committed up to 50, but entitled only up to 45.
        #expect(session.handle(.subscribed) == [.ack(45), .write(.sendFrom(51))])
    }

    @Test func duty3_theStreamResumesBehindTheLastCommit() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 50)
        _ = session.handle(.notifications([Given.samples(51...65)]))
        _ = session.handle(.committed(Given.outcome(65)))
        #expect(session.handle(.notifications([Given.end(0, .internalError)])) == [.write(.sendFrom(66))])
    }

    @Test func duty3_aRaisedAckPointWaitsForInfo() {
        var session = HistorySession(mode: .own)
        #expect(session.handle(.ackPointRaised(50)) == [])
        _ = session.handle(.started(takenOver: false))
        #expect(session.handle(.ackPointRaised(50)) == [])
        _ = session.handle(.infoRead(Given.info(1...100).encoded))
        #expect(session.handle(.ackPointRaised(50)) == [])
        _ = session.handle(.progressLoaded(RingProgress(nextSeq: 51, ackThrough: 20)))
        #expect(session.handle(.ackPointRaised(50)) == [])
        _ = session.handle(.clockRead(Given.reading()))
        #expect(session.handle(.subscribed) == [.ack(50), .write(.sendFrom(51))])
    }

    // MARK: 4. Judge an END by its seqs.

    @Test func duty4_anEndOfAnEarlierStreamDoesNotEndThisOne() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 50)
        #expect(session.handle(.notifications([Given.end(30)])) == [.note(.lateEnd(lastSeq: 30))])
        #expect(session.wantsNotifications)
        #expect(
            session.handle(.notifications([Given.samples(51...65)])) == [.commit(Given.chunk(51...65))])
    }

    @Test func duty4_anEndAboveTheLastRecordIsAHoleAtTheEnd() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 90)
        #expect(session.handle(.notifications([Given.end(100)])) == [.readInfo])
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.hole(at: 91, next: 101)), .recordTry(Given.ring, seq: 91, unreadable: false),
            ])
    }

    @Test func duty4_anEndAtTheLastRecordIsBelievedOnlyAfterInfo() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 100)
        #expect(session.handle(.notifications([Given.end(100)])) == [.readInfo])
        // The wearer went on: there is more by now.
        #expect(session.handle(.infoRead(Given.info(1...102).encoded)) == [.write(.sendFrom(101))])
        _ = session.handle(.controlPointAnswered(nil))
        _ = session.handle(.notifications([Given.samples(101...102), Given.end(102)]))
        #expect(session.handle(.committed(Given.outcome(102))) == [.ack(102), .readInfo])
        #expect(session.handle(.infoRead(Given.emptyInfo(next: 103).encoded)) == [.finish(.caughtUp)])
    }

    // MARK: 5. Silence.

    @Test func duty5_silenceRepeatsTheAckThenAbortsThenAsksForTheFirstMissing() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 50, at: 1_000)
        #expect(session.deadline == MonotonicTime(milliseconds: 6_000))
        #expect(session.handle(.deadlinePassed, at: 5_999) == [])
        #expect(session.handle(.deadlinePassed, at: 6_000) == [.ack(50), .note(.silence(acked: true))])
        #expect(session.deadline == MonotonicTime(milliseconds: 11_000))
        #expect(session.handle(.deadlinePassed, at: 10_999) == [])
        #expect(session.handle(.deadlinePassed, at: 11_000) == [.note(.stalled(at: 51)), .write(.abort)])
        #expect(session.handle(.controlPointAnswered(nil), at: 11_020) == [])
        #expect(session.deadline == MonotonicTime(milliseconds: 16_020))
        #expect(session.handle(.deadlinePassed, at: 16_019) == [])
        #expect(session.handle(.deadlinePassed, at: 16_020) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded), at: 16_100) == [.write(.sendFrom(51))])
    }

    @Test func duty5_anythingThatComesStartsTheSilenceAnew() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 50)
        _ = session.handle(.deadlinePassed, at: 5_000)
        #expect(session.handle(.notifications([Given.samples(1...15)]), at: 9_000) == [])
        #expect(session.deadline == MonotonicTime(milliseconds: 14_000))
        #expect(session.handle(.deadlinePassed, at: 14_000) == [.ack(50), .note(.silence(acked: true))])
    }

    @Test func duty5_aBandThatStallsAgainAndAgainIsLeft() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 50)
        for _ in 1...2 {
            _ = session.handle(.deadlinePassed, at: 5_000)
            #expect(
                session.handle(.deadlinePassed, at: 10_000) == [.note(.stalled(at: 51)), .write(.abort)])
            _ = session.handle(.controlPointAnswered(nil), at: 10_000)
            _ = session.handle(.deadlinePassed, at: 15_000)
            #expect(session.handle(.infoRead(info.encoded)) == [.write(.sendFrom(51))])
            _ = session.handle(.controlPointAnswered(nil))
        }
        _ = session.handle(.deadlinePassed, at: 5_000)
        #expect(session.handle(.deadlinePassed, at: 10_000) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil), at: 10_000)
        #expect(session.handle(.deadlinePassed, at: 15_000) == [.finish(.stalled)])
    }

    // MARK: 6. A gateway that may not ack.

    @Test func duty6_withoutTheRightToAckAWindowIsTakenAbortedAndTheNextAskedFor() {
        var session = HistorySession.streaming(Given.info(1...100, window: 2), mode: .observe)
        #expect(
            session.handle(.notifications([Given.samples(1...15)])) == [.commit(Given.chunk(1...15))])
        #expect(session.handle(.committed(Given.outcome(15))) == [])
        #expect(
            session.handle(.notifications([Given.samples(16...30)])) == [.commit(Given.chunk(16...30))])
        #expect(session.handle(.committed(Given.outcome(30))) == [.write(.abort)])
        #expect(session.handle(.controlPointAnswered(nil)) == [])
        #expect(session.handle(.notifications([Given.end(30, .aborted)])) == [.write(.sendFrom(31))])
    }

    // MARK: 7. Faults.

    static let framingFaults: [(String, [UInt8], String)] = [
        ("version", [2] + Given.samples(1...2).dropFirst(), "invalid version at byte 0"),
        ("kind", [1, 9] + Given.samples(1...2).dropFirst(2), "invalid kind at byte 1"),
        ("length", Array(Given.samples(1...2).dropLast()), "truncated at byte 35"),
        ("nothing", [], "truncated at byte 0"),
        ("order", swapped(Given.samples(1...2)), "invalid seq at byte 20"),
        ("jump", Given.samples(1...1) + Given.samples(3...3).dropFirst(4), "invalid seq at byte 20"),
    ]

    private static func swapped(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes[..<4] + bytes[20..<36] + bytes[4..<20])
    }

    @Test(arguments: framingFaults.indices)
    func duty7_nothingOfAFramingFaultIsTakenAndItIsAskedForAgain(index: Int) {
        let (name, bytes, reason) = Self.framingFaults[index]
        var session = HistorySession.streaming(Given.info(1...100))
        #expect(
            session.handle(.notifications([bytes])) == [
                .note(.framingFault(at: 1, reason: reason)), .recordTry(Given.ring, seq: 1, unreadable: true),
            ], "\(name)")
        #expect(session.handle(.tryRecorded(Given.tries(1, connections: 1))) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.end(15, .aborted)])) == [.write(.sendFrom(1))])
    }

    @Test func duty7_theThirdTryNeedsAnotherConnection() {
        var session = HistorySession.streaming(Given.info(1...100))
        _ = session.handle(.notifications([Given.unreadable()]))
        #expect(session.handle(.tryRecorded(Given.tries(2, connections: 1))) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.end(15, .aborted)])) == [.finish(.retryOnNewConnection)])
    }

    @Test func duty7_afterThreeTriesTheBytesAreKeptAndAGapIsWrittenBeforeTheAck() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 15)
        let run = [Given.unreadable(7), Given.samples(17...31)]
        #expect(
            session.handle(.notifications(run)) == [
                .note(.framingFault(at: 16, reason: Given.unreadableReason)),
                .recordTry(Given.ring, seq: 16, unreadable: true),
            ])
        #expect(session.handle(.tryRecorded(Given.tries(3, connections: 2))) == [.readInfo])
        let raw = RawNotification(reason: Given.unreadableReason, seq: 16, bytes: Given.unreadable(7))
        let gap = Gap(ring: Given.ring, firstSeq: 16, lastSeq: 16, cause: .unreadable)
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.gaveUp(first: 16, last: 16, cause: .unreadable)),
                .commit(Given.chunk(17...31, gaps: [gap], raw: [raw])),
            ])
        #expect(session.handle(.committed(Given.outcome(31))) == [.ack(31)])
    }

    @Test func duty7_whatStaysAbsentIsLostByTheBand() {
        let info = Given.info(1...100)
        var session = HistorySession.streaming(info, committed: 15)
        #expect(session.handle(.notifications([Given.samples(17...31)])) == [.readInfo])
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .note(.hole(at: 16, next: 17)), .recordTry(Given.ring, seq: 16, unreadable: false),
            ])
        let gap = Gap(ring: Given.ring, firstSeq: 16, lastSeq: 16, cause: .lostByBand)
        #expect(
            session.handle(.tryRecorded(Given.tries(3, connections: 2))) == [
                .note(.gaveUp(first: 16, last: 16, cause: .lostByBand)),
                .commit(Given.chunk(17...31, gaps: [gap])),
            ])
    }

    @Test func duty7_aContentFaultNeverBlocks() {
        var records = Given.records(1...4)
        records[1].milliseconds = 1_000
        records[2].type = 99
        records[3].value = -1
        var session = HistorySession.streaming(Given.info(1...100))
        let bytes = HistoryNotification.samples(clockID: 1, records: records).encoded
        let chunk = Chunk(
            ring: Given.ring, records: records.map { TimedRecord(record: $0, clockID: 1) }, through: 4)
        // The store keeps such a record raw; for the stream it is a record like any other.
        #expect(session.handle(.notifications([bytes])) == [.commit(chunk)])
        #expect(session.handle(.committed(Given.outcome(4))) == [.ack(4)])
    }

    @Test func duty7_ofRepeatedRecordsTheKnownAreDroppedAndTheRestTaken() {
        var session = HistorySession.streaming(Given.info(1...100), committed: 20)
        let run = [
            Given.samples(6...20), Given.samples(16...30), Given.samples(16...30), Given.samples(30...31),
        ]
        #expect(session.handle(.notifications(run)) == [.commit(Given.chunk(21...31))])
    }

    // MARK: 8. Two gateways.

    @Test func duty8_whatAnotherGatewaysAckFreedIsAQuestionAndNotYetAGap() {
        let info = Given.info(41...100)
        var session = HistorySession.streaming(info, committed: 10)
        _ = session.handle(.notifications([Given.samples(41...55)]))
        let question = SuspectedGap(ring: Given.ring, firstSeq: 11, lastSeq: 40, cause: .freedElsewhere)
        #expect(
            session.handle(.infoRead(info.encoded)) == [.commit(Given.chunk(41...55, questions: [question]))])
        #expect(session.handle(.committed(Given.outcome(10))) == [])
    }

    @Test func duty8_anObserverStoresAndNeverAcks() {
        var session = HistorySession.streaming(Given.info(1...30), mode: .observe, committed: 15)
        #expect(
            session.handle(.notifications([Given.samples(16...30), Given.end(30)])) == [
                .commit(Given.chunk(16...30))
            ])
        #expect(session.handle(.committed(Given.outcome(30))) == [.readInfo])
        #expect(session.handle(.ackPointRaised(30)) == [])
        #expect(session.handle(.infoRead(Given.info(1...30).encoded)) == [.finish(.caughtUp)])
        #expect(session.summary.acks == 0)
    }
}
