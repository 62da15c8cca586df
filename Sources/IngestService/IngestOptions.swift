import HTTPServer
import IngestStore

/// What `bandferry-ingest` is to serve, and how.
public struct IngestOptions: Equatable, Sendable {
    public var listen: ListenAddress
    public var store: StorageLocation
    public var retention = Retention.standard
    /// Tokens beside those in the store.
    public var tokenFile: String?
    public var tls: TLSFiles?
    public var allowsPlainHTTP = false
    /// For each token; nil = no bound.
    public var requestsPerMinute: Int?
    public var maxConnections = IngestOptions.defaultConnections
    /// 0 = no limit.
    public var maxConnectionsPerAddress: Int
    /// Clients are told apart by what the proxy says of them.
    public var isBehindProxy = false
    public var dashboard = Dashboard.Places()

    static let defaultConnections = 16_384
    /// Of one IPv4 address or IPv6 /64: a thousand gateways behind one address hold one or two at a time.
    static let defaultConnectionsPerAddress = 256

    init(_ arguments: some Sequence<String>) throws(UsageFailure) {
        let reader = try OptionReader(
            arguments,
            options: [
                "--listen", "--store", "--token-file", "--tls-certificate", "--tls-key",
                "--requests-per-minute", "--max-connections", "--max-connections-per-address",
                "--retention-days",
                "--dashboard", "--chart-js",
            ], flags: ["--allow-plain-http", "--behind-proxy"])
        if let word = reader.words.first { throw UsageFailure("\(word) is not a command") }
        let address = try reader.required("--listen")
        guard let listen = ListenAddress(address) else {
            throw UsageFailure("--listen \(address): not an address and a port, such as 127.0.0.1:8787")
        }
        self.listen = listen
        store = try reader.store()
        retention = try reader.retention()
        tokenFile = reader.optional("--token-file")
        switch (reader.optional("--tls-certificate"), reader.optional("--tls-key")) {
        case (let certificate?, let key?): tls = TLSFiles(certificate: certificate, key: key)
        case (nil, nil): tls = nil
        case (nil, _?): throw UsageFailure("--tls-certificate is missing")
        case (_?, nil): throw UsageFailure("--tls-key is missing")
        }
        dashboard = Dashboard.Places(
            directory: reader.optional("--dashboard"), chartFile: reader.optional("--chart-js"))
        allowsPlainHTTP = reader.isSet("--allow-plain-http")
        isBehindProxy = reader.isSet("--behind-proxy")
        requestsPerMinute = try reader.number("--requests-per-minute", from: 1)
        maxConnections = try reader.number("--max-connections", from: 8) ?? Self.defaultConnections
        // A proxy's connections all come from one address, and so do those of this machine.
        maxConnectionsPerAddress =
            try reader.number("--max-connections-per-address", from: 0)
            ?? (isBehindProxy || listen.isLoopback ? 0 : Self.defaultConnectionsPerAddress)
    }

    var limits: HTTPLimits {
        var limits = IngestServer.limits
        limits.connections = maxConnections
        limits.connectionsPerAddress = maxConnectionsPerAddress
        return limits
    }
}
