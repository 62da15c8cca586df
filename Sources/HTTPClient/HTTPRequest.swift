/// One request, as it goes out. Redirects are never followed: a token goes to the host that it was meant for.
public struct HTTPRequest: Equatable, Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    public var method: Method
    public var url: String
    public var headers: [HTTPHeader]
    /// Sent with POST and PUT only.
    public var body: [UInt8]
    /// A longer answer is a failure; nothing of it is kept.
    public var answerLimit: Int
    public var deadlines: HTTPDeadlines

    public init(
        _ method: Method, _ url: String, headers: [HTTPHeader] = [], body: [UInt8] = [],
        answerLimit: Int = 1 << 20, deadlines: HTTPDeadlines = HTTPDeadlines()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.answerLimit = answerLimit
        self.deadlines = deadlines
    }
}

/// A header line. A name or value that could end the line is refused when the request is performed.
public struct HTTPHeader: Equatable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// How long each part of an exchange may take.
public struct HTTPDeadlines: Equatable, Sendable {
    /// Name look-up, TCP and TLS together.
    public var connect: Duration
    public var total: Duration
    /// A transfer slower than `lowSpeedBytesPerSecond` for this long is given up; zero = no limit.
    public var lowSpeed: Duration
    public var lowSpeedBytesPerSecond: Int

    public init(
        connect: Duration = .seconds(15), total: Duration = .seconds(60), lowSpeed: Duration = .seconds(30),
        lowSpeedBytesPerSecond: Int = 16
    ) {
        self.connect = connect
        self.total = total
        self.lowSpeed = lowSpeed
        self.lowSpeedBytesPerSecond = lowSpeedBytesPerSecond
    }
}
