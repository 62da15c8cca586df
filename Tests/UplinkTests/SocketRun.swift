import Foundation
import GatewayModel
import HTTPClient

@testable import Uplink

/// A worker over libcurl and a real socket, in time that jumps: what a server does to it in an hour takes a moment.
enum SocketRun {
    /// A request as it came, and when.
    struct Arrival: Sendable {
        var time: Duration
        var request: HTTPRequest
    }

    typealias Script = @Sendable (HTTPRequest, ModelServer) -> ScriptedServer.Reply

    /// What the body of a test may use.
    struct Bed {
        let run: Run
        let server: ScriptedServer
        let model: ModelServer
        private let script: Locked<Script>
        private let seen: Locked<[Arrival]>

        init(
            run: Run, server: ScriptedServer, model: ModelServer, script: Locked<Script>,
            seen: Locked<[Arrival]>
        ) {
            self.run = run
            self.server = server
            self.model = model
            self.script = script
            self.seen = seen
        }

        var arrivals: [Arrival] { seen.value }

        func set(_ script: @escaping Script) { self.script.change { $0 = script } }

        /// From now on the server keeps to the contract.
        func heal() { set { .proper($1.answer($0)) } }

        func posts() -> [Arrival] { arrivals.filter { $0.request.method == .post } }
    }

    /// Runs a test's body on a thread of its own: the client blocks.
    static func perform(
        deadline: Duration = .seconds(30), family: Int32 = AF_INET,
        url: (@Sendable (ScriptedServer) -> String)? = nil,
        options: HTTPClientOptions = HTTPClientOptions(),
        script: @escaping Script = { .proper($1.answer($0)) },
        _ body: @escaping @Sendable (Bed) throws -> Void
    ) async throws {
        try await BlockingWork().perform {
            let clock = FakeClock()
            let model = ModelServer()
            let script = Locked(script)
            let seen = Locked<[Arrival]>([])
            let server = try ScriptedServer(family: family) { request in
                seen.change { $0.append(Arrival(time: clock.monotonic, request: request)) }
                return script.value(request, model)
            }
            defer { server.stop() }
            let run = Run(
                token: "\(Secrets.token)\n", url: url?(server) ?? server.url, clock: clock,
                transport: try HTTPClient(options: options),
                deadlines: HTTPDeadlines(connect: .seconds(10), total: deadline))
            try body(Bed(run: run, server: server, model: model, script: script, seen: seen))
        }
    }
}

/// Work that blocks, off Swift's shared pool, and yet in the test's own task: what it expects is the test's.
actor BlockingWork {
    private final class Executor: SerialExecutor {
        private let queue = DispatchQueue(label: "blocking-work")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }

        func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    }

    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func perform<Value: Sendable>(_ body: @Sendable () throws -> Value) rethrows -> Value { try body() }
}

/// What must be in no event.
enum Secrets {
    static let token = "tell-nobody-tZ9"
    /// Steps; five digits are no part of a sync id.
    static let value = 31_957
    /// What else the log may not hold: a token, more of a URL than its host, a payload.
    static let texts = [token, "/v1", "samples:batch", "recorded_at", "band_time"]

    static func samples(_ seqs: ClosedRange<UInt32>) -> [Sample] {
        seqs.map { seq in
            var sample = sample(seq, value: value)
            sample.type = .steps
            return sample
        }
    }

    /// The secrets that what was said gives away.
    static func leaks(in run: Run) -> [String] {
        let said =
            run.events.value.map { "\($0.name) \($0.text) \($0.fields) \($0)" }.joined(separator: "\n")
            + "\(run.board.snapshot)"
        let words = Set(said.split { !$0.isLetter && !$0.isNumber })
        return texts.filter { said.contains($0) } + (words.contains("\(value)") ? ["\(value)"] : [])
    }
}
