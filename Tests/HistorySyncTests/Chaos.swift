import BandProfile
import GatewayModel
import HistorySync

/// A band, a link and a store that mostly answer what was asked, with anything, and sometimes do something else.
struct Chaos {
    /// Seqs where counting could go wrong.
    static let edges: [UInt32] = [
        1, 2, 15, 16, 100, 0x7fff_ffff, 0x8000_0000, .max - 16, .max - 2, .max - 1, .max,
    ]

    var random: SeededGenerator
    private(set) var durable: UInt32 = 0
    private var pending: SessionAction?

    init(random: SeededGenerator) { self.random = random }

    mutating func asked(for action: SessionAction) {
        switch action {
        case .readInfo, .loadProgress, .readClock, .subscribe, .write, .commit, .recordTry, .rewind:
            pending = action
        case .ack, .note, .finish:
            break
        }
    }

    mutating func event(wantsNotifications: Bool) -> SessionEvent {
        if below(30) == 0 {
            let seq = edge()
            let others: [SessionEvent] = [
                .linkLost, .stopRequested, .deadlinePassed, .ackPointRaised(seq), .subscribed,
                .clockRead(nil), .controlPointAnswered(.busy), .infoRead([]),
            ]
            return others[below(others.count)]
        }
        guard let action = pending else {
            return wantsNotifications ? .notifications(run()) : .deadlinePassed
        }
        pending = nil
        return answer(to: action)
    }

    private mutating func answer(to action: SessionAction) -> SessionEvent {
        switch action {
        case .readInfo:
            var info = Given.info(1...1, window: UInt16(below(4)))
            info.oldestSeq = max(1, edge())
            info.newestSeq = max(info.oldestSeq - 1, edge())
            info.capacity = edge()
            return .infoRead(info.encoded)
        case .loadProgress:
            let next = max(1, edge())
            durable = next - 1
            return .progressLoaded(RingProgress(nextSeq: next, ackThrough: edge()))
        case .readClock:
            return .clockRead(Given.reading(clockID: UInt16(below(4))))
        case .subscribe:
            return .subscribed
        case .write:
            let errors: [ControlPointError?] = [nil, nil, nil, nil, .busy, .notificationsNotEnabled]
            return .controlPointAnswered(errors[below(errors.count)])
        case .commit(let chunk):
            durable = chunk.through
            return .committed(Given.outcome(edge()))
        case .recordTry:
            let tries = 1 + below(4)
            return .tryRecorded(Given.tries(tries, connections: tries / 2))
        case .rewind(_, let seq):
            durable = seq - 1
            return .rewound
        case .ack, .note, .finish:
            return .deadlinePassed
        }
    }

    private mutating func run() -> [[UInt8]] {
        var run: [[UInt8]] = []
        for _ in 0...below(4) {
            switch below(5) {
            case 0:
                let statuses: [StreamEnd.Status] = [.complete, .aborted, .internalError]
                run.append(Given.end(edge(), statuses[below(3)]))
            case 1:
                var bytes: [UInt8] = []
                for _ in 0..<below(41) { bytes.append(UInt8(below(256))) }
                run.append(bytes)
            default:
                let first = max(1, min(edge(), .max - 16))
                run.append(Given.samples(first...first + UInt32(below(15)), clockID: UInt16(below(4))))
            }
        }
        return run
    }

    private mutating func edge() -> UInt32 { Self.edges[below(Self.edges.count)] &+ UInt32(below(4)) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
}
