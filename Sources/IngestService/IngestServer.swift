import HTTPServer
import IngestAPI
import IngestStore

/// The service on an address: what `bandferry-ingest` runs and tests start.
public final class IngestServer: Sendable {
    private let http: HTTPServer
    private let storage: any IngestStorage
    private let service: IngestService
    private let isTLS: Bool

    /// With the port that was chosen.
    public var address: ListenAddress { http.address }
    public var url: String { "\(isTLS ? "https" : "http")://\(http.address)" }

    /// A batch that can't be compressed grows a little in gzip.
    public static let limits = HTTPLimits(bodyBytes: IngestAPI.maxBatchBytes + 64 * 1024)

    public init(
        service: IngestService, storage: any IngestStorage, address: ListenAddress = ListenAddress(),
        tls: TLSIdentity? = nil, limits: HTTPLimits = IngestServer.limits
    ) throws(HTTPServerFailure) {
        self.storage = storage
        self.service = service
        isTLS = tls != nil
        http = try HTTPServer.start(
            address: address, tls: tls, limits: limits, admit: { service.admit($0) },
            refuse: { service.refuse($0) }, handler: { await service.handle($0) })
        // The server outlives its service's requests: no more is asked of it than counts.
        service.metrics.observe { [weak http] in http?.counts }
    }

    /// What connections and requests are judged by from now on; nil = as before.
    public func replace(tls identity: TLSIdentity?, tokens: TokenTable?) {
        if let identity { http.replace(tls: identity) }
        if let tokens { service.replace(tokens: tokens) }
    }

    /// Finishes the requests in hand, then closes the storage.
    ///
    /// False = the storage is not closed by the deadline, as where a database hangs. Everybody is answered, and what was
    /// confirmed is durable: nothing is left to do but to end the process.
    @discardableResult
    public func stop(within deadline: Duration = .seconds(10)) async -> Bool {
        let end = ContinuousClock.now + deadline
        // The rest of the time is the storage's, also where requests wait for it to the last.
        await http.stop(within: deadline * 4 / 5)
        return await Self.isDone(by: end) { [service, storage] in
            await service.settle()
            await storage.close()
        }
    }

    private static func isDone(
        by end: ContinuousClock.Instant, _ work: @escaping @Sendable () async -> Void
    ) async -> Bool {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        Task {
            await work()
            outcome.yield(true)
        }
        let timer = Task {
            try? await Task.sleep(until: end, clock: .continuous)
            outcome.yield(false)
        }
        defer { timer.cancel() }
        for await isDone in outcomes { return isDone }
        return false
    }
}
