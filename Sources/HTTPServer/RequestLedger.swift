import Locking

/// The requests that a server has in hand, and what of the memory they have.
final class RequestLedger: Sendable {
    private struct State {
        var stopping = false
        /// Requests from their headers to the last byte of their answer.
        var open: Set<ObjectIdentifier> = []
        /// Those of them whose handler, or whose judgement, runs. For a moment it is both: a judgement resumes the
        /// connection before it has left, and the library's thread is fast.
        var running: [ObjectIdentifier: (exchange: Exchange, tasks: Int)] = [:]
        var bytesInHand = 0
        /// Requests since the start.
        var begun = 0
        /// How often somebody waited.
        var waits = 0
        var whenIdle: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    var isStopping: Bool { state.withLock { $0.stopping } }
    var bytesInHand: Int { state.withLock { $0.bytesInHand } }
    var begun: Int { state.withLock { $0.begun } }
    func isRunning(_ exchange: Exchange) -> Bool {
        state.withLock { $0.running[ObjectIdentifier(exchange)] != nil }
    }

    // MARK: on the server's thread

    /// True when the server is stopping.
    func begin(_ exchange: Exchange) -> Bool {
        state.withLock {
            $0.open.insert(ObjectIdentifier(exchange))
            $0.begun += 1
            return $0.stopping
        }
    }

    /// False, and nothing is suspended, when the server is stopping.
    func run(_ exchange: Exchange, suspend: () -> Void) -> Bool {
        state.withLock {
            if $0.stopping { return false }
            $0.running[ObjectIdentifier(exchange), default: (exchange, 0)].tasks += 1
            // Under the lock: what `abandon` finds is suspended.
            suspend()
            return true
        }
    }

    /// False, and nothing is charged, when all requests together would be over the limit.
    func charge(_ bytes: Int, to exchange: Exchange, limit: Int) -> Bool {
        state.withLock {
            guard $0.bytesInHand <= limit - bytes else { return false }
            $0.bytesInHand += bytes
            exchange.charged += bytes
            return true
        }
    }

    func discharge(_ exchange: Exchange) {
        state.withLock { $0.bytesInHand -= exchange.charged }
        exchange.charged = 0
    }

    func end(_ exchange: Exchange) {
        let idle = state.withLock { state in
            state.bytesInHand -= exchange.charged
            state.open.remove(ObjectIdentifier(exchange))
            return state.open.isEmpty ? state.whenIdle.take() : nil
        }
        exchange.charged = 0
        idle?.resume()
    }

    // MARK: from anywhere

    func ran(_ exchange: Exchange) {
        let id = ObjectIdentifier(exchange)
        state.withLock { state in
            guard let tasks = state.running[id]?.tasks else { return }
            if tasks > 1 { state.running[id]?.tasks = tasks - 1 } else { state.running[id] = nil }
        }
    }

    func stop() { state.withLock { $0.stopping = true } }

    /// Returns when no request is in hand, or after the deadline. One caller at a time.
    func idle(within deadline: Duration) async {
        await withCheckedContinuation { continuation in
            let wait: Int? = state.withLock { state in
                if state.open.isEmpty { return nil }
                state.whenIdle = continuation
                state.waits += 1
                return state.waits
            }
            guard let wait else { return continuation.resume() }
            // The timer starts when there is something to end, and ends this wait and no later one.
            Task {
                try? await Task.sleep(for: deadline)
                self.giveUp(wait)
            }
        }
    }

    /// Answers for the handlers that have not: a suspended connection may not outlive the server.
    func abandon(_ answer: ServerResponse) {
        let running = state.withLock { state in
            defer { state.running = [:] }
            return state.running.values.map(\.exchange)
        }
        for exchange in running { exchange.answer(answer) }
    }

    /// Lets `idle` return although requests are in hand.
    private func giveUp(_ wait: Int) {
        state.withLock { $0.waits == wait ? $0.whenIdle.take() : nil }?.resume()
    }
}
