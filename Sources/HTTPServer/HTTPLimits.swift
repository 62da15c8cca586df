/// What one server lets its clients take.
public struct HTTPLimits: Sendable, Equatable {
    /// A larger body is answered with 413; nothing of it is kept.
    public var bodyBytes: Int
    /// Bodies that are being received and answers that are being sent, of all connections together. Past it a
    /// request is answered with 503; past half of it one whose answer is long.
    public var bytesInHand: Int
    /// A longer path with its query is answered with 414.
    public var targetBytes: Int
    /// Parameters of a query, the empty ones between two `&` too; more are answered with 400.
    public var parameters: Int
    /// Names and values of a request's headers together; past it the answer is 431.
    public var headerBytes: Int
    /// Header fields of a request; past it the answer is 431.
    public var headers: Int
    /// Request line and headers of one connection, with its buffers and 72 bytes for each header and parameter: more than
    /// the limits above together.
    public var connectionMemoryBytes: Int
    /// Near it the connections that have waited longest for their request are closed. At it clients wait in the
    /// backlog.
    public var connections: Int
    /// Of one IPv4 address, or one IPv6 /64; 0 = no limit. Further ones are closed at once.
    public var connectionsPerAddress: Int
    /// A connection that moves no byte for so long is closed.
    public var idleSeconds: Int
    /// From a connection's beginning to the end of its first request's head, TLS included, however it trickles.
    public var headDeadline: Duration
    /// A body that has not arrived after so long is given up.
    public var bodyDeadline: Duration
    /// An answer that the client has not taken after so long is given up.
    public var answerDeadline: Duration

    public init(
        bodyBytes: Int = 1 << 20, bytesInHand: Int = 256 << 20, targetBytes: Int = 4096,
        parameters: Int = 32, headerBytes: Int = 16 * 1024, headers: Int = 64,
        connectionMemoryBytes: Int = 32 * 1024,
        connections: Int = 256, connectionsPerAddress: Int = 0, idleSeconds: Int = 30,
        headDeadline: Duration = .seconds(30), bodyDeadline: Duration = .seconds(120),
        answerDeadline: Duration = .seconds(120)
    ) {
        self.bodyBytes = bodyBytes
        self.bytesInHand = bytesInHand
        self.targetBytes = targetBytes
        self.parameters = parameters
        self.headerBytes = headerBytes
        self.headers = headers
        self.connectionMemoryBytes = connectionMemoryBytes
        self.connections = connections
        self.connectionsPerAddress = connectionsPerAddress
        self.idleSeconds = idleSeconds
        self.headDeadline = headDeadline
        self.bodyDeadline = bodyDeadline
        self.answerDeadline = answerDeadline
    }
}
