import GatewayModel
import HTTPClient
import IngestAPI
import Locking
import UploadDecisions

@testable import Uplink

/// A worker with a fake outbox, a model server and a clock that jumps over every wait: no thread, no socket, no sleep.
final class Run {
    let outbox = FakeOutbox()
    let server = ModelServer()
    let clock: FakeClock
    let directory = TemporaryDirectory()
    let board: UploadBoard
    let events = Locked<[UploadEvent]>([])
    let states = Locked<[String]>([])
    let dates = Locked<[String]>([])
    let marks = Locked(0)
    /// Bands of which was said that their owner is another.
    let owners = Locked<[DeviceID]>([])
    let network = Locked(NetworkState())
    let trust = Locked(HostTrust.plausible)
    let hostOffset = Locked(0)
    private(set) var worker: UploadWorker
    private let makeWorker: (_ seed: UInt64) -> UploadWorker
    /// A start has random bits of its own.
    private var starts: UInt64 = 0
    private let seed: UInt64

    /// - Parameter transport: the model server itself unless given.
    init(
        seed: UInt64 = 1, token: String? = "secret\n", url: String = "http://server",
        intervals: UploadIntervals = UploadIntervals(), limits: SendLimits = SendLimits(),
        clock: FakeClock = FakeClock(), transport: (any UploadTransport)? = nil,
        deadlines: HTTPDeadlines = HTTPDeadlines()
    ) {
        self.seed = seed
        self.clock = clock
        if let token { directory.write(token, to: "token") }
        let (events, states, dates, marks, outbox) = (events, states, dates, marks, outbox)
        let (network, trust, hostOffset, owners) = (network, trust, hostOffset, owners)
        let board = UploadBoard(log: { event in events.change { $0.append(event) } })
        self.board = board
        let settings = UploadSettings(
            url: url, tokenFile: "\(directory.path)/token", limits: limits, intervals: intervals)
        let transport = transport ?? server
        makeWorker = { seed in
            UploadWorker(
                settings: settings,
                server: UploadServer(
                    url: url, transport: transport, deadlines: deadlines,
                    date: ServerDate(url: url, clock: clock) { date, sent, answered in
                        dates.change { $0.append("\(date.milliseconds) \(sent) \(answered)") }
                    }),
                clock: clock, random: injectedRandom(seed: seed), board: board, openOutbox: { outbox },
                hooks: UploadHooks(
                    ownerChanged: { device in owners.change { $0.append(device) } },
                    serverState: { device, state in
                        states.change { $0.append("\(device) \(state?.maxVersion ?? 0)") }
                    }, storeMarked: { marks.change { $0 += 1 } }, hostTrust: { trust.value },
                    hostOffset: { _ in hostOffset.value }, network: { network.value }))
        }
        worker = makeWorker(seed)
    }

    /// The daemon starts again: what was in memory is gone.
    func restart() {
        starts += 1
        worker = makeWorker(seed &* 1_000_003 &+ starts)
    }

    /// Steps until the worker wants to wait; returns how long. A loop without an end is a failure by itself.
    func untilItWaits(limit: Int = 20_000) -> Duration? {
        for _ in 0..<limit {
            let wait = worker.step(wasWoken: false)
            if wait > .zero { return wait }
        }
        return nil
    }

    /// Jumps over waits for this much time.
    func pass(_ duration: Duration, each: (() -> Void)? = nil) {
        let end = clock.monotonic + duration
        while clock.monotonic < end {
            each?()
            let wait = worker.step(wasWoken: false)
            if wait > .zero { clock.advance(by: min(wait, end - clock.monotonic)) }
        }
    }

    /// The next commit.
    func wake() { _ = worker.step(wasWoken: true) }

    /// A question about the first device, as its session asks it.
    func ask(deadline: Duration = .seconds(10)) -> ServerAnswer? {
        let answer = OneShot<ServerAnswer>()
        worker.answer(
            Mailbox.Question(device: deviceA, until: clock.monotonic + deadline, answer: answer))
        return answer.peek
    }

    var log: [String] { server.contents.value.log }
    var posts: Int { log.count { $0.hasPrefix("POST") } }
    var problem: String? { board.snapshot.problem?.code }
}
