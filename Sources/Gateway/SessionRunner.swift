import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import HistorySync
import Store
import Systemd

/// Runs one `HistorySession` over one link: performs its actions, brings it what happens. Decides nothing.
actor SessionRunner {
    /// Most notifications in one chunk: 64 x 15 records keep a commit short on an SD card.
    static let notificationsPerChunk = 64

    let inbox: SessionInbox
    private let link: BandLink
    private let mailbox = NotificationMailbox()
    private let device: DeviceID
    private let mode: BandMode
    private let ack: AckPolicy
    private let connectionID: Int64
    private let store: Store
    private let clock: HostClock
    private let hostWatch: HostClockWatch
    private let hooks: SessionHooks
    private let meter: GatewayMeter
    private let log: BandLog

    private var reading: ClockReading?
    private var failure: BlueZFailure?
    /// What Info showed last, and when by the monotonic clock, ms.
    private var newest: (seq: UInt32, at: Int64)?
    /// When the oldest notification came that is not acked yet, ms.
    private var unackedSince: Int64?

    init(
        link: BandLink, inbox: SessionInbox, device: DeviceID, mode: BandMode, ack: AckPolicy,
        connectionID: Int64,
        store: Store, clock: HostClock, hostWatch: HostClockWatch,
        hooks: SessionHooks, meter: GatewayMeter, log: BandLog
    ) {
        self.link = link
        self.inbox = inbox
        self.device = device
        self.mode = mode
        self.ack = ack
        self.connectionID = connectionID
        self.store = store
        self.clock = clock
        self.hostWatch = hostWatch
        self.hooks = hooks
        self.meter = meter
        self.log = log
    }

    /// Why the session ended, if the link or the band is to blame; nil else.
    func linkFailure(_ end: SessionEnd) -> BlueZFailure? {
        if case .linkLost = end {
            return failure ?? BlueZFailure(kind: .notConnected, during: .read, text: "the link dropped")
        }
        return failure
    }

    /// Runs to the end; every session has one, since each wait has a deadline.
    func run() async -> (end: SessionEnd, summary: SessionSummary) {
        mailbox.setWaker { [inbox] in inbox.wake() }
        defer { meter.waiting(device, 0) }
        var session = HistorySession(mode: mode)
        var answers: [SessionEvent] = [.started(takenOver: link.wasAlreadyConnected)]
        while true {
            let event = answers.isEmpty ? await next(session) : answers.removeFirst()
            for action in session.handle(event, at: clock.monotonic()) {
                if case .finish(let end) = action { return (end, session.summary) }
                if let answer = await perform(action) { answers.append(answer) }
            }
            if let position = session.position {
                hooks.progressed(position.ring, position.nextSeq, position.newestSeq)
            }
        }
    }

    private func next(_ session: HistorySession) async -> SessionEvent {
        while true {
            let news = inbox.take()
            if news.stop { return .stopRequested }
            if let mode = news.mode {
                // Both may have come: the point is looked at with the right to ack.
                if let seq = news.ackPoint { inbox.ackPointRaised(to: seq) }
                return .modeChanged(mode)
            }
            if let seq = news.ackPoint { return .ackPointRaised(seq) }
            if session.wantsNotifications {
                let taken = mailbox.take(max: Self.notificationsPerChunk)
                if taken.dropped > 0 {
                    log.notificationsDropped(taken.dropped)
                    meter.dropped(taken.dropped)
                }
                if !taken.run.isEmpty {
                    meter.waiting(device, taken.run.count + mailbox.count)
                    unackedSince = unackedSince ?? clock.monotonic().milliseconds
                    return .notifications(taken.run.notifications)
                }
                if taken.ended { return .linkLost }
            }
            if news.linkLost { return .linkLost }
            let now = clock.monotonic()
            if let deadline = session.deadline, deadline <= now { return .deadlinePassed }
            await inbox.wait(until: session.deadline, now: now)
        }
    }

    // MARK: actions

    private func perform(_ action: SessionAction) async -> SessionEvent? {
        do {
            switch action {
            case .readInfo: return .infoRead(try await readInfo())
            case .loadProgress(let info): return .progressLoaded(try await progress(info))
            case .readClock: return .clockRead(try await readClock())
            case .subscribe:
                try await bonded { try await link.subscribe(into: mailbox) }
                return .subscribed
            case .write(let command): return try await write(command)
            case .commit(let chunk): return .committed(try await commit(chunk))
            case .ack(let seq):
                // A lost ack is repeated; nothing waits for it.
                await link.ack(seq)
                if let since = unackedSince {
                    meter.acked(milliseconds: clock.monotonic().milliseconds - since)
                    unackedSince = nil
                }
                log.acked(seq)
                return nil
            case .recordTry(let ring, let seq, let unreadable):
                return .tryRecorded(
                    try await store.recordFailedTry(
                        device, ring: ring, seq: seq, unreadable: unreadable, connection: connectionID))
            case .rewind(let ring, let seq):
                try await store.rewind(device, ring: ring, to: seq)
                return .rewound
            case .note(let note):
                log.note(note)
                return nil
            case .finish:
                return nil
            }
        } catch let failure as BlueZFailure {
            self.failure = failure
            return .failed(.link(failure.problem(of: link.address)))
        } catch let error as StoreError {
            return .failed(.store(error.problem))
        } catch {
            return .failed(.link(.unexpected(error)))
        }
    }

    private func readInfo() async throws -> [UInt8] {
        let asked = clock.monotonic().milliseconds
        let bytes = try await bonded { try await link.readInfo() }
        if let info = try? RingInfo(decoding: bytes) { newest = (info.newestSeq, asked) }
        return bytes
    }

    private func progress(_ info: RingInfo) async throws -> RingProgress {
        await hooks.ringSeen(info)
        return try await store.progress(of: device, info: info, ack: ack)
    }

    private func write(_ command: ControlPointCommand) async throws -> SessionEvent {
        do {
            try await bonded { try await link.writeControlPoint(command.encoded) }
            return .controlPointAnswered(nil)
        } catch let failure as BlueZFailure {
            guard case .applicationError(let code) = failure.kind,
                let refusal = ControlPointError(rawValue: code)
            else { throw failure }
            return .controlPointAnswered(refusal)
        }
    }

    /// A band may ask for a bond for any characteristic: pairs then, and tries once more.
    private func bonded<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let failure as BlueZFailure where failure.kind == .notPaired {
            try await link.pairIfNeeded()
            return try await body()
        }
    }

    /// The band's time was taken somewhere between the call and its answer: the middle, give or take half.
    private func readClock() async throws -> ClockReading? {
        let before = clock.monotonic()
        let bytes = try await bonded { try await link.readClock() }
        let after = hostWatch.stamp()
        guard let band = try? BandClock(decoding: bytes), band.isPlausible else { return nil }
        let half = (after.monotonic - before.milliseconds + 1) / 2
        let fresh = ClockReading(
            clockID: band.clockID, bandTimeMilliseconds: band.timeMilliseconds,
            hostTime: Timestamp(milliseconds: after.wall.milliseconds - half),
            hostMonotonicMilliseconds: after.monotonic - half, bootID: after.bootID,
            boundMilliseconds: Int(half), bandSecondsSinceBoot: band.secondsSinceBoot,
            hostTrust: after.trust, hostBoundMilliseconds: after.boundMilliseconds, newestSeq: newest?.seq,
            newestAgeMilliseconds: newest.map { before.milliseconds - $0.at } ?? 0)
        reading = fresh
        return fresh
    }

    private func commit(_ chunk: Chunk) async throws -> CommitOutcome {
        let began = clock.monotonic().milliseconds
        let outcome = try await store.commit(chunk, of: device, clock: reading, ack: ack)
        meter.committed(
            device, samples: outcome.stored, milliseconds: clock.monotonic().milliseconds - began)
        log.committed(chunk, outcome)
        hooks.committed(chunk)
        return outcome
    }
}

/// How a session tells the rest of the gateway what it did. Called from the session: must return at once,
/// `ringSeen` aside.
struct SessionHooks: Sendable {
    /// Before the store is asked: a ring never seen here may be known to the server.
    var ringSeen: @Sendable (RingInfo) async -> Void
    var progressed: @Sendable (RingID, _ nextSeq: UInt32, _ newestSeq: UInt32) -> Void
    var committed: @Sendable (Chunk) -> Void
}
