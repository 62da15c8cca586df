/// What came of one request, before anyone judges it.
public enum AttemptOutcome: Equatable, Sendable {
    case answered(Answer)
    case unanswered(NoAnswer)

    /// A whole answer of whoever answered.
    public struct Answer: Equatable, Sendable {
        public var status: Int
        public var body: [UInt8]
        /// The `Retry-After` and `Date` headers as sent.
        public var retryAfter: String?
        public var date: String?

        public init(status: Int, body: [UInt8] = [], retryAfter: String? = nil, date: String? = nil) {
            self.status = status
            self.body = body
            self.retryAfter = retryAfter
            self.date = date
        }
    }
}

/// Why no answer came. All of them are the API's `network_timeout` to the outbox; they differ for people.
public enum NoAnswer: String, Equatable, Sendable, CaseIterable {
    case cannotResolve
    case cannotConnect
    case timedOut
    case connectionLost
    /// The certificate is not valid at this host's time.
    case certificateTime
    case tls
    /// The gateway's own certificate or key can't be used, or the server does not take it.
    case clientCertificate
    /// Its key or the proxy's name and password could not be read, or others can read them: nobody was asked.
    case clientKeyUnusable
    case proxyCredentialsUnusable
    case proxyUnreachable
    /// The proxy wants a name and a password, or others.
    case proxyAuthentication
    /// The proxy will not carry this.
    case proxyRefused
    /// Something answered that does not speak HTTP.
    case notHTTP
    /// More than such an answer may have.
    case answerTooLarge
    /// The request could not be made here: a URL that is none, no memory.
    case unsendable
    /// Ended by a stop: says nothing about the server.
    case aborted
}

/// A batch as it was sent: what its answer is compared with.
public struct SentBatch: Equatable, Sendable {
    public struct Sample: Equatable, Sendable {
        /// The API's name.
        public var type: String
        public var seq: UInt32

        public init(type: String, seq: UInt32) {
            self.type = type
            self.seq = seq
        }
    }

    public var syncID: String
    public var samples: [Sample]
    public var isCompressed: Bool

    public init(syncID: String, samples: [Sample], isCompressed: Bool = true) {
        self.syncID = syncID
        self.samples = samples
        self.isCompressed = isCompressed
    }
}
