import Dispatch
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

/// Which connection a question goes to.
@Suite struct ReadPoolTests {
    /// Keeps so many connections of a pool busy until it is let go; not for ever, so that a test that fails ends.
    private final class Occupation: Sendable {
        private let end = DispatchSemaphore(value: 0)
        private let isOver = Guarded(false)
        private let count: Int

        init(_ pool: ReadPool, count: Int) async {
            self.count = count
            let (stream, begun) = AsyncStream.makeStream(of: Void.self)
            var steps = stream.makeAsyncIterator()
            for _ in 0..<count {
                Task { [end, isOver] in
                    try await pool.perform { _ in
                        begun.yield()
                        if end.wait(timeout: .now() + 30) == .timedOut { isOver.withLock { $0 = true } }
                    }
                }
                await steps.next()
            }
        }

        /// False when somebody had to wait for its end.
        func letGo() -> Bool {
            for _ in 0..<count { end.signal() }
            return !isOver.withLock { $0 }
        }
    }

    @Test(.timeLimit(.minutes(5))) func aQuestionGoesToAConnectionThatIsFree() async throws {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        try engine.prepare()
        let pool = ReadPool(engine, label: "test", count: 3, limits: .untilTheTestEnds)
        let occupation = await Occupation(pool, count: 2)
        for number in 1...5 {
            #expect(try await pool.perform { _ in number } == number)
        }
        #expect(occupation.letGo())
        await pool.close()
        _ = directory
    }

    /// Gateways need them before they send.
    @Test(.timeLimit(.minutes(5))) func gapsAndRangesAreReadWhileDevicesAreListed() async throws {
        try await TestServer.run { server in
            let storage = server.storage
            _ = try await server.client().store(batch([sample(1)], device: "d"))
            let occupation = await Occupation(storage.lists, count: storage.lists.count)
            let gaps = try await storage.gaps(device: "d", account: "a")
            let ranges = try await storage.ranges(device: "d", account: "a")
            #expect(gaps?.count == 0)
            #expect(ranges?.count == 1)
            #expect(occupation.letGo())
        }
    }

    @Test(.timeLimit(.minutes(5))) func tokensAreLookedUpWhileDevicesAreListed() async throws {
        try await TestServer.run { server in
            let storage = server.storage
            let occupation = await Occupation(storage.states, count: storage.states.count)
            let found = try await storage.token(digest: [1])
            #expect(found == nil)
            #expect(occupation.letGo())
        }
    }
}
