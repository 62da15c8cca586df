import HTTPServer
import IngestAPI
import IngestStore

/// The service on an address: what `bandferry-ingest` runs and tests start.
public final class IngestServer: Sendable {
    private let http: HTTPServer
    private let storage: any IngestStorage

    /// With the port that was chosen.
    public var address: ListenAddress { http.address }
    public var url: String { "http://\(http.address)" }

    /// A batch that can't be compressed grows a little in gzip.
    public static let limits = HTTPLimits(bodyBytes: IngestAPI.maxBatchBytes + 64 * 1024)

    public init(
        service: IngestService, storage: any IngestStorage, address: ListenAddress = ListenAddress(),
        limits: HTTPLimits = IngestServer.limits
    ) throws(HTTPServerFailure) {
        self.storage = storage
        http = try HTTPServer.start(
            address: address, limits: limits, admit: { service.admit($0) }, refuse: { service.refuse($0) },
            handler: { await service.handle($0) })
    }

    /// Finishes the requests in hand, then closes the storage.
    public func stop(within deadline: Duration = .seconds(10)) async {
        await http.stop(within: deadline)
        await storage.close()
    }
}
