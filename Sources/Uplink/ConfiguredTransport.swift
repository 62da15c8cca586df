import HTTPClient
import UploadDecisions

/// HTTP as the configuration wants it: through its proxy, with its certificates, and with the secrets that its files hold
/// now. A client is made anew when one of them changed.
final class ConfiguredTransport: UploadTransport {
    private let settings: TransportSettings
    private let abortFlag: AbortFlag
    private var client: HTTPClient?
    private var stamps: [SecretFile.Stamp?]

    init(_ settings: TransportSettings, abortFlag: AbortFlag) {
        self.settings = settings
        self.abortFlag = abortFlag
        stamps = settings.stamps()
    }

    func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        let now = settings.stamps()
        if now != stamps { client = nil }
        stamps = now
        if let client { return try client.perform(request) }
        let fresh = try HTTPClient(abortFlag: abortFlag, options: try settings.options())
        client = fresh
        return try fresh.perform(request)
    }

    func filesChanged() -> Bool { settings.stamps() != stamps }
}

/// How to reach the server.
public struct TransportSettings: Equatable, Sendable {
    /// PEM certificates to trust instead of the system's.
    public var authorityFile: String?
    public var proxy: HTTPProxy
    /// `user:password` in one line.
    public var proxyCredentialsFile: String?
    public var clientCertificate: ClientCertificate?

    public init(
        authorityFile: String? = nil, proxy: HTTPProxy = .none, proxyCredentialsFile: String? = nil,
        clientCertificate: ClientCertificate? = nil
    ) {
        self.authorityFile = authorityFile
        self.proxy = proxy
        self.proxyCredentialsFile = proxyCredentialsFile
        self.clientCertificate = clientCertificate
    }

    /// The states of the files that a client depends on.
    fileprivate func stamps() -> [SecretFile.Stamp?] {
        [proxyCredentialsFile, clientCertificate?.keyFile, clientCertificate?.certificateFile, authorityFile]
            .map { path in path.flatMap { SecretFile(path: $0).stamp() } }
    }

    /// With the secrets as they are now. Throws where one can't be used: nothing is sent then, and nobody is asked.
    fileprivate func options() throws(HTTPFailure) -> HTTPClientOptions {
        var options = HTTPClientOptions(
            authorityFile: authorityFile, proxy: proxy, clientCertificate: clientCertificate)
        if let path = proxyCredentialsFile {
            guard case .success(let read) = SecretFile(path: path).readLine(),
                let colon = read.line.firstIndex(of: ":"), colon > read.line.startIndex
            else {
                throw HTTPFailure(.proxyCredentialsUnusable, "The proxy's name and password can't be read.")
            }
            options.proxyCredentials = ProxyCredentials(
                user: String(read.line[..<colon]),
                password: String(read.line[read.line.index(after: colon)...]))
        }
        if let own = clientCertificate, SecretFile(path: own.keyFile).fault() != nil {
            throw HTTPFailure(.clientKeyUnusable, "The client's key can't be used.")
        }
        return options
    }
}
