import GatewayModel
import HTTPClient
import IngestAPI
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
    private(set) var worker: UploadWorker
    private let intervals: UploadIntervals
    /// A start has random bits of its own.
    private var starts: UInt64 = 0
    private let seed: UInt64

    private let url: String
    private let transport: any UploadTransport
    private let deadlines: HTTPDeadlines

    /// - Parameter transport: the model server itself unless given.
    init(
        seed: UInt64 = 1, token: String? = "secret\n", url: String = "http://server",
        intervals: UploadIntervals = UploadIntervals(), clock: FakeClock = FakeClock(),
        transport: (any UploadTransport)? = nil, deadlines: HTTPDeadlines = HTTPDeadlines()
    ) {
        self.seed = seed
        self.url = url
        self.intervals = intervals
        self.clock = clock
        self.transport = transport ?? server
        self.deadlines = deadlines
        if let token { directory.write(token, to: "token") }
        let events = events
        board = UploadBoard(log: { event in events.change { $0.append(event) } })
        worker = Self.makeWorker(
            seed: seed, url: url, directory: directory, intervals: intervals, transport: self.transport,
            deadlines: deadlines, clock: clock, board: board, outbox: outbox, states: states, dates: dates,
            marks: marks)
    }

    private static func makeWorker(
        seed: UInt64, url: String, directory: TemporaryDirectory, intervals: UploadIntervals,
        transport: any UploadTransport, deadlines: HTTPDeadlines, clock: FakeClock, board: UploadBoard,
        outbox: FakeOutbox,
        states: Locked<[String]>, dates: Locked<[String]>, marks: Locked<Int>
    ) -> UploadWorker {
        UploadWorker(
            settings: UploadSettings(url: url, tokenFile: "\(directory.path)/token", intervals: intervals),
            server: UploadServer(
                url: url, transport: transport, deadlines: deadlines,
                date: ServerDate(url: url, clock: clock) { date, sent, answered in
                    dates.change { $0.append("\(date.milliseconds) \(sent) \(answered)") }
                }),
            clock: clock, random: injectedRandom(seed: seed), board: board, openOutbox: { outbox },
            hooks: UploadHooks(
                serverState: { device, state in
                    states.change { $0.append("\(device) \(state?.maxVersion ?? 0)") }
                }, storeMarked: { marks.change { $0 += 1 } }))
    }

    /// The daemon starts again: what was in memory is gone.
    func restart() {
        starts += 1
        worker = Self.makeWorker(
            seed: seed &* 1_000_003 &+ starts, url: url, directory: directory, intervals: intervals,
            transport: transport, deadlines: deadlines, clock: clock, board: board, outbox: outbox,
            states: states, dates: dates,
            marks: marks)
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

    var log: [String] { server.contents.value.log }
    var posts: Int { log.count { $0.hasPrefix("POST") } }
    var problem: String? { board.snapshot.problem?.code }
}
