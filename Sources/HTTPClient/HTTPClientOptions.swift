/// How a client reaches servers, besides their URLs.
public struct HTTPClientOptions: Equatable, Sendable {
    /// PEM certificates to trust instead of the system's, for servers and proxies alike.
    public var authorityFile: String?
    public var proxy: HTTPProxy
    public var proxyCredentials: ProxyCredentials?
    /// Shown to a server that asks for one.
    public var clientCertificate: ClientCertificate?

    public init(
        authorityFile: String? = nil, proxy: HTTPProxy = .none, proxyCredentials: ProxyCredentials? = nil,
        clientCertificate: ClientCertificate? = nil
    ) {
        self.authorityFile = authorityFile
        self.proxy = proxy
        self.proxyCredentials = proxyCredentials
        self.clientCertificate = clientCertificate
    }
}

/// Who carries https for this client. Plain http, which is for this machine alone, and its own addresses never go
/// through one.
public enum HTTPProxy: Equatable, Sendable {
    case none
    /// As `https_proxy`, `all_proxy` and `no_proxy` say.
    case environment
    /// `http://`, `https://` or `socks5h://` with host and port, without a user.
    case server(String)
}

/// Name and password for a proxy: Basic or Digest (RFC 7617, RFC 7616), or SOCKS 5's own (RFC 1929).
///
/// They are in no description.
public struct ProxyCredentials: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public var description: String { "(secret)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// PEM files; the key has no passphrase, because nobody is there to type it.
public struct ClientCertificate: Equatable, Sendable {
    public var certificateFile: String
    public var keyFile: String

    public init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}

extension HTTPClientOptions {
    /// A proxy tunnels https unread; it would see the token of a plain request, and this machine is reached without.
    func proxy(for target: RequestTarget) -> HTTPProxy {
        target.isEncrypted && !target.isLoopback ? proxy : .none
    }
}
