/// One answer. Length, date and connection headers are added on the way.
public struct ServerResponse: Sendable, Equatable {
    public var status: Int
    public var headers: [HTTPField]
    public var body: [UInt8]
    /// Let go of when the answer is sent, or is not needed any more.
    public var hold: AnswerHold?
    /// What was asked is done, and nobody may be told otherwise: it is sent however much is in hand, and counts. Whoever
    /// makes such answers bounds them.
    public var isOwed = false

    public init(status: Int, headers: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public init(status: Int, contentType: String, body: [UInt8]) {
        self.init(status: status, headers: [HTTPField("Content-Type", contentType)], body: body)
    }
}

/// A request that never reaches the handler.
public enum HTTPRefusal: Sendable, Equatable {
    /// 413.
    case bodyTooLarge(limit: Int)
    /// 400: an escape in the path or the query is not one, or does not give UTF-8.
    case malformedTarget
    /// 400, and the connection is closed: where the request ends is not certain.
    case malformedHead(String)
    /// 414.
    case targetTooLong(limit: Int)
    /// 400: none of this server's requests needs so many.
    case tooManyParameters(limit: Int)
    /// 431: too many, or too long.
    case headersTooLarge
    /// 503: other requests have all the memory that requests and answers may have.
    case overloaded
    /// 503: the server is stopping, or the handler did not answer before its deadline.
    case stopping

    public var status: Int {
        switch self {
        case .bodyTooLarge: 413
        case .malformedTarget, .malformedHead, .tooManyParameters: 400
        case .targetTooLong: 414
        case .headersTooLarge: 431
        case .overloaded, .stopping: 503
        }
    }
}

/// What becomes of a request whose head is in and whose body is not.
public enum Admission: Sendable {
    /// The body may come.
    case admitted
    /// The handler is for it, its body for nobody: anybody may send it.
    case admittedWithoutBody
    /// This is the answer; the body is dropped.
    case refused(ServerResponse)
    /// It has to be looked up. No byte of the body is read until this returns: nil = admitted, else the answer.
    case pending(@Sendable () async -> ServerResponse?)
}
