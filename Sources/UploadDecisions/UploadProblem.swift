/// Everything about the upload that a person should know, declared once: code, what happened, what to do.
///
/// Status, log and command line all read it from here.
public enum UploadProblem: Equatable, Sendable {
    case noAnswer(NoAnswer)
    case serverError(status: Int)
    case rateLimited
    /// A captive portal, a wrong URL, a proxy's own page.
    case notThisAPI(status: Int)
    /// `noAnswer(.certificateTime)` with its cause.
    case certificateTime(CertificateTimeProblem)
    /// The network wants a log-in page to be passed first: it says so, or whoever answered did (511, RFC 6585, section 6).
    case captivePortal
    /// The answer is of this API but contradicts itself or the batch.
    case inconsistentAnswer
    /// The answer claims success and confirms nothing.
    case nothingConfirmed
    case encodingRefused
    case authenticationFailed
    case forbidden
    /// The token may upload, and not own bands.
    case leaseForbidden
    /// Three single samples in a row were refused whole.
    case serverRefuses(code: String)
    /// The server takes a band's samples, but not its gaps or its status.
    case reportRefused(code: String)
    case tokenFile(TokenFileFault)
    /// The gateway's own database could not be read or written.
    case outbox(String)

    /// What is wrong with a token file.
    public enum TokenFileFault: Equatable, Sendable {
        case unreadable(String)
        case readableByOthers
        case malformed
    }

    /// True for what ends as soon as any request is answered as it should be.
    var endsWithAnyAnswer: Bool {
        switch self {
        case .noAnswer, .certificateTime, .serverError, .rateLimited, .notThisAPI, .captivePortal,
            .authenticationFailed,
            .forbidden,
            .tokenFile,
            .outbox:
            true
        case .inconsistentAnswer, .nothingConfirmed, .encodingRefused, .leaseForbidden, .serverRefuses,
            .reportRefused:
            false
        }
    }

    /// Stable, for programs.
    public var code: String {
        switch self {
        case .noAnswer(.certificateTime): "certificate_time"
        case .certificateTime(let problem):
            problem.cause == .hostClock ? "host_clock_wrong" : "certificate_time"
        case .noAnswer(.tls): "tls_failed"
        case .noAnswer(.clientCertificate): "client_certificate_failed"
        case .noAnswer(.clientKeyUnusable): "client_key_unusable"
        case .noAnswer(.proxyCredentialsUnusable): "proxy_credentials_unusable"
        case .noAnswer(.proxyUnreachable): "proxy_unreachable"
        case .noAnswer(.proxyAuthentication): "proxy_authentication_failed"
        case .noAnswer(.proxyRefused): "proxy_refused"
        case .noAnswer(.notHTTP), .noAnswer(.answerTooLarge): "not_this_api"
        case .noAnswer(.unsendable): "request_failed"
        case .noAnswer: "network_timeout"
        case .serverError: "server_error"
        case .rateLimited: "rate_limited"
        case .notThisAPI: "not_this_api"
        case .captivePortal: "captive_portal"
        case .inconsistentAnswer: "answer_inconsistent"
        case .nothingConfirmed: "nothing_confirmed"
        case .encodingRefused: "unsupported_encoding"
        case .authenticationFailed: "authentication_failed"
        case .forbidden: "forbidden"
        case .leaseForbidden: "lease_forbidden"
        case .serverRefuses: "server_refuses"
        case .reportRefused: "report_refused"
        case .tokenFile(.unreadable): "token_unreadable"
        case .tokenFile(.readableByOthers): "token_readable_by_others"
        case .tokenFile(.malformed): "token_malformed"
        case .outbox: "outbox_failed"
        }
    }

    /// Ingest API 1's word for it, coarser than `code`. Four faults of the gateway itself, which no server has a word for,
    /// stand for themselves: `outbox_failed`, `token_unusable`, `client_key_unusable`, `proxy_credentials_unusable`.
    public var apiCode: String {
        switch self {
        case .noAnswer(.notHTTP), .noAnswer(.answerTooLarge): "not_this_api"
        case .noAnswer(.clientKeyUnusable): "client_key_unusable"
        case .noAnswer(.proxyCredentialsUnusable): "proxy_credentials_unusable"
        case .noAnswer, .certificateTime: "network_timeout"
        case .serverError: "server_error"
        case .rateLimited: "rate_limited"
        case .notThisAPI, .captivePortal, .inconsistentAnswer, .nothingConfirmed: "not_this_api"
        case .encodingRefused: "unsupported_encoding"
        case .authenticationFailed: "authentication_failed"
        case .forbidden, .leaseForbidden: "forbidden"
        case .serverRefuses(let code), .reportRefused(let code): code
        case .tokenFile: "token_unusable"
        case .outbox: "outbox_failed"
        }
    }

    /// What happened, in one sentence.
    public var text: String {
        switch self {
        case .noAnswer(let cause): cause.text
        case .certificateTime(let problem): problem.text
        case .serverError(let status): "The server failed to answer the upload (status \(status))."
        case .rateLimited: "The server asked to send less often."
        case .notThisAPI(let status):
            "What answers at the server's address is not the ingest API (status \(status))."
        case .captivePortal: "The network wants a log-in page to be passed before it lets the upload through."
        case .inconsistentAnswer: "The server's answer does not fit the batch that it was sent."
        case .nothingConfirmed: "The server answers with success but confirms no sample."
        case .encodingRefused: "The server refuses the batch in every encoding."
        case .authenticationFailed: "The server does not accept the token."
        case .forbidden: "The server does not let this token upload."
        case .leaseForbidden:
            "The server does not let this token own bands: those that it was never said to own are only observed."
        case .serverRefuses(let code): "The server refuses single samples one after the other (\(code))."
        case .reportRefused(let code): "The server does not take a band's gaps or status (\(code))."
        case .tokenFile(.unreadable(let why)): "The token file could not be read: \(why)."
        case .tokenFile(.readableByOthers): "The token file can be read by others, so it is not used."
        case .tokenFile(.malformed): "The token file does not hold one line of printable characters."
        case .outbox(let why): "The upload could not use the database: \(why)"
        }
    }

    /// What to do about it.
    public var remedy: String {
        switch self {
        case .noAnswer(let cause): cause.remedy
        case .certificateTime(let problem): problem.remedy
        case .serverError, .rateLimited:
            "Nothing to do here: samples are kept and sent later. If it lasts, tell who runs the server."
        case .notThisAPI:
            "Check the url of [upload], and whether the network wants a log-in page to be passed first."
        case .captivePortal:
            "Pass the log-in page from a device on this network, or use another one. Samples are kept and sent later."
        case .inconsistentAnswer, .nothingConfirmed, .encodingRefused, .serverRefuses, .reportRefused:
            "Samples are kept. Report it to who runs the server."
        case .authenticationFailed, .forbidden:
            "Put a valid gateway token into the token_file of [upload]; it is read again when it changes."
        case .leaseForbidden:
            "Put a gateway token that may own bands into the token_file of [upload]; it is read again when it changes. Where "
                + "this one may by now, wait an hour or restart bandferryd. If another gateway is meant to own them, write mode = observe here."
        case .tokenFile(.unreadable): "Check token_file of [upload] and that the service may read it."
        case .tokenFile(.readableByOthers):
            "Run chmod 600 on the token file; it is read again when it changes."
        case .tokenFile(.malformed): "Write the token as one line into the token file."
        case .outbox: "See the store's own state; the upload goes on when the database can be used again."
        }
    }
}
