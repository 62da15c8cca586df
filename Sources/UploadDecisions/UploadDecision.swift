import IngestAPI

/// What a gateway does about the outcome of one request. Ingest API 1, the table of statuses.
public enum UploadDecision: Equatable, Sendable {
    /// The batch was answered as the API says.
    case settle(BatchVerdict)
    /// A PUT was taken.
    case taken
    /// 404 `unknown_device`: the server has no sample of it yet.
    case unknownDevice
    /// 400 or 413 for something that is no sample: it is reported, and samples go on.
    case passOver(Refusal)
    /// 400 or 413 for several samples: send fewer, to find the bad one.
    case halve(Refusal)
    /// 400 or 413 for one sample.
    case quarantine(Refusal)
    /// 415: the server does not take gzip.
    case sendIdentity
    /// 401 or 403: nothing helps but other credentials.
    case waitForCredentials(UploadProblem)
    /// 429.
    case pause(Duration?)
    /// Everything that may pass by itself.
    case backOff(UploadProblem, retryAfter: Duration?)
    /// The request was cut off by a stop.
    case stop

    /// Nobody answered, or somebody else did, or the server is in trouble: so it will be for the next request.
    public var isOutage: Bool {
        if case .backOff(let problem, _) = self { problem.endsWithAnyAnswer } else { false }
    }

    /// There was no way to the server: what was asked for does not matter, and a batch would have fared no better. An
    /// answer that did not come in time, or broke off, may be this request's alone.
    var isAboutConnection: Bool {
        guard case .backOff(.noAnswer(let cause), _) = self else { return false }
        return switch cause {
        case .timedOut, .connectionLost, .notHTTP, .answerTooLarge, .unsendable, .aborted: false
        case .cannotResolve, .cannotConnect, .certificateTime, .tls, .clientCertificate, .clientKeyUnusable,
            .proxyCredentialsUnusable, .proxyUnreachable, .proxyAuthentication, .proxyRefused:
            true
        }
    }

    /// For a look at what the server has, beside a PUT to it: a server of this API that will not show it, has no such
    /// request, or has more than is read here, never will, and nothing waits for it. Whatever else answered may be a
    /// captive portal's page, which passes.
    var asNotShown: UploadDecision {
        switch self {
        case .waitForCredentials(.forbidden), .backOff(.noAnswer(.answerTooLarge), _),
            .backOff(.encodingRefused, _):
            .passOver(.notStored)
        default: self
        }
    }
}

/// Why the server takes no part of a batch.
public struct Refusal: Equatable, Sendable {
    /// `malformed` or `batch_too_large`.
    public var code: String
    /// The server's words, shortened: they name fields, but nothing here relies on it.
    public var message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// It says that it took something, and does not have it.
    public static let notStored = Refusal(code: UploadProblem.nothingConfirmed.code, message: "")

    /// 413: fewer samples may be taken as they are.
    var isAboutSize: Bool { code == APIErrorCode.batchTooLarge.rawValue }
}

/// What an answered batch means for each sample in it, by index.
public struct BatchVerdict: Equatable, Sendable {
    /// Durably stored at the server.
    public var confirmed: [Int]
    /// Never to be sent again as it is.
    public var rejected: [Rejected]
    /// `consent_missing`: kept back and tried again later.
    public var held: [Int]
    /// Answered, but the server does not say that it holds them yet.
    public var unconfirmed: [Int]
    /// Counts for the log.
    public var accepted = 0
    public var duplicates = 0
    public var corrected = 0
    public var conflicts = 0

    public struct Rejected: Equatable, Sendable {
        public var index: Int
        public var code: String
        public var message: String

        public init(index: Int, code: String, message: String) {
            self.index = index
            self.code = code
            self.message = message
        }
    }

    public init(
        confirmed: [Int] = [], rejected: [Rejected] = [], held: [Int] = [], unconfirmed: [Int] = []
    ) {
        self.confirmed = confirmed
        self.rejected = rejected
        self.held = held
        self.unconfirmed = unconfirmed
    }

    /// False when the same batch would be sent again next.
    public var isProgress: Bool { !(confirmed.isEmpty && rejected.isEmpty && held.isEmpty) }
}
