import BandProfile
import GatewayModel
import HistorySync
import Testing

/// A band may send anything at any time: a session ends or goes on, it never traps and never acks too much.
struct HostileTests {
    @Test func aRingThatEndsAtTheLastNumberIsReadToItsEnd() {
        let info = Given.info(.max - 20 ... .max)
        var session = HistorySession.streaming(info, committed: .max - 21)
        let run = [
            Given.samples(.max - 20 ... .max - 6), Given.samples(.max - 5 ... .max - 1), Given.end(.max),
        ]
        #expect(
            session.handle(.notifications(run)) == [.commit(Given.chunk(.max - 20 ... .max - 1))])
        let beforeLast = UInt32.max - 1
        #expect(session.handle(.committed(Given.outcome(beforeLast))) == [.ack(beforeLast), .readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.readInfo])
        #expect(session.handle(.infoRead(info.encoded)) == [.finish(.caughtUp)])
    }

    @Test func aBandThatLostEverythingUpToTheLastNumberIsOneQuestion() {
        let info = Given.info(.max ... .max, capacity: 0)
        var session = HistorySession.streaming(info)
        #expect(session.handle(.notifications([Given.end(.max)])) == [.readInfo])
        let question = SuspectedGap(ring: Given.ring, firstSeq: 1, lastSeq: .max - 1, cause: .overwritten)
        #expect(
            session.handle(.infoRead(info.encoded)) == [
                .commit(Given.chunk(questions: [question], through: .max - 1))
            ])
        _ = session.handle(.committed(Given.outcome(0)))
        var actions = session.handle(.infoRead(info.encoded))
        if actions == [.readInfo] { actions = session.handle(.infoRead(info.encoded)) }
        #expect(actions == [.finish(.caughtUp)])
    }

    @Test func anythingAtAnyTimeNeverTrapsNorSkipsNorAcksMoreThanIsDurable() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3_000 {
            var chaos = Chaos(random: random)
            let mode: BandMode = Bool.random(using: &chaos.random) ? .own : .observe
            var session = HistorySession(mode: mode)
            var now: Int64 = 0
            var event = SessionEvent.started(takenOver: Bool.random(using: &chaos.random))
            for _ in 0..<60 where !session.isFinished {
                now += Int64.random(in: 0...6_000, using: &chaos.random)
                for action in session.handle(event, at: now) {
                    if case .ack(let seq) = action {
                        #expect(mode == .own && seq <= chaos.durable, "seed \(seed)")
                    }
                    if case .commit(let chunk) = action {
                        let isWhole = chunk.coversExactly(after: chaos.durable)
                        #expect(isWhole, "seed \(seed)")
                    }
                    chaos.asked(for: action)
                }
                event = chaos.event(wantsNotifications: session.wantsNotifications)
            }
            random = chaos.random
        }
    }
}
