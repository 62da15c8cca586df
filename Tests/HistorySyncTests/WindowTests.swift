import BandModel
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

    /// `ack = upload`: what is stored is not acked before the server has it. A window at a time, and nothing is freed.
    @Test func anAckThatWaitsForTheServerComesInTheMiddleOfTheStream() {
        var session = HistorySession.streaming(Given.info(1...100, window: 2))
        #expect(session.handle(.notifications([Given.samples(1...15)])) == [.commit(Given.chunk(1...15))])
        #expect(session.handle(.committed(Given.outcome(0))) == [])
        #expect(session.handle(.ackPointRaised(9)) == [.ack(9)])
        #expect(session.handle(.ackPointRaised(9)) == [], "once")
        // Not beyond what is durable here, whatever the server has.
        #expect(session.handle(.ackPointRaised(90)) == [.ack(15)])
        #expect(session.handle(.notifications([Given.samples(16...30)])) == [.commit(Given.chunk(16...30))])
        // The ack freed the first one.
        #expect(session.handle(.committed(Given.outcome(15))) == [])
    }

    @Test func whoeverLosesTheBandFallsSilentAtOnce() {
        var session = HistorySession.streaming(Given.info(1...100, window: 1))
        _ = session.handle(.notifications([Given.samples(1...15)]))
        #expect(session.handle(.committed(Given.outcome(15))) == [.ack(15)])
        #expect(session.handle(.modeChanged(.observe)) == [])
        _ = session.handle(.notifications([Given.samples(16...30)]))
        #expect(session.handle(.committed(Given.outcome(30))) == [.write(.abort)])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.notifications([Given.end(30, .aborted)])) == [.write(.sendFrom(31))])
        _ = session.handle(.controlPointAnswered(nil))
        #expect(session.handle(.modeChanged(.own)) == [.ack(30)], "and acks all when it has it again")
    }

    @Test func noAckGoesBeforeInfoSaysWhichRingItIs() {
        var session = HistorySession(mode: .observe)
        _ = session.handle(.started(takenOver: false))
        #expect(session.handle(.modeChanged(.own)) == [])
        #expect(session.handle(.ackPointRaised(50)) == [])
        _ = session.handle(.infoRead(Given.info(1...100).encoded))
        _ = session.handle(.progressLoaded(RingProgress(nextSeq: 41, ackThrough: 40)))
        _ = session.handle(.clockRead(Given.reading()))
        #expect(session.handle(.subscribed) == [.ack(40), .write(.sendFrom(41))])
    }

    /// All of a history behind a window, by a gateway that acks nothing of it or only what the server has by then.
    @Test(arguments: UInt64(0)..<40) func everythingIsDrainedAndOnlyWhatIsConfirmedIsFreed(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        let window = UInt16.random(in: 1...9, using: &random)
        let records = Int.random(in: 1...400, using: &random)
        let faults = ["", "drop:0.05", "duplicate:0.1", "noend:0.3", "reorder:0.05"].randomElement(
            using: &random)
        var band = SimulatedBand(
            SimulatedBandOptions(
                seed: seed, records: records, window: window, faults: try FaultScript(faults ?? "")),
            now: 1_793_000_000_000)
        var store = ModelStore()
        let isOwner = Bool.random(using: &random)
        var link = SimulatedConnection(
            mode: isOwner ? .own : .observe, mtu: [23, 247].randomElement(using: &random) ?? 23)
        store.confirmed = isOwner ? 0 : nil
        for connection in 1...20 {
            let end = link.run(&band, &store, connection: connection)
            let named = (1...UInt32(records)).allSatisfy { seq in
                store.samples.keys.contains { $0.seq == seq } || store.names(band.ring, seq)
            }
            if end == .caughtUp, named { break }
            // The upload is somewhere on the way.
            store.confirmed = store.confirmed.map {
                UInt32.random(in: $0...max($0, UInt32(records)), using: &random)
            }
        }
        let seqs = Set(store.samples.keys.map(\.seq))
        for seq in 1...UInt32(records) {
            #expect(seqs.contains(seq) || store.names(band.ring, seq), "seed \(seed), seq \(seq)")
        }
        #expect(!link.ackAheadOfStore, "seed \(seed)")
        #expect(
            link.acks.allSatisfy { $0.seq <= UInt32(records) }, "seed \(seed): not beyond what the band holds"
        )
        if !isOwner { #expect(band.info().oldestSeq == 1 && link.acks.isEmpty, "seed \(seed)") }
    }
}
