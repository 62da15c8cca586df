/// One answer. Length, date and connection headers are added on the way.
public struct ServerResponse: Sendable, Equatable {
    public var status: Int
    public var headers: [HTTPField]
    public var body: [UInt8]

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
    /// 503: the server is stopping, or the handler did not answer before its deadline.
    case stopping

    public var status: Int {
        switch self {
        case .bodyTooLarge: 413
        case .malformedTarget: 400
        case .stopping: 503
        }
    }
}
