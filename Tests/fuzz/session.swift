import BandProfile
import GatewayModel
import HistorySync

/// A session under any events: it never traps, never acks ahead of the commits, and never skips a record unnamed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSession(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var world = FuzzedWorld(FuzzInput(start, count))
    world.run()
    return 0
}

/// A band, a link and a store whose every answer is taken from the input.
struct FuzzedWorld {
    private var input: FuzzInput
    private var session: HistorySession
    private let mode: BandMode
    private var pending: SessionAction?
    private var now: Int64 = 0
    /// The last seq that the store has in one way or another.
    private var durable: UInt32 = 0
    private let ring = RingID(rawValue: 0xb5e5_d00d)

    init(_ input: FuzzInput) {
        self.input = input
        mode = self.input.below(2) == 0 ? .own : .observe
        session = HistorySession(mode: mode)
    }

    mutating func run() {
        var event = SessionEvent.started(takenOver: input.below(2) == 1)
        while !session.isFinished {
            for action in session.handle(event, at: MonotonicTime(milliseconds: now)) { perform(action) }
            if input.isEmpty { break }
            event = next()
        }
    }

    private mutating func perform(_ action: SessionAction) {
        switch action {
        case .ack(let seq):
            require(mode == .own, "an observer never acks")
            require(seq <= durable, "no ack is ahead of the store")
        case .commit(let chunk):
            requireCoverage(chunk)
            pending = action
        case .readInfo, .loadProgress, .readClock, .subscribe, .write, .recordTry, .rewind:
            pending = action
        case .note, .finish:
            break
        }
    }

    /// From the last commit to this one's end every seq is a record, in a gap or in a question; none is in two.
    private func requireCoverage(_ chunk: Chunk) {
        var covered = chunk.gaps.map { ($0.firstSeq, $0.lastSeq ?? 0) }
        covered += chunk.openQuestions.filter { $0.ring == chunk.ring }.map { ($0.firstSeq, $0.lastSeq ?? 0) }
        if let first = chunk.records.first?.record.seq, let last = chunk.records.last?.record.seq {
            require(last - first == UInt32(chunk.records.count - 1), "a chunk is contiguous")
            covered.append((first, last))
        }
        var next = durable &+ 1
        for (first, last) in covered.sorted(by: { $0.0 < $1.0 }) {
            require(first == next && last >= first, "a chunk covers every seq exactly once")
            next = last &+ 1
        }
        require(chunk.through == next &- 1, "a chunk reaches as far as it says")
    }

    // MARK: events

    private mutating func next() -> SessionEvent {
        let choice = input.below(32)
        if choice < 8 { return outOfTurn(choice) }
        now += Int64(input.below(4)) * 2_500
        guard let action = pending else {
            return session.wantsNotifications ? .notifications(run(of: input.below(4) + 1)) : .deadlinePassed
        }
        pending = nil
        return answer(to: action)
    }

    private mutating func outOfTurn(_ choice: Int) -> SessionEvent {
        switch choice {
        case 0: .linkLost
        case 1: .stopRequested
        case 2: .ackPointRaised(seq())
        case 3: .controlPointAnswered(.busy)
        case 4: .clockRead(nil)
        default: .deadlinePassed
        }
    }

    private mutating func answer(to action: SessionAction) -> SessionEvent {
        switch action {
        case .readInfo:
            return .infoRead(info())
        case .loadProgress:
            let next = max(1, seq())
            durable = next - 1
            let other = RingProgress.Predecessor(ring: RingID(rawValue: 1), nextSeq: 5)
            return .progressLoaded(
                RingProgress(
                    nextSeq: next, ackThrough: seq(), predecessors: input.below(2) == 0 ? [] : [other]))
        case .readClock:
            return .clockRead(
                ClockReading(
                    clockID: UInt16(input.byte()), bandTimeMilliseconds: 0,
                    hostTime: Timestamp(milliseconds: 0),
                    hostMonotonicMilliseconds: 0, bootID: "", boundMilliseconds: 0, bandSecondsSinceBoot: 0))
        case .subscribe:
            return .subscribed
        case .write:
            let errors: [ControlPointError?] = [
                nil, nil, nil, nil, .busy, .notificationsNotEnabled, .unknownOpcode, .wrongLength,
            ]
            return .controlPointAnswered(errors[input.below(errors.count)])
        case .commit(let chunk):
            durable = chunk.through
            return .committed(
                CommitOutcome(ackThrough: seq(), stored: 0, duplicates: 0, conflicts: 0, keptRaw: 0))
        case .recordTry(_, let seq, let unreadable):
            return .tryRecorded(
                Attempts(
                    seq: seq, tries: input.below(5), connections: input.below(3), sawUnreadable: unreadable))
        case .rewind(_, let seq):
            durable = seq - 1
            return .rewound
        case .ack, .note, .finish:
            return .deadlinePassed
        }
    }

    // MARK: what the band sends

    /// Near what is committed, or anywhere.
    private mutating func seq() -> UInt32 {
        switch input.below(8) {
        case 0: input.number()
        case 1: .max - UInt32(input.below(20))
        case 2: UInt32(input.below(40))
        default: durable &+ UInt32(input.below(40)) &- 8
        }
    }

    private mutating func info() -> [UInt8] {
        if input.below(16) == 0 { return input.take(24) }
        let oldest = max(1, seq())
        return RingInfo(
            clockID: UInt16(input.byte()), formatCount: 1, window: UInt16(input.below(4)),
            ring: input.below(32) == 0 ? RingID(rawValue: 2) : ring, oldestSeq: oldest,
            newestSeq: max(oldest - 1, seq()), capacity: seq()
        ).encoded
    }

    private mutating func run(of count: Int) -> [[UInt8]] {
        (0..<count).map { _ in notification() }
    }

    private mutating func notification() -> [UInt8] {
        switch input.below(8) {
        case 0:
            return input.take(input.below(40))
        case 1:
            let statuses: [StreamEnd.Status] = [.complete, .complete, .aborted, .internalError]
            return HistoryNotification.end(
                StreamEnd(lastSeq: seq(), oldestSeq: seq(), status: statuses[input.below(4)])
            ).encoded
        default:
            let first = max(1, seq())
            let records = (0...input.below(15)).map {
                HistoryRecord(seq: first &+ UInt32($0), seconds: 0, type: input.byte(), value: 60)
            }
            return HistoryNotification.samples(clockID: UInt16(input.byte()), records: records).encoded
        }
    }
}
