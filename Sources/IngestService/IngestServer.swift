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
    public func stop(within deadline: Duration = .seconds(10)) async {
        await http.stop(within: deadline)
        await storage.close()
    }
}
