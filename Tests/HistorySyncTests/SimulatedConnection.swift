import BandModel
import BandProfile
import GatewayModel
import HistorySync

/// Joins a session to a simulated band and a model store, in simulated time.
struct SimulatedConnection {
    var mode = BandMode.own
    var mtu = 247
    /// Most notifications handed over at a time.
    var chunkLimit = 8
    /// Steps after which the daemon is killed; nil = never.
    var killAfter: Int?
    var acks: [(seq: UInt32, outcome: AckOutcome)] = []
    var notes: [SessionNote] = []
    /// The highest ack that was not covered by the store at that moment.
    var ackAheadOfStore = false
    var now = MonotonicTime(milliseconds: 0)
    var simulatedMilliseconds: Int64 { now.milliseconds }

    /// Runs one connection to its end; nil when the daemon was killed.
    mutating func run(
        _ band: inout SimulatedBand, _ store: inout ModelStore, connection: Int, takenOver: Bool = false
    ) -> SessionEnd? {
        var session = HistorySession(mode: mode)
        if !takenOver { band.linkUp(mtu: mtu) }
        var events: [SessionEvent] = [.started(takenOver: takenOver)]
        var steps = 0
        while true {
            steps += 1
            if let killAfter, steps > killAfter { return nil }
            precondition(steps < 200_000, "a session ends")
            let event: SessionEvent
            if !events.isEmpty {
                event = events.removeFirst()
            } else if session.wantsNotifications, case let fresh = band.nextNotifications(max: chunkLimit),
                !fresh.isEmpty
            {
                event = .notifications(fresh)
            } else if !band.isLinked {
                event = .linkLost
            } else if let deadline = session.deadline {
                now = max(now, deadline)
                event = .deadlinePassed
            } else {
                preconditionFailure("the session waits for nothing")
            }
            for action in session.handle(event, at: now) {
                switch action {
                case .readInfo:
                    events.append(.infoRead(band.info().encoded))
                case .loadProgress(let info):
                    events.append(.progressLoaded(store.progress(info)))
                case .readClock:
                    let clock = band.clock(now: now.milliseconds)
                    events.append(
                        .clockRead(
                            ClockReading(
                                clockID: clock.clockID, bandTimeMilliseconds: clock.timeMilliseconds,
                                hostTime: Timestamp(milliseconds: now.milliseconds),
                                hostMonotonicMilliseconds: now.milliseconds, bootID: "test",
                                boundMilliseconds: 1, bandSecondsSinceBoot: clock.secondsSinceBoot)))
                case .subscribe:
                    band.enableNotifications(true)
                    events.append(.subscribed)
                case .write(let command):
                    events.append(.controlPointAnswered(band.writeControlPoint(command.encoded)))
                case .commit(let chunk):
                    events.append(.committed(store.commit(chunk)))
                case .ack(let seq):
                    guard band.isLinked else { break }
                    if seq > store.ackThrough(band.ring) { ackAheadOfStore = true }
                    acks.append((seq, band.ack(Ack.encode(seq))))
                case .recordTry(let ring, let seq, let unreadable):
                    events.append(
                        .tryRecorded(
                            store.recordTry(ring, seq: seq, unreadable: unreadable, connection: connection)))
                case .rewind(let ring, let seq):
                    store.next[ring] = seq
                    events.append(.rewound)
                case .note(let note):
                    notes.append(note)
                case .finish(let end):
                    band.linkDown()
                    return end
                }
            }
        }
    }
}
