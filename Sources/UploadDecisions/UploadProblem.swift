import Conditions

/// What keeps the upload from going on, as far as it is known. Each is one of the declared conditions.
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
    /// The server has so many samples fewer than it has confirmed.
    case serverLacks(count: Int)
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
            .tokenFile:
            true
        case .outbox, .inconsistentAnswer, .nothingConfirmed, .encodingRefused, .leaseForbidden,
            .serverRefuses,
            .reportRefused, .serverLacks:
            false
        }
    }

    public var condition: Condition {
        switch self {
        case .noAnswer(let cause): cause.condition
        case .certificateTime(let problem): problem.condition
        case .serverError: .serverError
        case .rateLimited: .rateLimited
        case .notThisAPI: .notThisAPI
        case .captivePortal: .captivePortal
        case .inconsistentAnswer: .answerInconsistent
        case .nothingConfirmed: .nothingConfirmed
        case .encodingRefused: .unsupportedEncoding
        case .authenticationFailed: .authenticationFailed
        case .forbidden: .forbidden
        case .leaseForbidden: .leaseForbidden
        case .serverRefuses: .serverRefuses
        case .reportRefused: .reportRefused
        case .serverLacks: .serverLacks
        case .tokenFile(.unreadable): .tokenUnreadable
        case .tokenFile(.readableByOthers): .tokenReadableByOthers
        case .tokenFile(.malformed): .tokenMalformed
        case .outbox: .outboxFailed
        }
    }

    /// What varies in the condition's text.
    public var parameters: Condition.Parameters {
        switch self {
        case .serverError(let status), .notThisAPI(let status): ["status": String(status)]
        case .certificateTime(let problem): ["relation": problem.relation]
        case .serverRefuses(let code), .reportRefused(let code): ["code": code]
        case .serverLacks(let count): ["count": String(count)]
        case .tokenFile(.unreadable(let why)), .outbox(let why): ["why": why]
        case .noAnswer, .rateLimited, .captivePortal, .inconsistentAnswer, .nothingConfirmed,
            .encodingRefused,
            .authenticationFailed, .forbidden, .leaseForbidden, .tokenFile(.readableByOthers),
            .tokenFile(.malformed):
            [:]
        }
    }

    /// Stable, for programs.
    public var code: String { condition.code }

    /// What happened, in one sentence.
    public var text: String { condition.text(parameters) }

    /// What to do about it.
    public var remedy: String { condition.fix(parameters) }

    /// Ingest API 1's word for it, coarser than `code`. Four faults of the gateway itself, which no server has a word for,
    /// stand for themselves: `outbox_failed`, `token_unusable`, `client_key_unusable`, `proxy_credentials_unusable`.
    public var apiCode: String {
        switch self {
        case .noAnswer(.notHTTP), .noAnswer(.answerTooLarge): "not_this_api"
        case .noAnswer(.clientKeyUnusable): "client_key_unusable"
        case .noAnswer(.proxyCredentialsUnusable): "proxy_credentials_unusable"
        case .noAnswer, .certificateTime: "network_timeout"
        case .serverError, .serverLacks: "server_error"
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
}
