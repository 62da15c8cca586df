import CMicrohttpd
import Locking

/// What the C callbacks reach: the handler, the limits and the requests in hand.
final class ServerCore: Sendable {
    let limits: HTTPLimits
    let refuse: HTTPServer.Refuse
    let watch: ConnectionWatch
    let tls: TLSSlot?
    let requests = RequestLedger()
    private let admit: HTTPServer.Admit
    private let handler: HTTPServer.Handler

    init(
        limits: HTTPLimits, tls: TLSSlot?, admit: @escaping HTTPServer.Admit,
        refuse: @escaping HTTPServer.Refuse, handler: @escaping HTTPServer.Handler
    ) {
        self.limits = limits
        self.tls = tls
        self.admit = admit
        self.refuse = refuse
        self.handler = handler
        watch = ConnectionWatch(limits: limits)
    }

    // MARK: on the server's thread

    /// The headers are in.
    func begin(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        let isStopping = requests.begin(exchange)
        if exchange.refusal == nil, isStopping { exchange.refusal = refuse(.stopping) }
        if exchange.refusal == nil, requests.bytesInHand >= limits.bytesInHand {
            exchange.refusal = refuse(.overloaded)
        }
        if exchange.refusal != nil { return goOn(exchange, connection, refusal: exchange.refusal) }
        switch admit(exchange.request) {
        case .admitted: return goOn(exchange, connection, refusal: nil)
        case .admittedWithoutBody:
            exchange.dropsBody = true
            return goOn(exchange, connection, refusal: nil)
        case .refused(let response): return goOn(exchange, connection, refusal: response)
        case .pending(let look): return judge(exchange, connection, look)
        }
    }

    private func judge(
        _ exchange: Exchange, _ connection: OpaquePointer,
        _ look: @escaping @Sendable () async -> ServerResponse?
    ) -> MHD_Result {
        let isTaken = requests.run(exchange) { exchange.suspendForJudgement(connection) }
        guard isTaken else { return goOn(exchange, connection, refusal: refuse(.stopping)) }
        watch.enter(.handler, connection)
        Task {
            exchange.judge(await look())
            requests.ran(exchange)
        }
        return bandferry_mhd_result(true)
    }

    /// It is known who asks: on to the body, or to the refusal.
    func goOn(
        _ exchange: Exchange, _ connection: OpaquePointer, refusal: ServerResponse?
    ) -> MHD_Result {
        exchange.refusal = refusal
        let declared = RequestHead.declaredBytes(exchange.request.headers)
        if declared > limits.bodyBytes, refusal == nil {
            exchange.refusal = refuse(.bodyTooLarge(limit: limits.bodyBytes))
        }
        guard let refusal = exchange.refusal else {
            watch.enter(exchange.dropsBody ? .unwantedBody : .body, connection)
            return bandferry_mhd_result(true)
        }
        let waitsForConsent = !exchange.request.header("expect").isEmpty
        if waitsForConsent || exchange.isUnframed || declared > Exchange.drainLimit(limits) {
            return send(refusal, exchange, on: connection, close: true)
        }
        watch.enter(.unwantedBody, connection)
        return bandferry_mhd_result(true)
    }

    /// A part of the body is in.
    func receive(
        _ bytes: UnsafeBufferPointer<UInt8>, _ exchange: Exchange, _ connection: OpaquePointer
    ) -> MHD_Result {
        if exchange.refusal == nil, !exchange.dropsBody {
            if exchange.received + bytes.count > limits.bodyBytes {
                drop(exchange, connection, for: .bodyTooLarge(limit: limits.bodyBytes))
            } else if !requests.charge(bytes.count, to: exchange, limit: limits.bytesInHand) {
                drop(exchange, connection, for: .overloaded)
            }
        }
        return bandferry_mhd_result(exchange.receive(bytes, limits: limits))
    }

    private func drop(_ exchange: Exchange, _ connection: OpaquePointer, for refusal: HTTPRefusal) {
        exchange.drop(for: refuse(refusal))
        requests.discharge(exchange)
        watch.enter(.unwantedBody, connection)
    }

    /// The body is in.
    func run(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        if let refusal = exchange.refusal { return send(refusal, exchange, on: connection) }
        let isTaken = requests.run(exchange) { exchange.suspend(connection) }
        guard isTaken else { return send(refuse(.stopping), exchange, on: connection) }
        watch.enter(.handler, connection)
        let request = exchange.request
        // The handler has it, and alone decides how long.
        exchange.request.body = []
        Task {
            let response = await handler(request)
            // In this order: a request that has left the ledger is suspended no more.
            exchange.answer(response)
            requests.ran(exchange)
        }
        return bandferry_mhd_result(true)
    }

    func send(_ response: ServerResponse, _ exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
        send(response, exchange, on: connection, close: requests.isStopping || exchange.isLast)
    }

    /// Bytes.
    private static let shortAnswer = 64 * 1024

    private func send(
        _ response: ServerResponse, _ exchange: Exchange, on connection: OpaquePointer, close: Bool
    ) -> MHD_Result {
        // What was read is gone; what is sent takes its place. Long answers leave half of the room for bodies and for what is
        // short, or owed, which always finds some.
        requests.discharge(exchange)
        let isBounded = response.body.count > Self.shortAnswer && !response.isOwed
        let room = isBounded ? limits.bytesInHand / 2 : .max
        guard requests.charge(response.body.count, to: exchange, limit: room) else {
            return send(refuse(.overloaded), exchange, on: connection, close: close)
        }
        exchange.hold = response.hold
        let made = response.body.withUnsafeBytes { bandferry_mhd_response($0.count, $0.baseAddress) }
        guard let made else { return bandferry_mhd_result(false) }
        defer { bandferry_mhd_release(made) }
        for field in response.headers { bandferry_mhd_add_header(made, field.name, field.value) }
        if close { bandferry_mhd_add_header(made, "Connection", "close") }
        watch.enter(.answer, connection)
        return bandferry_mhd_queue(connection, UInt32(response.status), made)
    }

    /// The last byte of the answer is sent, or the client is gone.
    func end(_ exchange: Exchange, _ connection: OpaquePointer) {
        watch.enter(.head, connection)
        requests.end(exchange)
    }
}
