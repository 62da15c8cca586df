/// Why there was no answer.
public struct HTTPFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable, CaseIterable {
        /// The URL or a header is not one that may be sent; nothing was.
        case badRequest = "bad_request"
        case cannotResolve = "cannot_resolve"
        case cannotConnect = "cannot_connect"
        case timedOut = "timed_out"
        /// The certificate is not valid at this host's time, which more often than not means that the clock is wrong.
        case clock = "certificate_time"
        case tls
        /// This side's own certificate or key can't be used, or the server does not take it.
        case clientCertificate = "client_certificate"
        /// Files with secrets are missing, readable by others or not what they should be: nothing was sent. For callers.
        case clientKeyUnusable = "client_key_unusable"
        case proxyCredentialsUnusable = "proxy_credentials_unusable"
        /// The proxy can't be reached, wants other credentials, or will not carry this.
        case proxyUnreachable = "proxy_unreachable"
        case proxyAuthentication = "proxy_authentication"
        case proxyRefused = "proxy_refused"
        /// The connection broke before the answer was whole.
        case connectionLost = "connection_lost"
        case answerTooLarge = "answer_too_large"
        /// What answered does not speak HTTP.
        case notHTTP = "not_http"
        case aborted
        case outOfMemory = "out_of_memory"
        case other
    }

    public var code: Code
    /// One sentence; names hosts at most, never a header or a body.
    public var text: String
    /// libcurl's own number, 0 where it was not asked.
    public var number: Int
    /// With `clock`: what the server's certificates say of themselves, its own first. Unverified.
    public var certificates: [CertificateValidity]

    public init(
        _ code: Code, _ text: String, number: Int = 0, certificates: [CertificateValidity] = []
    ) {
        self.code = code
        self.text = text
        self.number = number
        self.certificates = certificates
    }

    public var description: String { "\(code.rawValue): \(text)" }
}
