import CMicrohttpd
import Locking

/// What the C callbacks reach: the handler, the limits and the requests in hand.
final class ServerCore: Sendable {
    private struct Ledger {
        var stopping = false
        /// Requests from their headers to the last byte of their answer.
        var open: Set<ObjectIdentifier> = []
        /// Those of them whose handler runs.
        var running: [ObjectIdentifier: Exchange] = [:]
        /// How often somebody waited.
        var waits = 0
        var whenIdle: CheckedContinuation<Void, Never>?
    }

    let limits: HTTPLimits
    private let handler: HTTPServer.Handler
    let admit: HTTPServer.Admit
    let refuse: HTTPServer.Refuse
    private let ledger = Guarded(Ledger())

    init(
        limits: HTTPLimits, admit: @escaping HTTPServer.Admit, refuse: @escaping HTTPServer.Refuse,
        handler: @escaping HTTPServer.Handler
    ) {
        self.admit = admit
        self.limits = limits
        self.handler = handler
        self.refuse = refuse
    }

    // MARK: on the server's thread

    /// The headers are in. True = go on to the body.
    func begin(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        ledger.withLock { _ = $0.open.insert(ObjectIdentifier(exchange)) }
        let declared = exchange.request.header("content-length").first.flatMap { Int($0) } ?? 0
        if declared > limits.bodyBytes, exchange.refusal == nil {
            exchange.refusal = refuse(.bodyTooLarge(limit: limits.bodyBytes))
        }
        let waitsForConsent = !exchange.request.header("expect").isEmpty
        guard let refusal = exchange.refusal, waitsForConsent || declared > Exchange.drainLimit(limits) else {
            return bandferry_mhd_result(true)
        }
        return send(refusal, on: connection, close: true)
    }

    /// The body is in.
    func run(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        if let refusal = exchange.refusal { return send(refusal, on: connection) }
        let admitted = ledger.withLock {
            if $0.stopping { return false }
            $0.running[ObjectIdentifier(exchange)] = exchange
            // Under the lock: what `abandonRunning` finds is suspended.
            exchange.suspend(connection)
            return true
        }
        guard admitted else { return send(refuse(.stopping), on: connection, close: true) }
        let request = exchange.request
        Task {
            let response = await handler(request)
            // In this order: a request that has left the ledger is suspended no more.
            exchange.answer(response)
            ledger.withLock { _ = $0.running.removeValue(forKey: ObjectIdentifier(exchange)) }
        }
        return bandferry_mhd_result(true)
    }

    func send(_ response: ServerResponse, on connection: OpaquePointer) -> MHD_Result {
        send(response, on: connection, close: ledger.withLock { $0.stopping })
    }

    private func send(_ response: ServerResponse, on connection: OpaquePointer, close: Bool) -> MHD_Result {
        let made = response.body.withUnsafeBytes { bandferry_mhd_response($0.count, $0.baseAddress) }
        guard let made else { return bandferry_mhd_result(false) }
        defer { MHD_destroy_response(made) }
        for field in response.headers { MHD_add_response_header(made, field.name, field.value) }
        if close { MHD_add_response_header(made, "Connection", "close") }
        return MHD_queue_response(connection, UInt32(response.status), made)
    }

    /// The last byte of the answer is sent, or the client is gone.
    func end(_ exchange: Exchange) {
        let idle = ledger.withLock { ledger in
            ledger.open.remove(ObjectIdentifier(exchange))
            return ledger.open.isEmpty ? ledger.whenIdle.take() : nil
        }
        idle?.resume()
    }

    // MARK: stopping

    func beginStopping() { ledger.withLock { $0.stopping = true } }

    /// Returns when no request is in hand, or after the deadline. One caller at a time.
    func idle(within deadline: Duration) async {
        await withCheckedContinuation { continuation in
            let wait: Int? = ledger.withLock { ledger in
                if ledger.open.isEmpty { return nil }
                ledger.whenIdle = continuation
                ledger.waits += 1
                return ledger.waits
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
    func abandonRunning() {
        let running = ledger.withLock { ledger in
            defer { ledger.running = [:] }
            return Array(ledger.running.values)
        }
        for exchange in running { exchange.answer(refuse(.stopping)) }
    }

    /// Lets `idle` return although requests are in hand.
    private func giveUp(_ wait: Int) {
        ledger.withLock { $0.waits == wait ? $0.whenIdle.take() : nil }?.resume()
    }
}
